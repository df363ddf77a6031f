import { z } from 'zod';
import { CATEGORIES, ON_UNKNOWN } from '../delivery/delivery.ts';
import { FieldName } from '../segments/segments.ts';
import { findFaults } from './check.ts';
import { EventMatch } from './condition_schema.ts';
import { findScheduleFaults, ScheduleTrigger } from './schedule_schema.ts';
import { StepId } from './step_id.ts';
import { Goal, Step } from './step_schema.ts';
import { Duration, TimeOfDay, Zone } from './time_schema.ts';
import { upgrade } from './upgrade.ts';

export { Step };
export type { StepOf } from './step_schema.ts';

export const STEPS_MAX = 100;
/** How the JSON of a definition is to be read. */
export const FORMAT = 3;
export const SENDS_MAX = 1_000;

const Trigger = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('event'), ...EventMatch.shape }),
    z.strictObject({ kind: z.literal('segment_entered'), segment_id: z.uuid() }),
    z.strictObject({ kind: z.literal('segment_left'), segment_id: z.uuid() }),
    z
      .strictObject({ kind: z.literal('manual') })
      .meta({ description: 'Nobody comes by themselves: a run is begun for them.' }),
    ScheduleTrigger,
  ])
  .meta({ id: 'AutomationTrigger', description: 'What begins a run.' });
export type Trigger = z.output<typeof Trigger>;

const PROTO = '__proto__';

const StepsById = z
  .record(StepId, Step)
  .refine((steps) => Object.keys(steps).length <= STEPS_MAX, `at most ${STEPS_MAX} steps`)
  .meta({
    description: `By ids of your own, ${STEPS_MAX} at most. A step that no way leads to is refused.`,
  });

/** By their ids. A zod record alone would leave one that is called like this behind without a word. */
const Steps = z.preprocess((steps, context) => {
  if (typeof steps !== 'object' || steps === null || !Object.hasOwn(steps, PROTO)) return steps;
  context.addIssue({ code: 'custom', message: `no step is called ${PROTO}` });
  return z.NEVER;
}, StepsById) as unknown as typeof StepsById;

export const ReEntry = z
  .union([
    z.enum(['once', 'every_time']),
    z
      .strictObject({ once_per: Duration })
      .meta({ description: 'Once in so long, since they came in.' }),
    z
      .strictObject({ by_property: FieldName })
      .meta({ description: 'Once per value of this property of the trigger event.' }),
  ])
  .meta({
    description:
      'How often a person may go through, under all of their identities. If a merge gives a person two runs that the ' +
      'rule does not allow, the younger ends with the outcome `merged`. An undo of the merge continues it.',
  });
export type ReEntry = z.output<typeof ReEntry>;

export const FrequencyCap = z.strictObject({
  sends: z.int().min(1).max(SENDS_MAX, `at most ${SENDS_MAX}`).meta({
    description:
      'So many mails to a person. A run that a server started does not count browser-triggered ones.',
  }),
  per: Duration,
  of: z.enum(['automation', 'project']).default('project').meta({
    description: 'Whose mails count: of all automations of the project, or of this one.',
  }),
  over: z.enum(['defer', 'skip']).default('defer').meta({
    description: 'What becomes of one more: it waits, or is left out.',
  }),
});

export const Settings = z.strictObject({
  re_entry: ReEntry.default('once'),
  goal: Goal.nullable().default(null).meta({
    description:
      'Whoever does this, or comes into this segment, leaves, and is counted as converted.',
  }),
  exit_on_unsubscribe: z.boolean().default(true).meta({
    description: 'Whether whoever unsubscribes leaves, where its mail is marketing.',
  }),
  late_events: z
    .union([z.literal('accept'), Duration])
    .default('PT24H')
    .meta({
      description:
        'An event that is older when it is received starts no run. Neither does a segment that a person enters or ' +
        'leaves because of such events. For segments, an event is in time for a minute at least.',
    }),
  quiet_hours: z
    .strictObject({ from: TimeOfDay, to: TimeOfDay })
    .refine(({ from, to }) => from !== to, 'from and to must differ')
    .nullable()
    .default(null)
    .meta({ description: 'When no mail goes, by the clock of the person; over midnight, too.' }),
  frequency_cap: FrequencyCap.nullable().default(null),
  category: z.enum(CATEGORIES).default('marketing').meta({
    description:
      '`transactional` mail goes to those, too, who have unsubscribed, and at any time, however much there was.',
  }),
  on_unknown: z.enum(ON_UNKNOWN).default('hold').meta({
    description:
      'What becomes of a send whose outcome stays unknown. Sent again, it may arrive twice.',
  }),
  expires_after: Duration.default('PT72H').meta({
    description: 'A step that is overdue for longer is not done any more, a mail not handed over.',
  }),
  timezone: Zone.default('UTC').meta({
    description: 'Of people who have none of their own, as the trait `timezone`.',
  }),
});
export type Settings = z.output<typeof Settings>;

const Shape = z.strictObject({
  format: z.literal(FORMAT).default(FORMAT),
  trigger: Trigger,
  settings: Settings.prefault({}),
  entry: StepId.meta({ description: 'The first step.' }),
  steps: Steps,
});

export const Definition = Shape.superRefine((definition, context) => {
  const faults = [...findFaults(definition), ...findScheduleFaults(definition.trigger)];
  for (const { path, message } of faults) {
    context.addIssue({ code: 'custom', path, message });
  }
}).meta({
  id: 'AutomationDefinition',
  description: 'What an automation does: a trigger, and steps that name the ones after them.',
});
export type Definition = z.output<typeof Definition>;
/** A definition as its author gives it: what has a default may be left out. */
export type NewDefinition = z.input<typeof Definition>;

/** A definition as it was kept, whenever that was: its faults, if it has any, do not stop those who are inside. */
export const KeptDefinition = z.preprocess(upgrade, Shape);
