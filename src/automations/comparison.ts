import { z } from 'zod';
import { isStorable, NOT_STORABLE } from '../base/text.ts';

export const FILTERS_MAX = 20;
export const ONE_OF_MAX = 100;
export const TEXT_CHARS_MAX = 1_000;
export const NAME_CHARS_MAX = 255;

export const Name = z
  .string()
  .min(1, `1 to ${NAME_CHARS_MAX} characters`)
  .max(NAME_CHARS_MAX, `1 to ${NAME_CHARS_MAX} characters`)
  .refine(isStorable, NOT_STORABLE);
const Text = z
  .string()
  .max(TEXT_CHARS_MAX, `at most ${TEXT_CHARS_MAX} characters`)
  .refine(isStorable, NOT_STORABLE);
const Scalar = z.union([Text, z.number(), z.boolean()]);

export const Filter = z
  .discriminatedUnion('is', [
    z.strictObject({ property: Name, is: z.enum(['equals', 'not_equals']), value: Scalar }),
    z.strictObject({
      property: Name,
      is: z.enum(['one_of', 'none_of']),
      value: z
        .array(Scalar)
        .min(1, 'at least one value')
        .max(ONE_OF_MAX, `at most ${ONE_OF_MAX} values`),
    }),
    z
      .strictObject({ property: Name, is: z.enum(['contains', 'starts_with']), value: Text })
      .meta({ description: 'Of a text its part, or its beginning; of a list one of its items.' }),
    z.strictObject({
      property: Name,
      is: z.enum(['greater_than', 'at_least', 'less_than', 'at_most']),
      value: z.number(),
    }),
    z.strictObject({ property: Name, is: z.enum(['exists', 'not_exists']) }),
  ])
  .meta({
    id: 'AutomationFilter',
    description:
      'What one property of an event, or one trait of a profile, has to be. A value is compared with its own type: ' +
      '3 is not `"3"`.',
  });
export type Filter = z.output<typeof Filter>;

export const Filters = z
  .array(Filter)
  .max(FILTERS_MAX, `at most ${FILTERS_MAX} filters`)
  .default([])
  .meta({ description: 'All of them must hold.' });

type Values = Readonly<Record<string, unknown>>;

const holdsFor = (filter: Filter, value: unknown): boolean => {
  switch (filter.is) {
    case 'equals':
      return value === filter.value;
    case 'not_equals':
      return value !== filter.value;
    case 'one_of':
      return filter.value.some((one) => one === value);
    case 'none_of':
      return filter.value.every((one) => one !== value);
    case 'contains':
      return Array.isArray(value)
        ? value.includes(filter.value)
        : typeof value === 'string' && value.includes(filter.value);
    case 'starts_with':
      return typeof value === 'string' && value.startsWith(filter.value);
    case 'greater_than':
      return typeof value === 'number' && value > filter.value;
    case 'at_least':
      return typeof value === 'number' && value >= filter.value;
    case 'less_than':
      return typeof value === 'number' && value < filter.value;
    case 'at_most':
      return typeof value === 'number' && value <= filter.value;
    case 'exists':
      return value !== undefined && value !== null;
    case 'not_exists':
      return value === undefined || value === null;
  }
};

/** What is there under a name: own members only, so that a name of the language names data like any other. */
export const valueOf = (values: Values, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** The first filter that does not hold, or null. A value is compared with its own type: 3 is not "3". */
export const findFailing = (filters: readonly Filter[], values: Values): Filter | null =>
  filters.find((filter) => !holdsFor(filter, valueOf(values, filter.property))) ?? null;

/** What is asked of an event besides its name. */
type Asked = { filters: readonly Filter[]; source?: 'server' | undefined };

/** Whether an event came from where a trigger or a step requires. */
export const isFrom = ({ source: required }: Pick<Asked, 'source'>, source: string): boolean =>
  required === undefined || required === source;

/** Whether an event of the right name is meant. */
export const isMeant = (asked: Asked, event: { properties: Values; source: string }): boolean =>
  isFrom(asked, event.source) && hold(asked.filters, event.properties);

/** Whether all filters hold. */
export const hold = (filters: readonly Filter[], values: Values): boolean =>
  findFailing(filters, values) === null;
