import type { PastSegments } from '../segments/segments.ts';
import type { Definition } from './schema.ts';
import type { Condition } from './condition_schema.ts';
import { listPersonLeaves, listRunLeaves } from './conditions.ts';
import type { Step } from './step_schema.ts';

/** What a simulation cannot know of the past, and what it goes by instead. */
export const ASSUMPTIONS = {
  trait_of_today:
    'The trait was told anew since, and what it was at that moment is not kept: it counts as it is today.',
  segment_asked_then:
    'The segment was made later: what it asks today was asked of that moment, from the timeline.',
  segment_not_known:
    'The segment was made after the beginning: who came into it, or left it, before that is not known.',
  import_in_time:
    'The event was received more than a day after it occurred, as of an import: it counts as received in its time.',
  own_traits:
    'What update_profile tells is known to the run alone: nobody comes into a segment by it, or leaves it.',
  mail_delivered: 'Nothing is sent: each mail that is planned counts as delivered a moment later.',
  mail_not_opened: 'Nothing is sent: no email counts as opened or clicked.',
  webhook_taken: 'Nobody is called: each call counts as taken.',
} as const;
export type Assumption = keyof typeof ASSUMPTIONS;
export const ASSUMPTION_NAMES = Object.keys(ASSUMPTIONS) as [Assumption, ...Assumption[]];

/** What one run rests on: traits and segments, by their names and ids. */
export type Rests = { traits: Set<string>; segments: Set<string> };

const TIMEZONE = 'timezone';

const traitsOf = (condition: Condition, segments: PastSegments, at: Date): string[] =>
  listPersonLeaves(condition).flatMap((leaf) => segments.listTraits(leaf, at));

const segmentsOf = (condition: Condition, segments: PastSegments, at: Date): string[] =>
  listPersonLeaves(condition).flatMap((leaf) => segments.listYounger(leaf, at));

const listConditions = (step: Step): Condition[] =>
  step.kind === 'branch' ? step.branches.map(({ when }) => when) : [];

/** The traits that a step asks for. */
const asksOf = (
  step: Step,
  { settings }: Definition,
  { segments, at }: { segments: PastSegments; at: Date },
): string[] => {
  switch (step.kind) {
    case 'send_email': {
      const isTimed = settings.quiet_hours !== null || settings.frequency_cap !== null;
      return isTimed ? ['email', TIMEZONE] : ['email'];
    }
    case 'delay':
    case 'wait_for_event':
      return [TIMEZONE];
    case 'delay_until':
      return 'trait' in step.until ? [step.until.trait, TIMEZONE] : [TIMEZONE];
    default:
      return listConditions(step).flatMap((condition) => traitsOf(condition, segments, at));
  }
};

/** Notes what the decisions of some steps at a moment rest on. */
export const noteRests = (
  rests: Rests,
  { definition, stepIds }: { definition: Definition; stepIds: readonly string[] },
  { segments, at, toldSince }: { segments: PastSegments; at: Date; toldSince: ReadonlySet<string> },
): void => {
  for (const stepId of stepIds) {
    const step = definition.steps[stepId];
    if (!step) continue;
    for (const trait of asksOf(step, definition, { segments, at }))
      if (toldSince.has(trait)) rests.traits.add(trait);
    for (const condition of listConditions(step))
      for (const id of segmentsOf(condition, segments, at)) rests.segments.add(id);
  }
};

/** The segments by which somebody comes, or reaches the goal. */
const listFollowed = ({ trigger, settings: { goal } }: Definition): string[] => [
  ...('segment_id' in trigger ? [trigger.segment_id] : []),
  ...(goal && 'segment_id' in goal ? [goal.segment_id] : []),
];

/** Every segment that a version has to do with. */
export const listSegmentsOf = (definition: Definition): string[] => [
  ...listFollowed(definition),
  ...Object.values(definition.steps)
    .flatMap(listConditions)
    .flatMap(listPersonLeaves)
    .flatMap((leaf) => (leaf.kind === 'segment' ? [leaf.segment_id] : [])),
];

/** What a version rests on whoever comes: each with what it is about, if that has a name. */
export const listGeneral = (
  definition: Definition,
  { segments, from, segmentIds }: { segments: PastSegments; from: Date; segmentIds: string[] },
): { what: Assumption; name: string | null }[] => {
  const steps = Object.values(definition.steps);
  const has = (kind: Step['kind']) => steps.some((step) => step.kind === kind);
  const asked = steps
    .flatMap(listConditions)
    .flatMap(listRunLeaves)
    .flatMap((leaf) => (leaf.kind === 'email' ? [leaf.became] : []));
  const isOfPerson = (fact: string) => fact === 'opened' || fact === 'clicked';
  return [
    ...listFollowed(definition)
      .filter((id) => (segments.madeAt(id) ?? from) > from)
      .map((name) => ({ what: 'segment_not_known' as const, name })),
    ...(has('update_profile') && segmentIds.length > 0
      ? [{ what: 'own_traits' as const, name: null }]
      : []),
    ...(asked.some((fact) => fact !== 'queued' && !isOfPerson(fact))
      ? [{ what: 'mail_delivered' as const, name: null }]
      : []),
    ...(asked.some(isOfPerson) ? [{ what: 'mail_not_opened' as const, name: null }] : []),
    ...(has('webhook') ? [{ what: 'webhook_taken' as const, name: null }] : []),
  ];
};
