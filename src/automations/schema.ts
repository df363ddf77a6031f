import { z } from 'zod';
import { CATEGORIES, ON_UNKNOWN } from '../delivery/delivery.ts';
import { EventName } from '../ingest/ingest.ts';
import { findFaults } from './check.ts';
import { Filters, Name } from './comparison.ts';
import { Duration, Goal, Step, StepId, TimeOfDay, Zone } from './step_schema.ts';
import { upgrade } from './upgrade.ts';

export { FILTERS_MAX } from './comparison.ts';
export { Step };
export type { StepOf } from './step_schema.ts';

export const STEPS_MAX = 100;
/** How the JSON of a definition is to be read. */
export const FORMAT = 2;
export const SENDS_MAX = 1_000;

const Trigger = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('event'),
    event: EventName,
    /** All of them must hold. */
    filters: Filters,
  }),
  z.strictObject({ kind: z.literal('segment_entered'), segment_id: z.uuid() }),
  z.strictObject({ kind: z.literal('segment_left'), segment_id: z.uuid() }),
  z.strictObject({ kind: z.literal('manual') }),
]);
export type Trigger = z.output<typeof Trigger>;

const PROTO = '__proto__';

const StepsById = z
  .record(StepId, Step)
  .refine((steps) => Object.keys(steps).length <= STEPS_MAX, `at most ${STEPS_MAX} steps`);

/** By their ids. A zod record alone would leave one that is called like this behind without a word. */
const Steps = z.preprocess((steps, context) => {
  if (typeof steps !== 'object' || steps === null || !Object.hasOwn(steps, PROTO)) return steps;
  context.addIssue({ code: 'custom', message: `no step is called ${PROTO}` });
  return z.NEVER;
}, StepsById) as unknown as typeof StepsById;

/** How often a person may go through: a word, once per duration, or once per value of the trigger event's property. */
export const ReEntry = z.union([
  z.enum(['once', 'every_time']),
  z.strictObject({ once_per: Duration }),
  z.strictObject({ by_property: Name }),
]);
export type ReEntry = z.output<typeof ReEntry>;

export const FrequencyCap = z.strictObject({
  /** So many mails to a person, by all automations of the project or by this one, within the duration. */
  sends: z.int().min(1).max(SENDS_MAX, `at most ${SENDS_MAX}`),
  per: Duration,
  of: z.enum(['automation', 'project']).default('project'),
  over: z.enum(['defer', 'skip']).default('defer'),
});

export const Settings = z.strictObject({
  re_entry: ReEntry.default('once'),
  /** Whoever does this, or comes into this segment, leaves, and is counted as converted. */
  goal: Goal.nullable().default(null),
  exit_on_unsubscribe: z.boolean().default(true),
  /** An event that is older when it is received starts nothing. */
  late_events: z.union([z.literal('accept'), Duration]).default('PT24H'),
  quiet_hours: z
    .strictObject({ from: TimeOfDay, to: TimeOfDay })
    .refine(({ from, to }) => from !== to, 'from and to must differ')
    .nullable()
    .default(null),
  frequency_cap: FrequencyCap.nullable().default(null),
  category: z.enum(CATEGORIES).default('marketing'),
  /** What becomes of a send whose outcome stays unknown; sent again, it may arrive twice. */
  on_unknown: z.enum(ON_UNKNOWN).default('hold'),
  /** What is older than this is not done any more: a step that is overdue, a message that was not handed over. */
  expires_after: Duration.default('PT72H'),
  /** Of people who have none of their own, as the trait `timezone`. */
  timezone: Zone.default('UTC'),
});
export type Settings = z.output<typeof Settings>;

const Shape = z.strictObject({
  format: z.literal(FORMAT).default(FORMAT),
  trigger: Trigger,
  settings: Settings.prefault({}),
  entry: StepId,
  steps: Steps,
});

/** What an automation does: a trigger, and steps that name the ones after them. */
export const Definition = Shape.superRefine((definition, context) => {
  for (const { path, message } of findFaults(definition)) {
    context.addIssue({ code: 'custom', path, message });
  }
});
export type Definition = z.output<typeof Definition>;
/** A definition as its author gives it: what has a default may be left out. */
export type NewDefinition = z.input<typeof Definition>;

/** A definition as it was kept, whenever that was: its faults, if it has any, do not stop those who are inside. */
export const KeptDefinition = z.preprocess(upgrade, Shape);
