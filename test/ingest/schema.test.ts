import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from '../../src/base/parse.ts';
import { Refusal } from '../../src/base/refusal.ts';
import type { Issue } from '../../src/base/refusal.ts';
import {
  BATCH_EVENTS_MAX,
  BatchInput,
  EVENT_BYTES_MAX,
  EVENT_NAME_CHARS_MAX,
  EventInput,
  IDENTIFIER_CHARS_MAX,
  MESSAGE_ID_CHARS_MAX,
  NOBODY,
  toSnakeCase,
} from '../../src/ingest/schema.ts';

const good = { event: 'user_signed_up', external_id: 'ann' };

const issuesOf = (value: unknown, schema: Parameters<typeof parse>[0] = EventInput): Issue[] => {
  try {
    parse(schema, value);
    return [];
  } catch (error) {
    if (error instanceof Refusal) return error.extras.issues ?? [];
    throw error;
  }
};
const isGood = (value: unknown): boolean => issuesOf(value).length === 0;

test('the least and the most that an event may say', () => {
  expect(isGood(good)).toBe(true);
  expect(isGood({ event: 'x', anonymous_id: 'a' })).toBe(true);
  const most = {
    ...good,
    anonymous_id: 'anon',
    properties: { a: 1 },
    occurred_at: '2026-01-31T12:00:00+01:00',
    message_id: 'm',
  };
  expect(parse(EventInput, most)).toEqual({ ...most, occurred_at: '2026-01-31T11:00:00.000Z' });
});

test('an event names somebody', () => {
  expect(issuesOf({ event: 'x' })).toEqual([
    { path: '', message: 'external_id or anonymous_id is required' },
  ]);
});

test('unknown members are refused by name', () => {
  expect(issuesOf({ ...good, external_Id: 'x', userId: 'y' }).map(({ path }) => path)).toEqual([
    '/external_Id',
    '/userId',
  ]);
});

describe('names', () => {
  test.each(['a', 'a1', 'user_signed_up', 'v2_button_3_clicked', 'x'.repeat(EVENT_NAME_CHARS_MAX)])(
    '%s is one',
    (event) => {
      expect(isGood({ ...good, event })).toBe(true);
    },
  );

  test.each(['page_viewed', 'element_clicked', 'form_submitted', 'page_left'])(
    '%s is one, as the browser SDK captures it by itself',
    (event) => {
      expect(isGood({ ...good, event })).toBe(true);
    },
  );

  test.each(['sign_up', 'user_signs_up', 'purchase', 'blorb'])(
    '%s is one: whether a verb is in the past tense no pattern can tell',
    (event) => {
      expect(isGood({ ...good, event })).toBe(true);
    },
  );

  test.each([
    '',
    '_a',
    'a_',
    'a__b',
    '1a',
    'A',
    'a b',
    'a-b',
    'ä',
    'a\n',
    'x'.repeat(EVENT_NAME_CHARS_MAX + 1),
  ])('%j is none', (event) => {
    expect(issuesOf({ ...good, event })[0]?.path).toBe('/event');
  });

  test.each([
    ['Signed Up', 'signed_up'],
    ['signedUp', 'signed_up'],
    ['SignedUp', 'signed_up'],
    ['signed-up!', 'signed_up'],
    ['__signed__up__', 'signed_up'],
    ['2nd_visit', 'nd_visit'],
    ['Été_passé', 'ete_passe'],
    ['Order #42 Paid', 'order_42_paid'],
  ])('for %j the refusal proposes %s', (event, proposed) => {
    expect(toSnakeCase(event)).toBe(proposed);
    expect(issuesOf({ ...good, event })).toEqual([
      { path: '/event', message: `must be snake_case: try "${proposed}"` },
    ]);
  });

  test('where nothing can be proposed, an example is given', () => {
    for (const event of ['', '42', '日本', '_'])
      expect(issuesOf({ ...good, event })[0]?.message).toContain('such as signed_up');
  });

  test('whatever is proposed would be accepted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: EVENT_NAME_CHARS_MAX }), (text) => {
        const proposed = toSnakeCase(text);
        if (proposed !== '' && proposed.length <= EVENT_NAME_CHARS_MAX)
          expect(isGood({ ...good, event: proposed })).toBe(true);
      }),
    );
  });

  test('a hostile name of a megabyte is refused', () => {
    for (const event of ['_'.repeat(1_000_000), 'a_'.repeat(500_000), 'A'.repeat(1_000_000)])
      expect(isGood({ ...good, event })).toBe(false);
  });
});

describe.each(['external_id', 'anonymous_id'])('%s', (field) => {
  const one = (value: unknown) => ({ event: 'x', [field]: value });

  test('has 1 to 255 characters of any script', () => {
    for (const value of ['a', 'a b', 'x'.repeat(IDENTIFIER_CHARS_MAX), 'ü👋', '42', 'Nobody'])
      expect(isGood(one(value))).toBe(true);
    for (const value of [
      '',
      ' ',
      '\t\u3000',
      'x'.repeat(IDENTIFIER_CHARS_MAX + 1),
      'a\0',
      '\ud800',
      42,
      null,
      {},
      [],
    ])
      expect(isGood(one(value))).toBe(false);
  });

  test('is never one of the values that name nobody, in any case, with blanks around', () => {
    for (const nobody of NOBODY)
      for (const value of [nobody, nobody.toUpperCase(), ` ${nobody}\t`])
        expect(issuesOf(one(value))).toEqual([
          { path: `/${field}`, message: expect.stringContaining('never names a person') },
        ]);
  });

  test('is never of invisible characters alone', () => {
    const unseen = ['\u200b', '\u200b\u200d\u2060', ' \u200b ', '\u00ad', '\u0001\u007f', '\u202e'];
    for (const value of [...unseen, '\u3164', '\u2800', '\ufe0f', '\u{e0041}', '\u0085'])
      expect(issuesOf(one(value)), JSON.stringify(value)).toEqual([
        { path: `/${field}`, message: expect.stringContaining('never names a person') },
      ]);
    for (const value of ['\u200ba', '👩\u200d💻', 'می\u200cخواهم', '.', '\u0301'])
      expect(isGood(one(value)), JSON.stringify(value)).toBe(true);
  });
});

test('the documented values name nobody', () => {
  const documented = 'null undefined none nil anonymous guest unknown 0 -1 nan true false'.split(
    ' ',
  );
  for (const value of [
    ...documented,
    '[object Object]',
    '00000000-0000-0000-0000-000000000000',
    'email@example.com',
  ])
    expect(NOBODY.has(value.toLowerCase())).toBe(true);
});

test('a message id has 1 to 255 characters that can be stored', () => {
  for (const message_id of ['m', 'x'.repeat(MESSAGE_ID_CHARS_MAX), 'null'])
    expect(isGood({ ...good, message_id })).toBe(true);
  for (const message_id of ['', 'x'.repeat(MESSAGE_ID_CHARS_MAX + 1), 'a\0', '\udfff', 1, null])
    expect(issuesOf({ ...good, message_id })[0]?.path).toBe('/message_id');
});

describe('occurred_at', () => {
  test.each([
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00.123456Z',
    '2026-01-31T12:00:00-08:00',
    '2024-02-29T23:59:59+14:00',
  ])('%s is RFC 3339 with offset', (occurred_at) => {
    expect(isGood({ ...good, occurred_at })).toBe(true);
  });

  test.each([
    '',
    'yesterday',
    '2026-01-31',
    '2026-01-31T12:00:00',
    '2026-02-30T12:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31 12:00:00Z',
    '2026-01-31T12:00:00+01',
    1_769_860_800,
    null,
  ])('%j is not', (occurred_at) => {
    expect(issuesOf({ ...good, occurred_at })[0]?.path).toBe('/occurred_at');
  });
});

describe('the size of an event', () => {
  const sized = (bytes: number) => {
    const event = {
      ...good,
      properties: Object.fromEntries('abcde'.split('').map((key) => [key, ''])),
    };
    let rest = bytes - Buffer.byteLength(JSON.stringify(event));
    for (const key of Object.keys(event.properties)) {
      const here = Math.min(rest, 8_192);
      event.properties[key] = 'x'.repeat(here);
      rest -= here;
    }
    return event;
  };

  test('is at most 32 KiB', () => {
    expect(isGood(sized(EVENT_BYTES_MAX))).toBe(true);
    expect(issuesOf(sized(EVENT_BYTES_MAX + 1))).toEqual([
      { path: '', message: `an event is at most ${EVENT_BYTES_MAX} bytes of JSON` },
    ]);
  });
});

describe('hostile shapes', () => {
  const deep = (levels: number): unknown => {
    let value: unknown = 'x';
    for (let level = 0; level < levels; level += 1) value = { a: value };
    return value;
  };

  test('a hundred thousand levels, anywhere, are refused and overflow nothing', () => {
    for (const value of [
      { ...good, properties: { deep: deep(100_000) } },
      { ...good, properties: deep(100_000) },
      { ...good, event: deep(100_000) },
      { ...good, extra: deep(100_000) },
      deep(100_000),
    ])
      expect(isGood(value)).toBe(false);
  });

  test.each([null, undefined, 1, 'x', [], [good], true])('%j is no event', (value) => {
    expect(isGood(value)).toBe(false);
  });

  test('__proto__ as a property is data, as a member it is unknown', () => {
    const data: unknown = JSON.parse(
      '{"event":"x","external_id":"a","properties":{"__proto__":"y"}}',
    );
    const { properties } = parse(EventInput, data);
    expect(JSON.stringify(properties)).toBe('{"__proto__":"y"}');
    const member: unknown = JSON.parse(
      '{"event":"x","external_id":"a","__proto__":{"message_id":"m"}}',
    );
    expect(issuesOf(member)[0]?.path).toBe('/__proto__');
  });
});

describe('a batch', () => {
  const batch = (count: number) => ({ events: Array<unknown>(count).fill(good) });

  test('holds 1 to 50 events', () => {
    expect(issuesOf(batch(1), BatchInput)).toEqual([]);
    expect(issuesOf(batch(BATCH_EVENTS_MAX), BatchInput)).toEqual([]);
    for (const count of [0, BATCH_EVENTS_MAX + 1])
      expect(issuesOf(batch(count), BatchInput)).toEqual([
        { path: '/events', message: 'a batch holds between 1 and 50 events' },
      ]);
  });

  test('names every bad event by its place', () => {
    const events = [
      good,
      { ...good, event: 'Bad' },
      good,
      { event: 'x' },
      { ...good, properties: { a: null } },
    ];
    expect(issuesOf({ events }, BatchInput).map(({ path }) => path)).toEqual([
      '/events/1/event',
      '/events/3',
      '/events/4/properties/a',
    ]);
  });
});
