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

const TESTS: Record<Filter['is'], string> = {
  equals: 'is',
  not_equals: 'is not',
  one_of: 'is one of',
  none_of: 'is none of',
  contains: 'contains',
  starts_with: 'starts with',
  greater_than: 'is more than',
  at_least: 'is at least',
  less_than: 'is less than',
  at_most: 'is at most',
  exists: 'is known',
  not_exists: 'is not known',
};

export const FILTER_TESTS = Object.entries(TESTS).map(([value, label]) => ({ value, label }));

const valueInWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(valueInWords).join(', ');
  return typeof value === 'string' ? `“${value}”` : String(value);
};

const filterInWords = (filter: Filter): string =>
  [
    filter.property || '…',
    TESTS[filter.is],
    ...('value' in filter ? [valueInWords(filter.value)] : []),
  ].join(' ');

export const filtersInWords = (filters: readonly Filter[]): string =>
  filters.map(filterInWords).join(' and ');

type EventAsked = { event: string; filters: readonly Filter[]; source?: 'server' | undefined };

const eventInWords = ({ event, filters, source }: EventAsked): string =>
  `${event || '…'}${source ? ' from a server' : ''}${filters.length > 0 ? ` where ${filtersInWords(filters)}` : ''}`;

const scheduleInWords = (
  { start, rule, zone, segment_id: id }: Extract<Trigger, { kind: 'schedule' }>,
  names: Names,
): string => {
  const repeats = rule === undefined ? '' : `, then ${rule}`;
  const clock = zone === 'person' ? ' of each person' : '';
  return `At ${start.replace('T', ' ') || '…'}${clock}${repeats}, for ${names(id) ?? 'a segment'}`;
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

const BECAME: Record<Extract<Condition, { on: 'send' }>['became'], string> = {
  queued: 'was planned',
  accepted: 'was accepted',
  delivered: 'was delivered',
  bounced: 'bounced',
  complained: 'was marked as spam',
  stopped: 'was not sent',
};
export const SEND_FACTS = Object.entries(BECAME).map(([value, label]) => ({ value, label }));

export const conditionInWords = (condition: Condition): string => {
  switch (condition.on) {
    case 'profile':
      return filtersInWords(condition.filters) || 'anybody';
    case 'trigger':
      return `the trigger event’s ${filtersInWords(condition.filters) || 'anything'}`;
    case 'person':
      return 'matches a rule about people';
    case 'event':
      return `${eventInWords(condition)} came meanwhile`;
    case 'send':
      return `${condition.step || 'a mail'} ${BECAME[condition.became]}`;
  }
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
      return step.branches.length === 1
        ? (step.branches[0]?.when ?? []).map(conditionInWords).join(' and ')
        : `${step.branches.length + 1} ways, the first that matches`;
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
