import { z } from 'zod';
import { Moment } from '../base/moment.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';

export const FILTERS_MAX = 20;
export const ONE_OF_MAX = 100;
export const VALUE_CHARS_MAX = 1_000;
export const NAME_CHARS_MAX = 255;
/** As far back as timelines reach. */
export const WINDOW_DAYS_MAX = 730;
/** Every day of a year. */
export const ANNIVERSARY_DAYS_MAX = 366;

export const text = (charsMax: number) =>
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
export const Days = z.int().min(1, 'at least 1').max(WINDOW_DAYS_MAX, `at most ${WINDOW_DAYS_MAX}`);

export const before = z.strictObject({ is: z.literal('before'), value: Moment });
export const after = z.strictObject({ is: z.literal('after'), value: Moment });
export const withinLast = z.strictObject({ is: z.literal('within_last'), days: Days });
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

const Values = z.array(Scalar).min(1, 'at least 1').max(ONE_OF_MAX, `at most ${ONE_OF_MAX} items`);

const lastingTests = [
  z.strictObject({ is: z.literal('equals'), value: Scalar }),
  z.strictObject({ is: z.literal('not_equals'), value: Scalar }),
  ...(['one_of', 'none_of'] as const).map((is) =>
    z.strictObject({ is: z.literal(is), values: Values }),
  ),
  z.strictObject({ is: z.literal('contains'), value: Scalar }),
  z.strictObject({ is: z.literal('starts_with'), value: text(VALUE_CHARS_MAX) }),
  z.strictObject({ is: z.literal('exists') }),
  z.strictObject({ is: z.literal('not_exists') }),
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
      'What a value must be. What is missing passes `not_equals`, `none_of` and `not_exists` and nothing else. 5 and ' +
      '`"5"` differ, and so do capitals. A text `contains` its parts, a list its items. The other tests are of texts ' +
      'that are RFC 3339 timestamps or dates. `within_last` and `within_next` count whole days in UTC; one day is ' +
      'today. `anniversary` is the same day of a later year, and 28 February for 29 February in years without one. ' +
      'Where a window begins or ends, people enter or leave within the first hour of the day.',
    examples: [{ is: 'equals', value: 'pro' }],
  });
export type ValueTest = z.output<typeof ValueTest>;

const PropertyTest = z.discriminatedUnion('is', lastingTests).meta({
  id: 'SegmentPropertyTest',
  description:
    'What a property of an event must be, as `SegmentTest` says it. It is asked once, when the event is counted.',
});
/** The name of a trait, or of a property of an event. */
export const FieldName = text(NAME_CHARS_MAX);
export const Filter = z.strictObject({ property: FieldName, test: PropertyTest });
export type Filter = z.output<typeof Filter>;

export const Filters = z
  .array(Filter)
  .max(FILTERS_MAX, `at most ${FILTERS_MAX} items`)
  .default([])
  .meta({ description: 'What the properties of the event must be, all of them.' });
