import type { Condition } from '../../../segments/segments.ts';

export type { Condition };
export type ConditionKind = Exclude<Condition['kind'], 'imported'>;
export type Of<K extends Condition['kind']> = Extract<Condition, { kind: K }>;
export type Test = Of<'trait'>['test'];
export type EventFilter = Of<'event'>['where'][number];

export const KIND_WORDS: Record<ConditionKind, string> = {
  trait: 'A trait',
  event: 'Events they did, or did not',
  event_time: 'When they first or last did something',
  segment: 'In another segment',
  tag: 'A tag',
  subscribed: 'May be sent marketing',
  suppressed: 'Address is suppressed',
  all: 'A group: all of …',
  any: 'A group: any of …',
  not: 'Not …',
};

export const ADDABLE = (Object.keys(KIND_WORDS) as ConditionKind[]).filter(
  (kind) => kind !== 'not',
);

export const TEST_WORDS: Record<Test['is'], string> = {
  equals: 'is',
  not_equals: 'is not',
  one_of: 'is one of',
  contains: 'contains',
  starts_with: 'starts with',
  exists: 'is known',
  greater: 'is more than',
  at_least: 'is at least',
  less: 'is less than',
  at_most: 'is at most',
  before: 'is before',
  after: 'is after',
  within_last: 'is in the last days',
  within_next: 'is in the next days',
  anniversary: 'has its anniversary in the next days',
};

const NUMBERS: readonly Test['is'][] = ['greater', 'at_least', 'less', 'at_most'];
const MOMENTS: readonly Test['is'][] = ['before', 'after'];
const DAYS: readonly Test['is'][] = ['within_last', 'within_next', 'anniversary'];

export type Shape = 'scalar' | 'values' | 'text' | 'number' | 'moment' | 'days' | 'nothing';

/** What a test is asked with. */
export const shapeOf = (is: Test['is']): Shape => {
  if (NUMBERS.includes(is)) return 'number';
  if (MOMENTS.includes(is)) return 'moment';
  if (is === 'one_of') return 'values';
  if (DAYS.includes(is)) return 'days';
  if (is === 'exists') return 'nothing';
  return is === 'starts_with' ? 'text' : 'scalar';
};

const today = (): string => `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;

/** The days of a test before, or a usual number. */
const newDays = (test: Test, is: Test['is']): number => {
  const isOther = is === 'anniversary' || test.is === 'anniversary';
  if ('days' in test && !isOther) return test.days;
  return is === 'anniversary' ? 1 : 30;
};

/** A test of another kind, with as much of the old one as fits. */
export const withTest = (test: Test, is: Test['is']): Test => {
  const known = 'value' in test ? test.value : '';
  switch (shapeOf(is)) {
    case 'nothing':
      return { is: 'exists' };
    case 'days':
      return { is, days: newDays(test, is) } as Test;
    case 'values':
      return { is: 'one_of', values: known === '' ? [] : [known] };
    case 'number':
      return { is, value: Number(known) || 0 } as Test;
    case 'moment':
      return { is, value: today() } as Test;
    case 'text':
      return { is: 'starts_with', value: String(known) };
    case 'scalar':
      return { is, value: known } as Test;
  }
};

export const newCondition = (kind: ConditionKind): Condition => {
  switch (kind) {
    case 'trait':
      return { kind, trait: '', test: { is: 'equals', value: '' } };
    case 'event':
      return { kind, event: '', where: [], count: { is: 'at_least', value: 1 } };
    case 'event_time':
      return {
        kind,
        event: '',
        where: [],
        occurrence: 'last',
        test: { is: 'within_last', days: 30 },
      };
    case 'segment':
      return { kind, segment_id: '' };
    case 'tag':
      return { kind, tag: 'hard_bounced' };
    case 'suppressed':
    case 'subscribed':
      return { kind };
    case 'not':
      return { kind, of: newCondition('trait') };
    case 'all':
    case 'any':
      return { kind, of: [newCondition('trait')] };
  }
};

/** A condition, and whether it is asked the other way round. */
export const unwrap = (condition: Condition): { isNot: boolean; inner: Condition } =>
  condition.kind === 'not'
    ? { isNot: true, inner: condition.of }
    : { isNot: false, inner: condition };
