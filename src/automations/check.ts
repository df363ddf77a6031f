import { checkTraits } from '../profiles/profiles.ts';
import { isReserved, RESERVED_PREFIX } from '../ingest/ingest.ts';
import { takesNoTime } from './clock.ts';
import { namedBy } from './ways_on.ts';
import type { ConditionLeaf } from './condition_schema.ts';
import { listLeaves } from './conditions.ts';
import type { Step } from './step_schema.ts';

export type Fault = { path: (string | number)[]; message: string };

type Match = { event: string; source?: 'server' | undefined };

type Graph = {
  trigger: { kind: string } | ({ kind: 'event' } & Match);
  settings: { re_entry: unknown; goal: Match | { segment_id: string } | null };
  entry: string;
  steps: Record<string, Step>;
};

const findMissing = ({ entry, steps }: Graph): Fault[] => {
  const named = Object.entries(steps).flatMap(([id, step]) =>
    namedBy(step).map(({ path, next }) => ({ path: ['steps', id, ...path], next })),
  );
  return [{ path: ['entry'], next: entry as string | null }, ...named].flatMap(({ path, next }) =>
    next === null || Object.hasOwn(steps, next)
      ? []
      : [{ path, message: `there is no step "${next}": add it, or name another` }],
  );
};

const listReached = ({ entry, steps }: Graph): Set<string> => {
  const reached = new Set<string>();
  const open = [entry];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const step = Object.hasOwn(steps, id) ? steps[id] : undefined;
    if (!step || reached.has(id)) continue;
    reached.add(id);
    open.push(...namedBy(step).flatMap(({ next }) => next ?? []));
  }
  return reached;
};

const findUnreachable = (graph: Graph): Fault[] => {
  const reached = listReached(graph);
  return Object.keys(graph.steps)
    .filter((id) => !reached.has(id))
    .map((id) => ({
      path: ['steps', id],
      message: `no way leads to the step "${id}": name it as the next of another, or remove it`,
    }));
};

/** The ways on from a step that take no time: a delay takes at least a moment, each time that a run comes by. */
const listAtOnce = (step: Step): (string | null)[] => {
  if (step.kind === 'delay' && !takesNoTime(step.duration)) return [];
  // Nobody waits there for a date that they do not have.
  if (step.kind === 'delay_until') return 'trait' in step.until ? [step.otherwise] : [];
  return namedBy(step).map(({ next }) => next);
};

/** Steps that lead back to themselves without any delay between. */
const findCircles = ({ steps }: Graph): Fault[] => {
  const after = (id: string): string[] => {
    const step = Object.hasOwn(steps, id) ? steps[id] : undefined;
    return step ? listAtOnce(step).flatMap((next) => next ?? []) : [];
  };
  return Object.keys(steps).flatMap((id) => {
    const seen = new Set<string>();
    const open = after(id);
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (seen.has(one)) continue;
      seen.add(one);
      open.push(...after(one));
    }
    return seen.has(id)
      ? [
          {
            path: ['steps', id],
            message: `the step "${id}" leads back to itself without a delay: put a delay between`,
          },
        ]
      : [];
  });
};

type Where = { step: string; path: (string | number)[] };

/** The innermost conditions of every branch, each with its place. */
const listConditions = (steps: Graph['steps']): (Where & { condition: ConditionLeaf })[] =>
  Object.entries(steps).flatMap(([id, step]) =>
    step.kind === 'branch'
      ? step.branches.flatMap(({ when }, at) =>
          listLeaves(when).map(({ leaf, path }) => ({
            step: id,
            condition: leaf,
            path: ['steps', id, 'branches', at, 'when', ...path],
          })),
        )
      : [],
  );

const findStrangeConditions = ({ trigger, settings, steps }: Graph): Fault[] => [
  ...listConditions(steps).flatMap(({ condition, path, step }): Fault[] => {
    if (condition.kind === 'trigger' && trigger.kind !== 'event')
      return [{ path, message: `the step "${step}" asks the trigger event: there is none` }];
    if (condition.kind !== 'email') return [];
    const sends = Object.hasOwn(steps, condition.step) ? steps[condition.step] : undefined;
    return sends?.kind === 'send_email'
      ? []
      : [
          {
            path: [...path, 'step'],
            message: `the step "${condition.step}" sends nothing: name a step of kind send_email`,
          },
        ];
  }),
  ...(trigger.kind !== 'event' &&
  typeof settings.re_entry === 'object' &&
  settings.re_entry !== null &&
  'by_property' in settings.re_entry
    ? [
        {
          path: ['settings', 're_entry'],
          message: 'there is no trigger event that could have a property: choose another re_entry',
        },
      ]
    : []),
];

type Matched = { path: Fault['path']; match: Match };

/** Every place of a definition that names an event. */
const listMatches = ({ trigger, settings, steps }: Graph): Matched[] => [
  ...('event' in trigger ? [{ path: ['trigger'], match: trigger }] : []),
  ...(settings.goal && 'event' in settings.goal
    ? [{ path: ['settings', 'goal'], match: settings.goal }]
    : []),
  ...Object.entries(steps).flatMap(([id, step]) =>
    step.kind === 'wait_for_event' ? [{ path: ['steps', id], match: step }] : [],
  ),
  ...listConditions(steps).flatMap(({ path, condition }) =>
    condition.kind === 'event_since' ? [{ path, match: condition }] : [],
  ),
];

/** Events that only the service records and that are required to come from a server: none ever does. */
const findImpossibleSources = (graph: Graph): Fault[] =>
  listMatches(graph).flatMap(({ path, match: { event, source } }) =>
    source !== undefined && isReserved(event)
      ? [
          {
            path: [...path, 'source'],
            message:
              `no server sends "${event}": Trunkline itself records events whose name begins with ` +
              `${RESERVED_PREFIX}. Remove source, or name another event`,
          },
        ]
      : [],
  );

/** What a step would tell a profile that nobody else may tell it. */
const findStrangeTraits = ({ steps }: Graph): Fault[] =>
  Object.entries(steps).flatMap(([id, step]) =>
    step.kind === 'update_profile'
      ? checkTraits(step.traits).map(({ path, message }) => ({
          path: ['steps', id, 'traits', ...path],
          message,
        }))
      : [],
  );

/** Whatever is wrong with the way that the steps lead, each with the step and what to do. */
export const findFaults = (graph: Graph): Fault[] => {
  const missing = findMissing(graph);
  if (missing.length > 0) return missing;
  return [
    ...findUnreachable(graph),
    ...findCircles(graph),
    ...findStrangeConditions(graph),
    ...findImpossibleSources(graph),
    ...findStrangeTraits(graph),
  ];
};
