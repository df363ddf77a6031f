import { POINTER_NAME_CHARS_MAX } from '../../src/base/parse.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import {
  EVENT_NAME_CHARS_MAX,
  IDENTIFIER_CHARS_MAX,
  MESSAGE_ID_CHARS_MAX,
} from '../../src/ingest/schema.ts';
import {
  PROPERTY_KEY_CHARS_MAX,
  PROPERTY_KEYS_MAX,
  PROPERTY_STRING_BYTES_MAX,
} from '../../src/ingest/properties.ts';
import {
  TRAIT_DEPTH_MAX,
  TRAIT_KEY_CHARS_MAX,
  TRAIT_KEYS_MAX,
  TRAITS_BYTES_MAX,
} from '../../src/profiles/traits.ts';

/** One way in which what is sent is wrong, as JSON text: half of them JavaScript could not write. */
export type Hostile = {
  /** The member that is wrong, a colon, and what is wrong with it. */
  what: string;
  /** Members in place of a good one's; null leaves one out. */
  members: Record<string, string | null>;
  /** Where the refusal says that the fault is. */
  path: string;
  refusal?: RefusalName;
  key?: 'publishable' | 'server';
};

const DAY_MS = 86_400_000;
const YEARS_3_MS = 3 * 366 * DAY_MS;
/** Deep enough to overflow a stack, short enough for the smallest body that is taken. */
export const LEVELS = 10_000;
const LARGE = 'v'.repeat(8_000);

const json = JSON.stringify;
const fromNow = (ms: number): string => json(new Date(Date.now() + ms).toISOString());
const object = (count: number, value: unknown = 1): string =>
  json(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value])));
export const deep = (open: string, close: string): string =>
  `${open.repeat(LEVELS)}1${close.repeat(LEVELS)}`;
const outOfRange = { path: '/occurred_at', refusal: 'occurred_at_out_of_range' } as const;

/** Texts that no column can keep: as a value anywhere, and as a name. */
const UNSTORABLE: [string, string][] = [
  ['U+0000', '"a\\u0000b"'],
  ['a lone high surrogate', '"a\\ud800"'],
  ['a lone low surrogate', '"\\udfffb"'],
  ['surrogates the wrong way round', '"\\udc00\\ud800"'],
];

/** Numbers that would not come back as they went. */
const UNSAFE: [string, string][] = [
  ['a number that is infinite', '1e999'],
  ['a number that is infinite below', '-1e999'],
  ['an integer past 2^53 − 1', '9007199254740992'],
  ['an integer past −(2^53 − 1)', '-9007199254740993'],
  ['an integer that is written as a fraction', '1e21'],
];

const identifiers: Hostile[] = ['external_id', 'anonymous_id'].flatMap((name) =>
  [
    ...UNSTORABLE,
    ['256 characters', json('x'.repeat(IDENTIFIER_CHARS_MAX + 1))] as const,
    ['nothing', '""'] as const,
    ['a blank', '" \\t"'] as const,
    ['null', 'null'] as const,
    ['a number', '42'] as const,
    ['an object', '{"id":"ann"}'] as const,
    ['nobody', '" Undefined "'] as const,
    ['the zero uuid', '"00000000-0000-0000-0000-000000000000"'] as const,
    ['an object that was made a text', '"[object Object]"'] as const,
  ].map(([what, text]) => ({
    what: `${name}: ${what}`,
    members: { [name]: text },
    path: `/${name}`,
  })),
);

const times: Hostile[] = [
  ...['"yesterday"', '"2026-02-30T12:00:00Z"', '"2026-11-20T12:00:00"', '1795000000', 'null'].map(
    (text) => ({
      what: `occurred_at: ${text}`,
      members: { occurred_at: text },
      path: '/occurred_at',
    }),
  ),
  ...['"0000-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"', fromNow(2 * DAY_MS)].map((text) => ({
    what: `occurred_at: ${text}`,
    members: { occurred_at: text },
    ...outOfRange,
  })),
  {
    what: 'occurred_at: before the timeline',
    members: { occurred_at: fromNow(-YEARS_3_MS) },
    ...outOfRange,
  },
  {
    what: 'occurred_at: 31 days back with a publishable key',
    members: { occurred_at: fromNow(-31 * DAY_MS) },
    ...outOfRange,
    key: 'publishable',
  },
];

const messageIds: Hostile[] = [
  ...UNSTORABLE,
  ['256 characters', json('x'.repeat(MESSAGE_ID_CHARS_MAX + 1))] as const,
  ['nothing', '""'] as const,
  ['null', 'null'] as const,
  ['a number', '1'] as const,
].map(([what, text]) => ({
  what: `message_id: ${what}`,
  members: { message_id: text },
  path: '/message_id',
}));

const strangers: Hostile[] = ['userId', '__proto__', 'constructor', 'a~1b'].map((name) => ({
  what: `unknown member: ${name}`,
  // Defined, not assigned: one of the names is __proto__.
  members: Object.fromEntries([[name, '{"external_id":"eve"}']]),
  path: `/${name.replaceAll('~', '~0')}`,
}));

/** Wrong in an event and in an identify alike. */
export const hostileToBoth: Hostile[] = [...identifiers, ...times, ...messageIds, ...strangers];

/** What no map of scalars, and no map of traits, may hold. */
const inMap = (member: string): Hostile[] => [
  ...['null', '[]', '"text"', '1'].map((text) => ({
    what: `${member}: ${text}`,
    members: { [member]: text },
    path: `/${member}`,
  })),
  ...[...UNSTORABLE, ...UNSAFE].map(([what, text]) => ({
    what: `${member}: ${what}`,
    members: { [member]: `{"good":1,"bad":${text}}` },
    path: `/${member}/bad`,
  })),
  ...UNSTORABLE.map(([what, text]) => ({
    what: `${member}: a name with ${what}`,
    members: { [member]: `{${text}:1}` },
    path: `/${member}/${String(JSON.parse(text)).toWellFormed()}`,
  })),
  { what: `${member}: no name`, members: { [member]: '{"":1}' }, path: `/${member}/` },
];

const name = (chars: number): string => 'k'.repeat(chars + 1);
/** The path of an issue shows so much of a long name. */
const shown = (long: string): string => `${long.slice(0, POINTER_NAME_CHARS_MAX)}…`;

export const hostileEvents: Hostile[] = [
  ...['"Signed Up"', '"signedUp"', '"signed__up"', '""', '"\\u0000"', 'null', '7', '{}'].map(
    (text) => ({ what: `event: ${text}`, members: { event: text }, path: '/event' }),
  ),
  {
    what: 'event: 101 characters',
    members: { event: json('x'.repeat(EVENT_NAME_CHARS_MAX + 1)) },
    path: '/event',
  },
  { what: 'whole: nobody is named', members: { external_id: null }, path: '' },
  ...inMap('properties'),
  ...['null', '{}', '{"c":1}', '[]', '[1]', deep('[', ']'), deep('{"a":', '}')].map((text) => ({
    what: `properties: ${text.slice(0, 8)} for a value`,
    members: { properties: `{"good":true,"bad":${text}}` },
    path: '/properties/bad',
  })),
  {
    what: 'properties: 65 of them',
    members: { properties: object(PROPERTY_KEYS_MAX + 1) },
    path: '/properties',
  },
  {
    what: 'properties: a name of 256 characters',
    members: { properties: json({ [name(PROPERTY_KEY_CHARS_MAX)]: 1 }) },
    path: `/properties/${shown(name(PROPERTY_KEY_CHARS_MAX))}`,
  },
  {
    what: 'properties: a text of more than 8 KiB',
    members: { properties: json({ bad: 'v'.repeat(PROPERTY_STRING_BYTES_MAX + 1) }) },
    path: '/properties/bad',
  },
  { what: 'whole: more than 32 KiB', members: { properties: object(5, LARGE) }, path: '' },
];

const pathOfDepth = `/traits/deep${'/0'.repeat(TRAIT_DEPTH_MAX - 1)}`;

export const hostileIdentifies: Hostile[] = [
  { what: 'whole: nobody is named', members: { external_id: null }, path: '/external_id' },
  ...inMap('traits'),
  ...['"no address"', '"a@x.test, b@x.test"', '1', '["a@x.test"]'].map((text) => ({
    what: `traits: ${text} for email`,
    members: { traits: `{"email":${text}}` },
    path: '/traits/email',
  })),
  {
    what: 'traits: six levels',
    members: { traits: '{"deep":[[[[[]]]]]}' },
    path: pathOfDepth,
  },
  {
    what: 'traits: thousands of levels',
    members: { traits: `{"deep":${deep('[', ']')}}` },
    path: pathOfDepth,
  },
  {
    what: 'traits: 257 of them',
    members: { traits: object(TRAIT_KEYS_MAX + 1) },
    path: '/traits',
  },
  {
    what: 'traits: a name of 256 characters',
    members: { traits: json({ [name(TRAIT_KEY_CHARS_MAX)]: 1 }) },
    path: `/traits/${shown(name(TRAIT_KEY_CHARS_MAX))}`,
  },
  {
    what: 'traits: more than 32 KiB',
    members: { traits: json({ bad: 'v'.repeat(TRAITS_BYTES_MAX) }) },
    path: '/traits',
  },
];
