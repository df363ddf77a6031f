import { TEST_WORDS } from '../condition/shapes.ts';
import type { Test } from '../condition/shapes.ts';
import type { Condition, Filter, Settings, Step, Trigger } from './exits.ts';

/** What ids stand for: templates, providers, segments, endpoints. */
export type Names = (id: string) => string | undefined;

const UNITS = [
  ['Y', 'year'],
  ['M', 'month'],
  ['W', 'week'],
  ['D', 'day'],
  ['TH', 'hour'],
  ['TM', 'minute'],
  ['TS', 'second'],
] as const;

/** `P1DT2H` as people say it. */
export const durationInWords = (duration: string): string => {
  const [, sign, date = '', time = ''] = /^(-?)P([^T]*)T?(.*)$/.exec(duration) ?? [];
  const parts = [
    ...date.matchAll(/(\d+)([YMWD])/g),
    ...[...time.matchAll(/(\d+)([HMS])/g)].map(([all, count, unit]) => [all, count, `T${unit}`]),
  ].map(([, count, unit]) => {
    const word = UNITS.find(([letter]) => letter === unit)?.[1] ?? '';
    return `${count} ${word}${count === '1' ? '' : 's'}`;
  });
  const words = parts.join(' ') || duration;
  return sign === '-' ? `${words} before` : words;
};

const testInWords = (test: Test): string => {
  const days = 'days' in test ? ` (${test.days} day${test.days === 1 ? '' : 's'})` : '';
  const value = 'values' in test ? test.values : 'value' in test ? test.value : undefined;
  return [TEST_WORDS[test.is] + days, ...(value === undefined ? [] : [valueInWords(value)])].join(
    ' ',
  );
};

const valueInWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(valueInWords).join(', ');
  return typeof value === 'string' ? `“${value}”` : String(value);
};

const filtersInWords = (where: readonly Filter[]): string =>
  where.map(({ property, test }) => `${property || '…'} ${testInWords(test)}`).join(' and ');

type EventAsked = { event: string; where: readonly Filter[]; source?: 'server' | undefined };

const eventInWords = ({ event, where, source }: EventAsked): string =>
  `${event || '…'}${source ? ' from a server' : ''}${where.length > 0 ? ` where ${filtersInWords(where)}` : ''}`;

/** A local time, such as 2026-01-31T09:00, as people write it. */
export const localTimeInWords = (local: string): string => local.replace('T', ' ');

const scheduleInWords = (
  { start, rule, zone, segment_id: id }: Extract<Trigger, { kind: 'schedule' }>,
  names: Names,
): string => {
  const repeats = rule === undefined ? '' : `, then ${rule}`;
  const clock = zone === 'person' ? ' of each person' : '';
  return `At ${localTimeInWords(start) || '…'}${clock}${repeats}, for ${names(id) ?? 'a segment'}`;
};

export const triggerInWords = (trigger: Trigger, names: Names): string => {
  switch (trigger.kind) {
    case 'event':
      return `When ${eventInWords(trigger)} happens`;
    case 'segment_entered':
      return `When somebody enters ${names(trigger.segment_id) ?? 'a segment'}`;
    case 'segment_left':
      return `When somebody leaves ${names(trigger.segment_id) ?? 'a segment'}`;
    case 'manual':
      return 'Started by hand';
    case 'schedule':
      return scheduleInWords(trigger, names);
  }
};

const BECAME: Record<Extract<Condition, { kind: 'email' }>['became'], string> = {
  queued: 'was planned',
  accepted: 'was accepted',
  delivered: 'was delivered',
  bounced: 'bounced',
  complained: 'was marked as spam',
  opened: 'was opened',
  clicked: 'had a link clicked',
  stopped: 'was not sent',
};
export const SEND_FACTS = Object.entries(BECAME).map(([value, label]) => ({ value, label }));

const COUNTS = { at_least: 'at least', at_most: 'at most', exactly: 'exactly' } as const;

const countInWords = (condition: Extract<Condition, { kind: 'event' }>): string => {
  const { count, within_days: days } = condition;
  const times = `${COUNTS[count.is]} ${count.value} time${count.value === 1 ? '' : 's'}`;
  return `${eventInWords(condition)} ${times}${days === undefined ? '' : ` in ${days} days`}`;
};

/** A condition inside another: a group of several stands in parentheses. */
const partInWords = (part: Condition, names: Names): string => {
  const words = conditionInWords(part, names);
  return 'of' in part && Array.isArray(part.of) && part.of.length > 1 ? `(${words})` : words;
};

const severalInWords = (of: readonly Condition[], word: string, names: Names): string =>
  of.map((part) => partInWords(part, names)).join(` ${word} `);

/** A condition in a line. */
const conditionInWords = (condition: Condition, names: Names): string => {
  switch (condition.kind) {
    case 'all':
      return severalInWords(condition.of, 'and', names);
    case 'any':
      return severalInWords(condition.of, 'or', names);
    case 'not':
      return `not ${partInWords(condition.of, names)}`;
    case 'trait':
      return `${condition.trait || '…'} ${testInWords(condition.test)}`;
    case 'event':
      return countInWords(condition);
    case 'event_time':
      return `${condition.occurrence} ${eventInWords(condition)} ${testInWords(condition.test)}`;
    case 'segment':
      return `in ${names(condition.segment_id) ?? 'a segment'}`;
    case 'tag':
      return condition.tag.replaceAll('_', ' ');
    case 'suppressed':
      return 'the address is suppressed';
    case 'subscribed':
      return 'may be sent marketing';
    case 'trigger':
      return `the trigger event’s ${filtersInWords(condition.where) || 'anything'}`;
    case 'event_since':
      return `${eventInWords(condition)} came meanwhile`;
    case 'email':
      return `${condition.step || 'an email'} ${BECAME[condition.became]}`;
  }
};

const branchesInWords = ([first, ...others]: readonly { when: Condition }[], names: Names) => {
  if (first === undefined || others.length > 0)
    return `${others.length + 2} ways, the first that matches`;
  return conditionInWords(first.when, names);
};

const DAYS: Record<string, string> = {
  monday: 'Mon',
  tuesday: 'Tue',
  wednesday: 'Wed',
  thursday: 'Thu',
  friday: 'Fri',
  saturday: 'Sat',
  sunday: 'Sun',
};

const untilInWords = (until: Extract<Step, { kind: 'delay_until' }>['until']): string => {
  if ('trait' in until) {
    const offset = until.offset
      ? `${durationInWords(until.offset)}${until.offset.startsWith('-') ? '' : ' after'} `
      : '';
    return `${offset}${until.trait || '…'}${until.time ? ` at ${until.time}` : ''}`;
  }
  const days = until.weekdays?.map((day) => DAYS[day] ?? day).join(', ');
  return `${until.time}${days ? ` on ${days}` : ''}`;
};

/** What a step does, in a line. */
export const stepInWords = (step: Step, names: Names): string => {
  switch (step.kind) {
    case 'send_email':
      return names(step.template_id) ?? 'Choose a template';
    case 'delay':
      return durationInWords(step.duration);
    case 'delay_until':
      return untilInWords(step.until);
    case 'wait_for_event':
      return `${eventInWords(step)}, up to ${durationInWords(step.timeout)}`;
    case 'branch':
      return branchesInWords(step.branches, names);
    case 'split':
      return step.ways.map(({ name, weight }) => `${name} ${weight}`).join(' : ');
    case 'update_profile': {
      const traits = [...Object.keys(step.traits), ...Object.keys(step.traits_from_event)];
      return traits.length > 0 ? `Sets ${traits.join(', ')}` : 'Nothing yet';
    }
    case 'webhook':
      return names(step.endpoint_id) ?? 'Choose an endpoint';
    case 'exit':
      return step.reason ? `Because of ${step.reason}` : 'Ends here';
  }
};

export const goalInWords = ({ goal }: Settings, names: Names): string | null => {
  if (goal === null) return null;
  if ('segment_id' in goal) return `enters ${names(goal.segment_id) ?? 'a segment'}`;
  return eventInWords(goal);
};
