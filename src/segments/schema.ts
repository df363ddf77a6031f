import { z } from 'zod';
import { Moment } from '../base/moment.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { EventName } from '../ingest/ingest.ts';
import { TAGS } from './tags.ts';

/** `all`, `any` and `not` inside each other; a definition whose `where` is a plain condition has depth 1. */
export const DEPTH_MAX = 6;
/** Conditions of a definition, those that hold others included. */
export const CONDITIONS_MAX = 50;
export const FILTERS_MAX = 10;
export const ONE_OF_MAX = 100;
export const VALUE_CHARS_MAX = 1_000;
export const NAME_CHARS_MAX = 255;
/** As far back as timelines reach. */
export const WINDOW_DAYS_MAX = 730;
/** Every day of a year. */
export const ANNIVERSARY_DAYS_MAX = 366;
export const COUNT_MAX = 1_000_000;

const text = (charsMax: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(charsMax, `at most ${charsMax} characters`)
    .refine(isStorable, NOT_STORABLE);

const ExactNumber = z
  .number()
  .refine(
    (value) => !Number.isInteger(value) || Number.isSafeInteger(value),
    'integers lie within ±(2^53 − 1)',
  );
const Scalar = z.union([text(VALUE_CHARS_MAX), ExactNumber, z.boolean()]);
const Days = z.int().min(1, 'at least 1').max(WINDOW_DAYS_MAX, `at most ${WINDOW_DAYS_MAX}`);

const before = z.strictObject({ is: z.literal('before'), value: Moment });
const after = z.strictObject({ is: z.literal('after'), value: Moment });
const withinLast = z.strictObject({ is: z.literal('within_last'), days: Days });
const withinNext = z.strictObject({ is: z.literal('within_next'), days: Days });
const anniversary = z.strictObject({
  is: z.literal('anniversary'),
  days: z
    .int()
    .min(1, 'at least 1')
    .max(ANNIVERSARY_DAYS_MAX, `at most ${ANNIVERSARY_DAYS_MAX}`)
    .default(1)
    .meta({ description: 'Within so many days; one day is today.' }),
});

const lastingTests = [
  z.strictObject({ is: z.literal('equals'), value: Scalar }),
  z.strictObject({ is: z.literal('not_equals'), value: Scalar }),
  z.strictObject({
    is: z.literal('one_of'),
    values: z.array(Scalar).min(1, 'at least 1').max(ONE_OF_MAX, `at most ${ONE_OF_MAX} items`),
  }),
  z.strictObject({ is: z.literal('contains'), value: Scalar }),
  z.strictObject({ is: z.literal('starts_with'), value: text(VALUE_CHARS_MAX) }),
  z.strictObject({ is: z.literal('exists') }),
  ...(['greater', 'at_least', 'less', 'at_most'] as const).map((is) =>
    z.strictObject({ is: z.literal(is), value: ExactNumber }),
  ),
  before,
  after,
] as const;

/** What a value must be, as `value_tests.ts` says it. */
export const ValueTest = z
  .discriminatedUnion('is', [...lastingTests, withinLast, withinNext, anniversary])
  .meta({
    id: 'SegmentTest',
    description:
      'What a value must be. What is missing passes `not_equals` and nothing else; 5 and `"5"` differ, and so do ' +
      'capitals. A text `contains` its parts, a list its items. The other tests are of texts that are RFC 3339 ' +
      'timestamps or dates. `within_last` and `within_next` count whole days in UTC, and one day is today. ' +
      '`anniversary` is the same day of a later year, and 28 February for 29 February in years without one. Where a ' +
      'window begins or ends, people enter or leave within the first hour of the day.',
    examples: [{ is: 'equals', value: 'pro' }],
  });
export type ValueTest = z.output<typeof ValueTest>;

const PropertyTest = z.discriminatedUnion('is', lastingTests).meta({
  id: 'SegmentPropertyTest',
  description:
    'What a property of an event must be, as `SegmentTest` says it. It is asked once, when the event is counted.',
});
export const Filter = z.strictObject({ property: text(NAME_CHARS_MAX), test: PropertyTest });
export type Filter = z.output<typeof Filter>;

const ofEvent = {
  event: EventName,
  where: z
    .array(Filter)
    .max(FILTERS_MAX, `at most ${FILTERS_MAX} items`)
    .default([])
    .meta({ description: 'What its properties must be, all of them.' }),
};

const Trait = z
  .strictObject({ kind: z.literal('trait'), trait: text(NAME_CHARS_MAX), test: ValueTest })
  .meta({ description: 'What a trait of theirs is.' });
const EventCount = z
  .strictObject({
    kind: z.literal('event'),
    ...ofEvent,
    count: z
      .strictObject({
        is: z.enum(['at_least', 'at_most', 'exactly']),
        value: z.int().min(0, 'at least 0').max(COUNT_MAX, `at most ${COUNT_MAX}`),
      })
      .default({ is: 'at_least', value: 1 }),
    within_days: Days.optional().meta({
      description:
        'Whole days in UTC, today among them; an event of tomorrow, as a clock may say, counts as one of today. ' +
        'Where a window ends, people enter or leave within the first hour of the day. Left out: ever.',
    }),
  })
  .meta({ description: 'How often they did something.' });
const EventTime = z
  .strictObject({
    kind: z.literal('event_time'),
    ...ofEvent,
    occurrence: z.enum(['first', 'last']),
    test: z.discriminatedUnion('is', [before, after, withinLast]),
  })
  .meta({ description: 'When they did something first, or last.' });
const InSegment = z
  .strictObject({ kind: z.literal('segment'), segment_id: z.uuid() })
  .meta({ description: 'Whether they are a member of another segment.' });
const Tag = z
  .strictObject({ kind: z.literal('tag'), tag: z.enum(TAGS) })
  .meta({ description: 'Whether their profile has a tag.' });
const Suppressed = z
  .strictObject({ kind: z.literal('suppressed') })
  .meta({ description: 'Whether their address is suppressed.' });
const Subscribed = z.strictObject({ kind: z.literal('subscribed') }).meta({
  description: 'Whether they have an address, and have not unsubscribed from marketing mail.',
});

const leaves = [Trait, EventCount, EventTime, InSegment, Tag, Suppressed, Subscribed] as const;
export type Leaf = z.output<(typeof leaves)[number]> | Imported;
export type EventLeaf = z.output<typeof EventCount> | z.output<typeof EventTime>;

/** Not for authors: who was imported into a static segment. */
type Imported = { kind: 'imported'; segment_id: string };

export type Condition =
  | { kind: 'all'; of: Condition[] }
  | { kind: 'any'; of: Condition[] }
  | { kind: 'not'; of: Condition }
  | Leaf;

const several = (kind: 'all' | 'any') =>
  z.strictObject({
    kind: z.literal(kind),
    get of(): z.ZodArray<typeof Condition> {
      return z
        .array(Condition)
        .min(1, 'at least 1')
        .max(CONDITIONS_MAX, `at most ${CONDITIONS_MAX} items`);
    },
  });
const Not = z.strictObject({
  kind: z.literal('not'),
  get of(): typeof Condition {
    return Condition;
  },
});

const Condition: z.ZodType<Condition> = z
  .discriminatedUnion('kind', [...leaves, several('all'), several('any'), Not])
  .meta({
    id: 'SegmentCondition',
    description:
      `What is asked of a person. \`all\`, \`any\` and \`not\` hold others, ${DEPTH_MAX} levels deep at most; ` +
      `${CONDITIONS_MAX} conditions at most in all.`,
  });

/** The conditions that one holds directly. */
export const partsOf = (condition: Condition): readonly Condition[] => {
  if (condition.kind === 'all' || condition.kind === 'any') return condition.of;
  return condition.kind === 'not' ? [condition.of] : [];
};

/** Every condition of a tree, the outer ones first. */
export const listConditions = (where: Condition): Condition[] => [
  where,
  ...partsOf(where).flatMap(listConditions),
];

/** How deep conditions are inside each other, however deep that is: walked with a list of our own. */
const isTooDeep = (where: unknown): boolean => {
  const pending = [{ value: where, depth: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { of } = (next.value ?? {}) as { of?: unknown };
    if (of === undefined) continue;
    if (next.depth === DEPTH_MAX) return true;
    for (const value of Array.isArray(of) ? of : [of])
      pending.push({ value, depth: next.depth + 1 });
  }
  return false;
};

const Shape = z
  .strictObject({
    version: z.literal(1).default(1).meta({ description: 'Of this language.' }),
    include_suppressed: z.boolean().default(false).meta({
      description: 'Whether people with a suppressed address may be members; else they never are.',
    }),
    where: Condition,
  })
  .superRefine(({ include_suppressed, where }, context) => {
    const say = (message: string) => context.addIssue({ code: 'custom', path: ['where'], message });
    const conditions = listConditions(where);
    if (conditions.length > CONDITIONS_MAX) say(`at most ${CONDITIONS_MAX} conditions`);
    if (!include_suppressed && conditions.some(({ kind }) => kind === 'suppressed'))
      say('asks who is suppressed, so say include_suppressed: true');
  });

const TOO_DEEP = `at most ${DEPTH_MAX} levels deep`;

/** Who is in a segment. Parsed in two steps: no depth of nesting may cost us the stack. */
export const Definition = z
  .preprocess((given, context) => {
    const { where } = (given ?? {}) as { where?: unknown };
    if (!isTooDeep(where)) return given;
    context.addIssue({ code: 'custom', path: ['where'], message: TOO_DEEP });
    return z.NEVER;
  }, Shape)
  .meta({ id: 'SegmentDefinition' });
export type Definition = z.output<typeof Definition>;
/** A definition as its author gives it: what has a default may be left out. */
export type NewDefinition = Omit<z.input<typeof Shape>, 'where'> & { where: Condition };

/** What is asked of a person outside of any segment, in the same language. Whoever is suppressed is asked, too. */
export const Where = z.preprocess(
  (given, context) => {
    if (!isTooDeep(given)) return given;
    context.addIssue({ code: 'custom', message: TOO_DEEP });
    return z.NEVER;
  },
  Condition.refine(
    (where) => listConditions(where).length <= CONDITIONS_MAX,
    `at most ${CONDITIONS_MAX} conditions`,
  ),
);
