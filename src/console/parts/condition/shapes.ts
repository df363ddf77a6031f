import type { Condition } from '../../../automations/automations.ts';

export type { Condition };
export type ConditionKind = Condition['kind'];
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
  event_since: 'An event since the run began',
  trigger: 'The event that began the run',
  email: 'An email of this automation',
  all: 'A group: all of …',
  any: 'A group: any of …',
  not: 'Not …',
};

/** What only a run of an automation can be asked: the steps that send emails, and whether an event began it. */
export type RunScene = { emailSteps: readonly string[]; hasEvent: boolean };

const canAdd = (kind: ConditionKind, run: RunScene | undefined): boolean => {
  if (kind === 'event_since') return run !== undefined;
  if (kind === 'trigger') return run?.hasEvent === true;
  return kind === 'email' ? (run?.emailSteps.length ?? 0) > 0 : kind !== 'not';
};

/** Lists the kinds of conditions that can be added: of a run, or of a segment. */
export const listAddable = (run: RunScene | undefined): ConditionKind[] =>
  (Object.keys(KIND_WORDS) as ConditionKind[]).filter((kind) => canAdd(kind, run));

export const TEST_WORDS: Record<Test['is'], string> = {
  equals: 'is',
  not_equals: 'is not',
  one_of: 'is one of',
  none_of: 'is none of',
  contains: 'contains',
  starts_with: 'starts with',
  exists: 'is known',
  not_exists: 'is not known',
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
  if (is === 'one_of' || is === 'none_of') return 'values';
  if (DAYS.includes(is)) return 'days';
  if (is === 'exists' || is === 'not_exists') return 'nothing';
  return is === 'starts_with' ? 'text' : 'scalar';
};

const today = (): string => `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;

/** The days of a test before, or a usual number. */
const newDays = (test: Test, is: Test['is']): number => {
  const isOther = is === 'anniversary' || test.is === 'anniversary';
  if ('days' in test && !isOther) return test.days;
  return is === 'anniversary' ? 1 : 30;
};

const newValues = (test: Test): unknown[] => {
  if ('values' in test) return test.values;
  return 'value' in test && test.value !== '' ? [test.value] : [];
};

/** A test of another kind, with as much of the old one as fits. */
export const withTest = (test: Test, is: Test['is']): Test => {
  const known = 'value' in test ? test.value : '';
  switch (shapeOf(is)) {
    case 'nothing':
      return { is } as Test;
    case 'days':
      return { is, days: newDays(test, is) } as Test;
    case 'values':
      return { is, values: newValues(test) } as Test;
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

export const NEW_FILTER: EventFilter = { property: '', test: { is: 'equals', value: '' } };

export const newCondition = (kind: ConditionKind, run?: RunScene): Condition => {
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
    case 'event_since':
      return { kind, event: '', where: [] };
    case 'trigger':
      return { kind, where: [NEW_FILTER] };
    case 'email':
      return { kind, step: run?.emailSteps[0] ?? '', became: 'delivered' };
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
