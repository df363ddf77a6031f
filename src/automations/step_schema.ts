import { z } from 'zod';
import { isStorable } from '../base/text.ts';
import { NAME_CHARS_MAX } from '../segments/segments.ts';
import { Condition, EventMatch } from './condition_schema.ts';
import { StepId } from './step_id.ts';
import { Duration, Until, Zone } from './time_schema.ts';

export const BRANCHES_MAX = 20;
export const WAYS_MAX = 10;
export const WEIGHT_MAX = 1_000;
export const TRAITS_MAX = 50;
const Next = StepId.nullable().meta({ description: 'The step after this one; null ends the run.' });
/** Where somebody goes on whom something else befalls. */
const otherwise = (description: string) =>
  Next.meta({ description: `${description}; null ends the run.` });

const SegmentGoal = z.strictObject({ segment_id: z.uuid() });

/** What a run is left for: an event, or to have come into a segment, since the run began. */
export const Goal = z.union([EventMatch, SegmentGoal]);
export type Goal = z.output<typeof Goal>;

const isName = (name: unknown): boolean =>
  typeof name === 'string' && name.length >= 1 && name.length <= NAME_CHARS_MAX && isStorable(name);

/** Members by name. A zod record would leave one behind that is called __proto__, without a word. */
const named = <Value>(isGood: (value: unknown) => boolean, message: string) =>
  z.custom<Record<string, Value>>(
    (given) =>
      typeof given === 'object' &&
      given !== null &&
      !Array.isArray(given) &&
      Object.keys(given).every(isName) &&
      Object.values(given).every(isGood),
    `names have 1 to ${NAME_CHARS_MAX} characters, all well-formed Unicode; ${message}`,
  );
const NAMES_SHOWN = { type: 'string', minLength: 1, maxLength: NAME_CHARS_MAX } as const;
const TraitsFromEvent = named<string>(isName, 'values are names of properties').meta({
  type: 'object',
  propertyNames: NAMES_SHOWN,
  additionalProperties: NAMES_SHOWN,
  description: 'Name of the trait → name of the trigger event’s property.',
});
const SetTraits = named<string | number | boolean | null>(
  (value) =>
    value === null ||
    ['number', 'boolean'].includes(typeof value) ||
    (typeof value === 'string' && isStorable(value)),
  'values are texts, numbers, true, false, or null to remove a trait',
).meta({
  type: 'object',
  propertyNames: NAMES_SHOWN,
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description: 'Name of the trait → its value; null removes it.',
});

const SendEmail = z
  .strictObject({
    kind: z.literal('send_email'),
    provider_id: z.uuid(),
    template_id: z.uuid(),
    template_version: z.int().min(1),
    next: Next,
  })
  .meta({
    description:
      'Sends the person a version of a template, as soon as quiet hours and the frequency cap allow it.',
  });

const Delay = z
  .strictObject({ kind: z.literal('delay'), duration: Duration, next: Next })
  .meta({ description: 'Waits for so long.' });

const DelayUntil = z
  .strictObject({
    kind: z.literal('delay_until'),
    until: Until,
    timezone: Zone.optional().meta({ description: 'Instead of the person’s own.' }),
    otherwise: otherwise(
      'Where the run goes on if the person has no such date, or if it has passed, also while the run waits',
    ).default(null),
    next: Next,
  })
  .meta({
    description:
      'Waits for a time of day, or for a date of the person. A wait for a date follows within seconds when the trait ' +
      'changes, or the time zone of the person. A wait for a time of day keeps its moment.',
  });

const WaitForEvent = z
  .strictObject({
    kind: z.literal('wait_for_event'),
    ...EventMatch.shape,
    timeout: Duration,
    next: Next.meta({ description: 'The step after the event; null ends the run.' }),
    on_timeout: otherwise('Where a person goes on who has not done it by then'),
  })
  .meta({
    description: 'Waits for an event of the person’s, which may have come since the run began.',
  });

const Branch = z
  .strictObject({
    kind: z.literal('branch'),
    branches: z
      .array(
        z.strictObject({
          when: Condition,
          next: Next,
        }),
      )
      .min(1, 'at least one branch')
      .max(BRANCHES_MAX, `at most ${BRANCHES_MAX} branches`),
    otherwise: otherwise('Where a person goes on for whom none holds'),
  })
  .meta({ description: 'Goes the first way whose condition holds.' });

const Way = z.strictObject({
  name: StepId,
  weight: z
    .int()
    .min(1)
    .max(WEIGHT_MAX, `at most ${WEIGHT_MAX}`)
    .meta({ description: 'Its part of the sum of all weights.' }),
  next: Next,
  is_holdout: z.boolean().default(false).meta({
    description: 'Whoever goes this way leaves, and is counted beside those who stay.',
  }),
});

const Split = z
  .strictObject({
    kind: z.literal('split'),
    ways: z
      .array(Way)
      .min(2, 'at least two ways')
      .max(WAYS_MAX, `at most ${WAYS_MAX} ways`)
      .refine(
        (ways) => new Set(ways.map(({ name }) => name)).size === ways.length,
        'each way has a name of its own',
      ),
  })
  .meta({ description: 'Divides people by chance; each goes the same way again.' });

const UpdateProfile = z
  .strictObject({
    kind: z.literal('update_profile'),
    traits_from_event: TraitsFromEvent.default({}),
    traits: SetTraits.default({}),
    next: Next,
  })
  .refine(
    ({ traits, traits_from_event }) =>
      Object.keys(traits).length + Object.keys(traits_from_event).length <= TRAITS_MAX,
    `at most ${TRAITS_MAX} traits`,
  )
  .meta({ description: `Sets traits of the person, ${TRAITS_MAX} at most.` });

const Webhook = z
  .strictObject({
    kind: z.literal('webhook'),
    endpoint_id: z.uuid(),
    next: Next,
    on_failure: otherwise(
      'Where a person goes on whom the endpoint was not told of, as after any other if it is left out',
    ).optional(),
  })
  .meta({ description: 'Tells an endpoint of the person, and waits until it has been told.' });

const Exit = z
  .strictObject({
    kind: z.literal('exit'),
    reason: StepId.optional().meta({ description: 'Why, for whoever reads the log.' }),
  })
  .meta({ description: 'Ends the run.' });

export const Step = z
  .discriminatedUnion('kind', [
    SendEmail,
    Delay,
    DelayUntil,
    WaitForEvent,
    Branch,
    Split,
    UpdateProfile,
    Webhook,
    Exit,
  ])
  .meta({ id: 'AutomationStep', description: 'What is done with a person who comes to it.' });
export type Step = z.output<typeof Step>;
export type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;
