import type { Issue } from '../base/refusal.ts';
import { clockCorrectionMs } from '../ingest/ingest.ts';
import { flatten } from './flatten.ts';
import type { Flattened } from './flatten.ts';
import { toEventName } from './names.ts';
import type { Call, CallType } from './schema.ts';

/** A call in our words, still to be parsed as what the API itself takes. */
export type Told = {
  kind: 'event' | 'identify' | 'alias';
  input: Record<string, unknown>;
  leftOut: Issue[];
};

/** When a batch was sent by its client's clock, and when it came. */
export type Clock = { sentAt: unknown; now: Date };

type Bag = Record<string, unknown>;
const isBag = (value: unknown): value is Bag =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const bagOf = (value: unknown): Bag => (isBag(value) ? value : {});

/** Members of a bag under other names, as far as they are there. */
const renamed = (given: unknown, names: Record<string, string>): Bag => {
  const bag = bagOf(given);
  return Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => {
      const value = bag[from];
      return value === undefined || value === null || value === '' ? [] : [[to, value]];
    }),
  );
};

const PAGE = {
  url: 'page_url',
  path: 'page_path',
  title: 'page_title',
  referrer: 'page_referrer',
  search: 'page_search',
};
const CAMPAIGN = {
  name: 'utm_campaign',
  source: 'utm_source',
  medium: 'utm_medium',
  term: 'utm_term',
  content: 'utm_content',
};
const OF_PERSON = { locale: 'locale', timezone: 'timezone' };

/** What of a call's surroundings an event keeps; a page call says itself which page it is. */
const contextOf = (type: CallType, { context }: Call): Bag => ({
  ...(type === 'page' ? {} : renamed(context?.['page'], PAGE)),
  ...renamed(context?.['campaign'], CAMPAIGN),
});

/** ISO 8601 as people write it: a day alone, a blank for the T, no offset, one without a colon. */
const LOOSE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:([+-]\d\d):?(\d\d))?)?$/;

/** The same as the API takes it, by UTC where nothing else is said; whatever is no moment stays as it is. */
const tighten = (given: string): string => {
  const [, day, time = '00:00', hours = '+00', minutes = '00'] = LOOSE.exec(given) ?? [];
  const moment = Date.parse(`${day}T${time}${hours}:${minutes}`);
  return Number.isNaN(moment) ? given : new Date(moment).toISOString();
};

/** The moment a call names, corrected as `sent_at` corrects; as it is where it is none, for the schema to refuse. */
const timeOf = ({ timestamp, originalTimestamp, sentAt }: Call, clock: Clock): Bag => {
  const named = timestamp ?? originalTimestamp;
  if (named === undefined) return {};
  const given = tighten(named);
  const told = clock.sentAt ?? sentAt;
  const sent = typeof told === 'string' ? Date.parse(tighten(told)) : NaN;
  const correctionMs = Number.isNaN(sent) ? 0 : clockCorrectionMs(new Date(sent), clock.now);
  const moment = Date.parse(given);
  const isMoved = correctionMs !== 0 && !Number.isNaN(moment);
  return { occurred_at: isMoved ? new Date(moment + correctionMs).toISOString() : given };
};

const isEmpty = (bag: Bag): boolean => {
  for (const _ in bag) return false;
  return true;
};

const present = (bag: Bag): Bag =>
  Object.fromEntries(Object.entries(bag).filter(([, value]) => value !== undefined));

/** The device that a call is about: an alias says which one somebody used before. */
export const deviceOf = (
  type: CallType,
  { anonymousId, previousId }: Pick<Call, 'anonymousId' | 'previousId'>,
): string | undefined => (type === 'alias' ? previousId : anonymousId);

const idsOf = ({ userId, anonymousId }: Call): Bag =>
  present({ external_id: userId, anonymous_id: anonymousId });

/** The event that a call becomes: what it says first, so that its surroundings never push that out. */
const toEvent = (
  call: Call,
  clock: Clock,
  { name, own, around }: { name: unknown; own: Flattened; around: Bag },
): Told => {
  const said = Object.keys(own.properties);
  const more = Object.fromEntries(Object.entries(around).filter(([key]) => !said.includes(key)));
  const { properties, leftOut } = flatten({ ...own.properties, ...more }, ['context']);
  const input = {
    event: name,
    ...idsOf(call),
    properties,
    ...timeOf(call, clock),
    ...present({ message_id: call.messageId }),
  };
  return { kind: 'event', input, leftOut: [...own.leftOut, ...leftOut] };
};

/** Names as they are called here, where the libraries have calls of their own. */
const NAMED = {
  page: 'page_viewed',
  screen: 'screen_viewed',
  group: 'group_joined',
  identify: 'anonymous_identified',
} as const;

/** The members of two bags, of one name the second's. Copied only if they must be: a bag may be as large as a body. */
const merged = (first: Bag, second: Bag): Bag => {
  if (isEmpty(first)) return second;
  return isEmpty(second) ? first : { ...first, ...second };
};

/** The traits of a call, of which those in its surroundings are a part. */
export const traitsOf = ({ traits, context }: Pick<Call, 'traits' | 'context'>): Bag =>
  merged(bagOf(context?.['traits']), bagOf(traits));

const withOwn = (given: object | undefined, at: string, more: Bag = {}): Flattened =>
  flatten(merged(present(more), bagOf(given)), [at]);

const toIdentify = (call: Call, clock: Clock): Told => {
  const traits = merged(renamed(call.context, OF_PERSON), traitsOf(call));
  if (call.userId === undefined)
    return toEvent(call, clock, {
      name: NAMED.identify,
      own: withOwn(traits, 'traits'),
      around: {},
    });
  const input = {
    ...idsOf(call),
    ...(isEmpty(traits) ? {} : { traits }),
    ...timeOf(call, clock),
    ...present({ message_id: call.messageId }),
  };
  return { kind: 'identify', input, leftOut: [] };
};

/** A call of theirs in our words. */
export const translate = (type: CallType, call: Call, clock: Clock): Told => {
  const around = contextOf(type, call);
  const { event, name, category, groupId, userId } = call;
  switch (type) {
    case 'track': {
      const own = withOwn(call.properties, 'properties');
      return toEvent(call, clock, { name: event && toEventName(event), own, around });
    }
    case 'page':
    case 'screen': {
      const own = withOwn(call.properties, 'properties', { name, category });
      return toEvent(call, clock, { name: NAMED[type], own, around });
    }
    case 'group': {
      const own = withOwn(traitsOf(call), 'traits', { group_id: groupId });
      return toEvent(call, clock, { name: NAMED.group, own, around });
    }
    case 'identify':
      return toIdentify(call, clock);
    case 'alias':
      return {
        kind: 'alias',
        input: present({ anonymous_id: deviceOf(type, call), external_id: userId }),
        leftOut: [],
      };
  }
};
