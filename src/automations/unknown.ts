import type { Scope } from '../base/db.ts';
import type { Issue } from '../base/refusal.ts';
import * as segments from '../segments/segments.ts';
import { listLeaves } from './conditions.ts';
import { areEndpoints } from './endpoint_queries.ts';
import type { Definition } from './schema.ts';
import type { Step, StepOf } from './step_schema.ts';

/** What a definition may name of other rooms, asked by whoever may ask them. */
export type Doors = {
  hasProvider: (scope: Scope, providerId: string) => Promise<boolean>;
  /** Whether mail is handed to it now: it is there, and not parked. */
  isProviderReady: (scope: Scope, providerId: string) => Promise<boolean>;
  /** Lists those of some providers that are outside this machine and the operator's networks. */
  listOutside: (scope: Scope, providerIds: readonly string[]) => Promise<string[]>;
  hasTemplate: (scope: Scope, templateId: string, version: number) => Promise<boolean>;
  /** The variables of a template that are of an event. */
  listEventVariables: (scope: Scope, templateId: string, version: number) => Promise<string[]>;
};

type Named = { path: string; stepId: string; step: Step };
type Mail = { path: string; stepId: string; step: StepOf<'send_email'> };

const findUnknownMail = async (
  scope: Scope,
  { path, stepId, step }: Mail,
  { hasEvent, doors }: { hasEvent: boolean; doors: Doors },
): Promise<Issue[]> => {
  const { provider_id, template_id, template_version } = step;
  const issues: Issue[] = [];
  if (!(await doors.hasProvider(scope, provider_id)))
    issues.push({
      path: `${path}/provider_id`,
      message: `the step "${stepId}" names a provider that is not connected: connect it, or name another`,
    });
  if (!(await doors.hasTemplate(scope, template_id, template_version)))
    return issues.concat({
      path: `${path}/template_id`,
      message:
        `the step "${stepId}" names a template, or a version of one, that is not there or archived: ` +
        'save or restore it, or name another',
    });
  const [variable] = hasEvent
    ? []
    : await doors.listEventVariables(scope, template_id, template_version);
  if (variable !== undefined)
    issues.push({
      path: `${path}/template_id`,
      message:
        `the step "${stepId}" names a template that says ${variable}, and this trigger has no event: ` +
        'take a template without, or another trigger',
    });
  return issues;
};

/** The segments that a definition asks about, each with where it does. */
const listSegments = ({ trigger, settings, steps }: Definition): { path: string; id: string }[] => [
  ...('segment_id' in trigger ? [{ path: '/trigger/segment_id', id: trigger.segment_id }] : []),
  ...(settings.goal && 'segment_id' in settings.goal
    ? [{ path: '/settings/goal/segment_id', id: settings.goal.segment_id }]
    : []),
  ...Object.entries(steps).flatMap(([stepId, step]) =>
    step.kind === 'branch'
      ? step.branches.flatMap(({ when }, at) =>
          listLeaves(when).flatMap(({ leaf, path }) =>
            leaf.kind === 'segment'
              ? [
                  {
                    path: ['/steps', stepId, 'branches', at, 'when', ...path, 'segment_id'].join(
                      '/',
                    ),
                    id: leaf.segment_id,
                  },
                ]
              : [],
          ),
        )
      : [],
  ),
];

const findUnknownSegments = async (scope: Scope, definition: Definition): Promise<Issue[]> => {
  const asked = listSegments(definition);
  if (asked.length === 0) return [];
  const known = await segments.holdSegments(
    scope,
    asked.map(({ id }) => id),
  );
  return asked.flatMap(({ path, id }) =>
    known.has(id)
      ? []
      : [
          {
            path: `/definition${path}`,
            message: `there is no segment ${id}: make it, or name another`,
          },
        ],
  );
};

const findUnknownEndpoints = async (scope: Scope, named: readonly Named[]): Promise<Issue[]> => {
  const asked = named.flatMap(({ step, ...at }) =>
    step.kind === 'webhook' ? [{ ...at, id: step.endpoint_id }] : [],
  );
  if (asked.length === 0) return [];
  const known = await areEndpoints(
    scope,
    asked.map(({ id }) => id),
  );
  return asked.flatMap(({ path, stepId, id }) =>
    known.has(id)
      ? []
      : [
          {
            path: `${path}/endpoint_id`,
            message: `the step "${stepId}" names an endpoint that is not there: make it, or name another`,
          },
        ],
  );
};

/** What a definition names that the project does not have, each with the step and what to do. */
export const findUnknown = async (
  scope: Scope,
  definition: Definition,
  doors: Doors,
): Promise<Issue[]> => {
  const { steps, trigger } = definition;
  const named = Object.entries(steps).map(([stepId, step]) => ({
    path: `/definition/steps/${stepId}`,
    stepId,
    step,
  }));
  const issues: Issue[] = [];
  const asked = { hasEvent: trigger.kind === 'event', doors };
  for (const { step, ...at } of named)
    if (step.kind === 'send_email')
      issues.push(...(await findUnknownMail(scope, { ...at, step }, asked)));
  return [
    ...issues,
    ...(await findUnknownSegments(scope, definition)),
    ...(await findUnknownEndpoints(scope, named)),
  ];
};
