import { z } from 'zod';
import { isStorable } from '../base/text.ts';
import { isDuration, isSignedDuration, isZone, WEEKDAYS } from './clock.ts';
import { EventName } from '../ingest/ingest.ts';
import { Where } from '../segments/segments.ts';
import { Filters, FILTERS_MAX, Name, NAME_CHARS_MAX } from './comparison.ts';

export const BRANCHES_MAX = 20;
export const WAYS_MAX = 10;
export const WEIGHT_MAX = 1_000;
export const TRAITS_MAX = 50;
const STEP_ID = /^[a-z][a-z0-9_]{0,49}$/;

export const StepId = z.string().regex(STEP_ID, 'lower case letters, digits and _, at most 50');
/** The step after this one; null ends the run. */
const Next = StepId.nullable();

export const Duration = z
  .string()
  .refine(isDuration, 'must be an ISO 8601 duration such as PT2H, P3D or P1M, at most a year')
  .meta({ examples: ['PT2H', 'P3D', 'P1M'] });
export const Zone = z
  .string()
  .refine(isZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
  .meta({ examples: ['Europe/Berlin', 'UTC'] });
export const TimeOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:00');

/** An event of the person's, since the run began. */
export const EventMatch = z.strictObject({ event: EventName, filters: Filters });
export type EventMatch = z.output<typeof EventMatch>;

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

const SendEmail = z.strictObject({
  kind: z.literal('send_email'),
  provider_id: z.uuid(),
  template_id: z.uuid(),
  template_version: z.int().min(1),
  next: Next,
});

const Delay = z.strictObject({ kind: z.literal('delay'), duration: Duration, next: Next });

const DelayUntil = z.strictObject({
  kind: z.literal('delay_until'),
  until: z.union([
    z.strictObject({
      time: TimeOfDay,
      weekdays: z.array(z.enum(WEEKDAYS)).min(1, 'at least one weekday').optional(),
    }),
    z.strictObject({
      trait: Name,
      offset: z
        .string()
        .refine(isSignedDuration, 'must be an ISO 8601 duration such as -P3D, at most a year')
        .meta({ examples: ['-P3D', 'PT2H'] })
        .optional(),
      time: TimeOfDay.optional(),
      repeats: z.literal('yearly').optional(),
    }),
  ]),
  /** Instead of the person's own. */
  timezone: Zone.optional(),
  /** Where a person goes on who has no such date, or for whom it has passed. */
  otherwise: Next.default(null),
  next: Next,
});

const WaitForEvent = z.strictObject({
  kind: z.literal('wait_for_event'),
  ...EventMatch.shape,
  timeout: Duration,
  next: Next,
  on_timeout: Next,
});

export const SEND_FACTS = [
  'queued',
  'accepted',
  'delivered',
  'bounced',
  'complained',
  'stopped',
] as const;
export const Condition = z.discriminatedUnion('on', [
  z.strictObject({ on: z.literal('profile'), filters: Filters }),
  /** In the language of segments: whatever may be asked for one, may be asked of the person now. */
  z.strictObject({ on: z.literal('person'), where: Where }),
  z.strictObject({ on: z.literal('trigger'), filters: Filters }),
  z.strictObject({ on: z.literal('event'), ...EventMatch.shape }),
  z.strictObject({ on: z.literal('send'), step: StepId, became: z.enum(SEND_FACTS) }),
]);
export type Condition = z.output<typeof Condition>;

const Branch = z.strictObject({
  kind: z.literal('branch'),
  branches: z
    .array(
      z.strictObject({
        when: z.array(Condition).min(1, 'at least one condition').max(FILTERS_MAX),
        next: Next,
      }),
    )
    .min(1, 'at least one branch')
    .max(BRANCHES_MAX, `at most ${BRANCHES_MAX} branches`),
  otherwise: Next,
});

const Split = z.strictObject({
  kind: z.literal('split'),
  ways: z
    .array(
      z.strictObject({
        name: StepId,
        weight: z.int().min(1).max(WEIGHT_MAX, `at most ${WEIGHT_MAX}`),
        next: Next,
        /** Whoever goes this way leaves, and is counted beside those who stay. */
        is_holdout: z.boolean().default(false),
      }),
    )
    .min(2, 'at least two ways')
    .max(WAYS_MAX, `at most ${WAYS_MAX} ways`)
    .refine(
      (ways) => new Set(ways.map(({ name }) => name)).size === ways.length,
      'each way has a name of its own',
    ),
});

const UpdateProfile = z
  .strictObject({
    kind: z.literal('update_profile'),
    /** Copies properties of the trigger event onto the profile as traits, where the event has them. */
    traits_from_event: TraitsFromEvent.default({}),
    traits: SetTraits.default({}),
    next: Next,
  })
  .refine(
    ({ traits, traits_from_event }) =>
      Object.keys(traits).length + Object.keys(traits_from_event).length <= TRAITS_MAX,
    `at most ${TRAITS_MAX} traits`,
  );

const Webhook = z.strictObject({
  kind: z.literal('webhook'),
  endpoint_id: z.uuid(),
  next: Next,
  /** Where a person goes on whom the endpoint was not told of; as after any other, if it is left out. */
  on_failure: Next.optional(),
});

const Exit = z.strictObject({
  kind: z.literal('exit'),
  /** Why, for whoever reads the log. */
  reason: StepId.optional(),
});

export const Step = z.discriminatedUnion('kind', [
  SendEmail,
  Delay,
  DelayUntil,
  WaitForEvent,
  Branch,
  Split,
  UpdateProfile,
  Webhook,
  Exit,
]);
export type Step = z.output<typeof Step>;
export type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** The steps that a step names, each with where it does. */
export const namedBy = (step: Step): { path: (string | number)[]; next: string | null }[] => {
  switch (step.kind) {
    case 'exit':
      return [];
    case 'branch':
      return [
        ...step.branches.map(({ next }, at) => ({ path: ['branches', at, 'next'], next })),
        { path: ['otherwise'], next: step.otherwise },
      ];
    case 'split':
      return step.ways.map(({ next }, at) => ({ path: ['ways', at, 'next'], next }));
    case 'wait_for_event':
      return [
        { path: ['next'], next: step.next },
        { path: ['on_timeout'], next: step.on_timeout },
      ];
    case 'webhook':
      return [
        { path: ['next'], next: step.next },
        ...(step.on_failure === undefined ? [] : [{ path: ['on_failure'], next: step.on_failure }]),
      ];
    case 'delay_until':
      return [
        { path: ['next'], next: step.next },
        { path: ['otherwise'], next: step.otherwise },
      ];
    default:
      return [{ path: ['next'], next: step.next }];
  }
};
