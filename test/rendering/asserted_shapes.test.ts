// A page gives a trait another shape than a template expects: the email of a server goes as if no page had asserted it.
import { expect, test } from 'vitest';
import { makeGuard } from '../../src/rendering/links/foreign.ts';
import { renderSafely } from '../../src/rendering/guard.ts';
import { render } from '../../src/rendering/render.ts';
import { show } from '../../src/rendering/show.ts';
import { toSample } from '../../src/rendering/variables.ts';

const variables = { profile: {}, event: {}, run: {}, project: {}, unsubscribe_url: '' };
const EMAIL = 'ann@example.com';
const rest = { run: {}, project: { name: 'Shop' }, unsubscribe_url: 'https://mail.example/u/t' };
type Template = { subject?: string; html?: string };

/** The email of a server's event to a person whose page asserted these traits, and the preview of it. */
const renderFor = (asserted: object, template: Template, ofServer: object = {}) => {
  const browserNames = Object.keys(asserted);
  const person = { traits: { ...ofServer, ...asserted }, email: EMAIL, browserNames };
  const known = toSample(person, null, EMAIL);
  const source = {
    subject: 'Receipt',
    html: '<p>Hi</p>',
    text: null,
    preheader: null,
    ...template,
  };
  const given = { ...known.sample, ...rest };
  const guard = known.asserted && makeGuard({ source, variables: given, asserted: known.asserted });
  const shown = show({ source, variables: given }, guard);
  return { outcome: render(source, given, { guard }), shown };
};

const ADDRESS = {
  html: '<p>{% if profile.address %}Ships to {{ profile.address.city }}{% else %}Thanks{% endif %}</p>',
};
const ITEMS = {
  html: '<p>{% if profile.items %}{% for i in profile.items %}{{ i.name }}{% endfor %}{% endif %}Thanks</p>',
};
const NAME = {
  subject: '{% if profile.first_name %}{{ profile.first_name }}{% else %}Your receipt{% endif %}',
};
const FILTERED = {
  html: '<p>{% if profile.items %}{{ profile.items | where: "sku", "a" | size }}{% endif %}Thanks</p>',
};
const LINKED = {
  html: '<a href="https://shop.co{% if profile.path %}{{ profile.path }}{% endif %}">go</a>',
  ...NAME,
};

const CASES: [string, object, Template, object][] = [
  ['a text where an object is read', { address: 'abc' }, ADDRESS, { html: '<p>Thanks</p>' }],
  ['a boolean where an object is read', { address: true }, ADDRESS, { html: '<p>Thanks</p>' }],
  ['a number where an object is read', { address: 3 }, ADDRESS, { html: '<p>Thanks</p>' }],
  ['a list where an object is read', { address: ['abc'] }, ADDRESS, { html: '<p>Thanks</p>' }],
  ['an object without the member', { address: { a: 1 } }, ADDRESS, { html: '<p>Thanks</p>' }],
  [
    'a link that is cleaned to nothing',
    { first_name: 'evil.com' },
    NAME,
    { subject: 'Your receipt' },
  ],
  ['texts in a loop that reads members', { items: ['abc'] }, ITEMS, { html: '<p>Thanks</p>' }],
  ['a text that fails a filter', { items: 'abc' }, FILTERED, { html: '<p>Thanks</p>' }],
  ['a number that fails a filter', { items: 3 }, FILTERED, { html: '<p>Thanks</p>' }],
  [
    'a link that the guard removes, and a subject that is then empty',
    { path: 'm/x', first_name: 'Ann' },
    LINKED,
    { subject: 'Your receipt' },
  ],
];

test.each(CASES)('attack: %s does not end the email of a server', (_, asserted, template, made) => {
  const without = renderFor({}, template);
  expect(without.outcome).toMatchObject({ kind: 'rendered', message: made });
  const { outcome, shown } = renderFor(asserted, template);
  expect(outcome).toMatchObject({ kind: 'rendered', message: made });
  expect(shown).toMatchObject({ kind: 'shown', message: made });
});

test('a value is empty where that suffices: only what cannot be rendered so loses its names', () => {
  const html = '<p>{{ profile.first_name }}{{ profile.tags | base64_decode }}, thanks</p>';
  const { outcome } = renderFor({ tags: '-', first_name: 'Ann' }, { html });
  expect(outcome).toMatchObject({ kind: 'rendered', message: { html: '<p>, thanks</p>' } });
});

test('values of a server stay, whatever a page asserts', () => {
  const html = `${ADDRESS.html}<p>{{ profile.order }}</p>`;
  const { outcome } = renderFor({ address: 'abc' }, { html }, { order: 'https://shop.example/7' });
  expect(outcome).toMatchObject({
    kind: 'rendered',
    message: { html: '<p>Thanks</p><p>https://shop.example/7</p>' },
  });
});

test('an email that fails without the asserted values, too, fails for its first reason', () => {
  const html = `${ADDRESS.html}<p>{{ profile.missing }}</p>`;
  const { outcome, shown } = renderFor({ address: 'abc' }, { html });
  expect(outcome).toMatchObject({ kind: 'failed', missing: 'profile.address.city' });
  expect(shown).toMatchObject({
    kind: 'shown',
    warnings: expect.arrayContaining([expect.objectContaining({ warning: 'missing_variable' })]),
  });
});

test('a template that takes too long is rendered once more, without the asserted values', () => {
  const late = new Error('template render limit exceeded');
  const guard = {
    list: <T>(given: T) => given,
    listBare: () => [{ ...variables }, { ...variables }],
    check: <T>(message: T) => message,
  };
  const isFinal = (error: unknown) => error === late;
  const tried: unknown[] = [];
  const failing = (isLate: (tries: number) => boolean) => (given: unknown) => {
    tried.push(given);
    throw isLate(tried.length) ? late : new Error('another');
  };
  const render = (isLate: (tries: number) => boolean) =>
    renderSafely(failing(isLate), variables, { guard, isFinal });
  expect(() => render((tries) => tries === 1)).toThrow(late);
  expect(tried).toHaveLength(3);
  tried.length = 0;
  expect(() => render(() => true)).toThrow(late);
  expect(tried).toHaveLength(2);
});
