// A page asserts lists and objects: they show no more than one text, and end no email of a server.
import { describe, expect, test } from 'vitest';
import { ASSERTED_CHARS_MAX, cleanAsserted } from '../../src/rendering/asserted.ts';
import { makeGuard } from '../../src/rendering/links/foreign.ts';
import { render } from '../../src/rendering/render.ts';
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

const charsOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return Array.from(String(value)).length;
  return Object.entries(value).reduce(
    (sum, [name, one]) => sum + (Array.isArray(value) ? 0 : name.length) + charsOf(one),
    0,
  );
};

const long = 'a word '.repeat(14).trim();
const VALUES: Record<string, unknown> = {
  'a list': Array(90).fill(long),
  'lists in lists': Array(30).fill(Array(30).fill(long)),
  'an object': Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`name ${at}`, long])),
  'names alone': Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`name ${at}`, 1])),
  numbers: Array(200).fill(123_456),
};

describe.each(Object.entries(VALUES))('attack: %s', (_, value) => {
  test('shows at most 100 characters, names included', () => {
    expect(charsOf(cleanAsserted(value, null))).toBeLessThanOrEqual(ASSERTED_CHARS_MAX);
  });

  test('in a subject it does not end the email of a server', () => {
    const subject = 'Receipt for {{ profile.first_name | default: "you" }}';
    expect(renderName(value, { subject }).kind).toBe('rendered');
    const html = '<p>Hello {{ profile.first_name | json }}</p>';
    expect(renderName(value, { html }).kind).toBe('rendered');
  });
});

test('a text at the bound stays whole, alone and in a list; one past it is cut', () => {
  const text = 'x'.repeat(ASSERTED_CHARS_MAX);
  expect(cleanAsserted(text, null)).toBe(text);
  expect(cleanAsserted([text], null)).toEqual([text]);
  expect(cleanAsserted([text, 'y'], null)).toEqual([text, '']);
  expect(cleanAsserted(`${text}y`, null)).toBe(text);
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

test('a failure that has another cause is told as it is', () => {
  expect(renderName('Ann', { subject: '{{ profile.missing }}' })).toMatchObject({
    kind: 'failed',
    missing: 'profile.missing',
  });
});
