// A page asserts lists, objects and many names: they show no more than a few texts, and end no email of a server.
import { describe, expect, test } from 'vitest';
import {
  ASSERTED_CHARS_MAX,
  ASSERTED_LISTED_MAX,
  cleanAsserted,
} from '../../src/rendering/asserted.ts';
import { makeGuard } from '../../src/rendering/links/foreign.ts';
import { render } from '../../src/rendering/render.ts';
import { show } from '../../src/rendering/show.ts';
import { toSample } from '../../src/rendering/variables.ts';

const EMAIL = 'ann@example.com';
const rest = { run: {}, project: { name: 'Shop' }, unsubscribe_url: 'https://mail.example/u/t' };

/** The email of a server's event to a person whose page asserted a first name. */
const renderName = (first_name: unknown, given: object = {}) => {
  const person = { traits: { first_name }, email: EMAIL, browserNames: ['first_name'] };
  const { sample, asserted } = toSample(person, null, EMAIL);
  const source = { subject: 'Receipt', html: '<p>Hi</p>', text: null, preheader: null, ...given };
  const variables = { ...sample, ...rest };
  const guard = asserted && makeGuard({ source, variables, asserted });
  return render(source, variables, { guard });
};

/** How many characters the filter `json` prints. */
const charsOf = (value: unknown): number => Array.from(JSON.stringify(value)).length;

const long = 'a word '.repeat(14).trim();
const VALUES: Record<string, unknown> = {
  'a list': Array(90).fill(long),
  'lists in lists': Array(30).fill(Array(30).fill(long)),
  'an object': Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`name ${at}`, long])),
  'names alone': Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`name ${at}`, 1])),
  numbers: Array(200).fill(123_456),
  'lists of empty lists': Array(99).fill(Array(99).fill([])),
  'lists of empty objects': Array(90).fill(Array(90).fill({})),
  'empty texts': Array(400).fill(''),
  nulls: Array(99).fill(Array(99).fill(null)),
  'empty names': Array(99).fill({ '': '' }),
  booleans: Array(99).fill(false),
  'one list in another': JSON.parse('['.repeat(90) + ']'.repeat(90)),
  'quotes and backslashes': [String.raw`say "a\b" `.repeat(30)],
  'the own address, again and again': Array(99).fill(EMAIL),
};

describe.each(Object.entries(VALUES))('attack: %s', (_, value) => {
  test('shows at most 100 characters, names included', () => {
    expect(charsOf(cleanAsserted(value, EMAIL))).toBeLessThanOrEqual(ASSERTED_CHARS_MAX);
  });

  test('in a subject it does not end the email of a server', () => {
    const subject = 'Receipt for {{ profile.first_name | default: "you" }}';
    expect(renderName(value, { subject }).kind).toBe('rendered');
    const html = '<p>Hello {{ profile.first_name | json }}</p>';
    expect(renderName(value, { html }).kind).toBe('rendered');
  });
});

test('a text at the bound stays whole, and is cut one past it; in a list JSON prints as many characters', () => {
  const text = 'x'.repeat(ASSERTED_CHARS_MAX);
  expect(cleanAsserted(text, null)).toBe(text);
  expect(cleanAsserted(`${text}y`, null)).toBe(text);
  const inList = text.slice('[""]'.length);
  expect(cleanAsserted([inList], null)).toEqual([inList]);
  expect(cleanAsserted([`${inList}y`], null)).toEqual([inList]);
  const inObject = text.slice('{"a":""}'.length);
  expect(cleanAsserted({ a: inObject }, null)).toEqual({ a: inObject });
  expect(cleanAsserted({ a: `${inObject}y` }, null)).toEqual({ a: inObject });
});

test.each([
  ['empty lists', [], 33],
  ['empty objects', {}, 33],
  ['empty texts', '', 33],
  ['digits', 7, 49],
  ['nulls', null, 19],
])('of %s a list shows as many as fit, and none of those past the bound', (_, one, fitting) => {
  const list = Array(fitting).fill(one);
  expect(cleanAsserted(list, null)).toEqual(list);
  expect(cleanAsserted([...list, one], null)).toEqual(list);
});

test('what does not fit is left out: a name with its value, a part of the own address, and nothing else', () => {
  const long = 'y'.repeat(ASSERTED_CHARS_MAX - '{"":1}'.length);
  expect(cleanAsserted({ [long]: 1 }, null)).toEqual({ [long]: 1 });
  expect(cleanAsserted({ [`${long}y`]: 1, a: 2 }, null)).toEqual({ a: 2 });
  const room = 'z'.repeat(ASSERTED_CHARS_MAX - `["","${EMAIL}"]`.length);
  expect(cleanAsserted([room, EMAIL], EMAIL)).toEqual([room, EMAIL]);
  expect(cleanAsserted([`${room}z`, EMAIL, 5], EMAIL)).toEqual([`${room}z`, 5]);
  expect(cleanAsserted(EMAIL, EMAIL)).toBe(EMAIL);
  expect(cleanAsserted(null, null)).toBeNull();
});

test('a text that is cut in a list ends with no mark of a URL', () => {
  const text = `${'a'.repeat(ASSERTED_CHARS_MAX - '[""]'.length - 1)}.1`;
  expect(cleanAsserted([text, 'com'], null)).toEqual([text.slice(0, -2)]);
});

describe('of a profile or an event with many asserted names', () => {
  const nameOf = (at: number) => `a${String(at).padStart(3, '0')}`;
  const asserted = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [nameOf(at), `v${at}.`]));
  const last = nameOf(ASSERTED_LISTED_MAX);
  const LOOP = (part: string) =>
    `{% for one in ${part} %}{{ one[0] }} {% endfor %}|{{ ${part} | json }}|{{ ${part}.${last} }}`;

  const renderMany = (part: 'profile' | 'event', count: number, html = LOOP(part)) => {
    const traits = { ...(part === 'profile' ? asserted(count) : {}), zip: '1010' };
    const person = { traits, email: EMAIL, browserNames: Object.keys(asserted(count)) };
    const properties = part === 'event' ? asserted(count) : {};
    const happened = {
      name: 'left',
      properties,
      occurred_at: new Date(0),
      source: 'browser',
    } as const;
    const known = toSample(person, happened, EMAIL);
    // As a thread receives them.
    const variables = structuredClone({ ...known.sample, ...rest });
    const source = { subject: 'Receipt', html, text: null, preheader: null };
    const guard = known.asserted && makeGuard({ source, variables, asserted: known.asserted });
    return {
      outcome: render(source, variables, { guard }),
      shown: show({ source, variables }, guard),
    };
  };

  const printedIn = (html: string) => {
    const [loop = '', json = '', found = ''] = html.split('|');
    const count = (text: string) => new Set(text.match(/a\d{3}/g)).size;
    return { loop: count(loop), json: count(json), found };
  };

  test.each(['profile', 'event'] as const)('loops and json print few of the %s', (part) => {
    for (const count of [ASSERTED_LISTED_MAX + 1, 200]) {
      const { outcome, shown } = renderMany(part, count);
      const printed = {
        loop: ASSERTED_LISTED_MAX,
        json: ASSERTED_LISTED_MAX,
        found: `v${ASSERTED_LISTED_MAX}`,
      };
      expect(outcome).toMatchObject({ kind: 'rendered' });
      expect(shown).toMatchObject({ kind: 'shown' });
      for (const one of [outcome, shown])
        if ('message' in one) expect(printedIn(one.message.html)).toEqual(printed);
    }
    const atBound = renderMany(part, ASSERTED_LISTED_MAX, `{{ ${part} | json }}`).outcome;
    if (atBound.kind === 'rendered')
      expect(printedIn(`|${atBound.message.html}`)).toMatchObject({ json: ASSERTED_LISTED_MAX });
  });

  test('what a server said is printed, behind however many of them', () => {
    const { outcome } = renderMany('profile', 200, '{{ profile | json }}');
    expect(outcome).toMatchObject({ message: { html: expect.stringContaining('1010') } });
  });

  test('an email whose values would make a link finds each by name, empty', () => {
    const html = `<a href="https://shop.co{{ profile.a001 }}">[{{ profile.${nameOf(150)} }}]</a>`;
    const { outcome } = renderMany('profile', 200, html);
    const message = { html: '<a href="https://shop.co">[]</a>' };
    expect(outcome).toMatchObject({ kind: 'rendered', message });
  });
});

const UNPRINTABLE: unknown[] = [
  { toString: 'x', valueOf: 1 },
  { size: { toString: 1 } },
  [{ toString: null }],
];

test.each(UNPRINTABLE.map((value) => [JSON.stringify(value), value]))(
  'attack: %s cannot be printed, and does not end the email of a server',
  (_, value) => {
    const subject = 'Receipt for {{ profile.first_name }}!';
    const outcome = renderName(value, { subject });
    expect(outcome).toMatchObject({
      kind: 'rendered',
      message: { subject: expect.stringMatching(/^Receipt for/) },
    });
  },
);

test('a failure that has another cause is reported unchanged', () => {
  expect(renderName('Ann', { subject: '{{ profile.missing }}' })).toMatchObject({
    kind: 'failed',
    missing: 'profile.missing',
  });
});
