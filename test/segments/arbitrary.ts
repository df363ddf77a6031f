// Random definitions and random people that have a good chance to meet: both are made of the same few words.
import fc from 'fast-check';
import { listConditions } from '../../src/segments/schema.ts';
import type { Condition, Definition, Leaf } from '../../src/segments/schema.ts';
import type { Filter, ValueTest } from '../../src/segments/value_schema.ts';
import { dayOf, toDate } from '../../src/segments/moments.ts';

/** The day that random moments lie around. */
export const TODAY = dayOf(Date.now());
export const TRAITS = ['plan', 'seats', 'renews_at', 'labels', '__proto__'] as const;
/** The last is a reserved name: what clients once sent of it never counts. */
export const EVENTS = ['order_completed', 'page_viewed', 'email_opened'] as const;
export const TAGS = ['hard_bounced', 'unsubscribed', 'complained', 'suppressed'] as const;

const texts = fc.constantFrom(
  'pro',
  'Pro',
  'p',
  '5',
  'é',
  'e\u0301',
  '🐘',
  '%',
  '_',
  '\\',
  "'",
  'true',
  'null',
);
const numbers = fc.constantFrom(
  0,
  -0,
  5,
  5.5,
  -1,
  0.1,
  0.30000000000000004,
  1e-7,
  9_007_199_254_740_991,
);
/** Half of what is said and asked is one of these, so that the two meet. */
const common = fc.constantFrom('pro', 'p', 5, true);
export const scalars = fc.oneof({ weight: 3, arbitrary: common }, texts, numbers, fc.boolean());

const days = fc.integer({ min: -40, max: 5 });
const times = fc.constantFrom(
  '00:00:00Z',
  '23:59:59.999Z',
  '12:30:00.1234+02:00',
  '00:30:00-05:30',
);
/** Days of earlier years, near to the day of today, and one that few years have. */
const earlierDays = fc.oneof(
  fc.tuple(fc.integer({ min: -2, max: 30 }), fc.constantFrom(1, 2, 30)).map(([offset, years]) => {
    const [year = '', ...rest] = toDate(TODAY + offset).split('-');
    return [Number(year) - years, ...rest].join('-');
  }),
  fc.constant('2024-02-29'),
);
/** Moments as people write them, and what only looks like one. */
export const moments = fc.oneof(
  days.map((offset) => toDate(TODAY + offset)),
  fc.integer({ min: 1, max: 40 }).map((offset) => toDate(TODAY + offset)),
  earlierDays,
  fc.tuple(days, times).map(([offset, time]) => `${toDate(TODAY + offset)}T${time}`),
);
const noMoments = fc.constantFrom(
  '2026-02-30',
  '2026-13-01',
  '0000-01-01',
  '2026-05-20T10:00:00',
  '2026-05-20 10:00:00Z',
  '20260520',
  '2026-05-20\n',
);
/** What a trait or a property may be. */
export const values = fc.oneof(
  { weight: 3, arbitrary: scalars },
  { weight: 2, arbitrary: moments },
  noMoments,
  fc.array(fc.oneof(scalars, fc.array(scalars, { maxLength: 2 })), { maxLength: 3 }),
  fc.constantFrom({ plan: 'pro' }, { a: null }),
);
export const properties = fc.dictionary(
  fc.constantFrom('plan', 'seats'),
  fc.oneof(scalars, moments),
);

const fixedMoment = moments
  .map((said) => (said.length > 10 ? said : `${said}T00:00:00Z`))
  .map((said) => new Date(said).toISOString());
const within = fc.integer({ min: 1, max: 30 });

const momentTests = fc.oneof(
  fc.record({ is: fc.constantFrom('before' as const, 'after' as const), value: fixedMoment }),
  fc.record({ is: fc.constant('within_last' as const), days: within }),
);
const dayTests = fc.record({
  is: fc.constantFrom('within_next' as const, 'anniversary' as const),
  days: within,
});
const lastingTests: fc.Arbitrary<Exclude<ValueTest, { days: number }>> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constantFrom('equals' as const, 'not_equals' as const, 'contains' as const),
      value: scalars,
    }),
  },
  fc.record({
    is: fc.constantFrom('one_of' as const, 'none_of' as const),
    values: fc.array(scalars, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    is: fc.constant('starts_with' as const),
    value: fc.oneof(fc.constantFrom('p', 'pr'), texts),
  }),
  fc.constantFrom({ is: 'exists' as const }, { is: 'not_exists' as const }),
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constantFrom(
        'greater' as const,
        'at_least' as const,
        'less' as const,
        'at_most' as const,
      ),
      value: numbers,
    }),
  },
  fc.record({ is: fc.constantFrom('before' as const, 'after' as const), value: fixedMoment }),
);
const tests: fc.Arbitrary<ValueTest> = fc.oneof(
  { weight: 4, arbitrary: lastingTests },
  momentTests,
  dayTests,
);

/** A few, so that random events meet them. */
export const FILTERS: Filter[][] = [
  [],
  [{ property: 'plan', test: { is: 'equals', value: 'pro' } }],
  [
    { property: 'seats', test: { is: 'at_least', value: 5 } },
    { property: 'plan', test: { is: 'not_equals', value: 5 } },
  ],
];
const ofEvent = { event: fc.constantFrom(...EVENTS), where: fc.constantFrom(...FILTERS) };
const count = fc.record({
  is: fc.constantFrom('at_least' as const, 'at_most' as const, 'exactly' as const),
  value: fc.integer({ min: 0, max: 4 }),
});

const leavesOf = (
  segmentIds: readonly string[],
  importedIds: readonly string[],
): fc.Arbitrary<Leaf> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('trait' as const),
        trait: fc.constantFrom(...TRAITS),
        test: tests,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('event' as const),
        ...ofEvent,
        count,
        within_days: within,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('event' as const), ...ofEvent, count }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('event_time' as const),
        ...ofEvent,
        occurrence: fc.constantFrom('first' as const, 'last' as const),
        test: momentTests,
      }),
    },
    fc.record({ kind: fc.constant('tag' as const), tag: fc.constantFrom(...TAGS) }),
    fc.constant({ kind: 'subscribed' as const }),
    fc.constant({ kind: 'suppressed' as const }),
    ...(segmentIds.length > 0
      ? [
          {
            weight: 2,
            arbitrary: fc.record({
              kind: fc.constant('segment' as const),
              segment_id: fc.constantFrom(...segmentIds),
            }),
          },
        ]
      : []),
    ...(importedIds.length > 0
      ? [
          fc.record({
            kind: fc.constant('imported' as const),
            segment_id: fc.constantFrom(...importedIds),
          }),
        ]
      : []),
  );

/** Definitions that may ask about some segments, and about the lists of some: which authors cannot. */
export const definitionsOf = (
  segmentIds: readonly string[],
  importedIds: readonly string[] = [],
): fc.Arbitrary<Definition> => {
  const { condition } = fc.letrec<{ condition: Condition; leaf: Condition }>((tie) => ({
    leaf: leavesOf(segmentIds, importedIds),
    condition: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      tie('leaf'),
      fc.record({
        kind: fc.constantFrom('all' as const, 'any' as const),
        of: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ kind: fc.constant('not' as const), of: tie('condition') }),
    ),
  }));
  return fc
    .record({ include_suppressed: fc.boolean(), where: condition })
    .map(({ include_suppressed, where }) => {
      const isAsked = listConditions(where).some(({ kind }) => kind === 'suppressed');
      return { version: 1, include_suppressed: include_suppressed || isAsked, where };
    });
};
