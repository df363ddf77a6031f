// Whether an email shows anything that only a browser asserted: only such an email waits behind lanes that pages make
// slow, and only its refusal may be about the words of a page.
import { expect, test } from 'vitest';
import { makeGuard } from '../../src/rendering/links/foreign.ts';
import { render } from '../../src/rendering/render.ts';
import { toSample } from '../../src/rendering/variables.ts';

const EMAIL = 'ann@example.com';
const rest = { run: {}, project: { name: 'Shop' }, unsubscribe_url: 'https://mail.example/u/t' };

/** Renders for a person with a plan from a server, and a nickname and a city from a page. */
const renderFor = (html: string, isBare = false) => {
  const traits = { plan: 'pro', nick: 'Annie', city: 'Ulm' };
  const person = { traits, email: EMAIL, browserNames: ['nick', 'city'] };
  const known = toSample(person, null, EMAIL);
  const source = { subject: 'Receipt', html, text: null, preheader: null };
  const variables = { ...known.sample, ...rest };
  const { asserted } = known;
  const guard = asserted && makeGuard({ source, variables, asserted });
  const outcome = render(source, variables, { guard, isBare });
  if (outcome.kind === 'failed') throw new Error(outcome.reason);
  return outcome.showsAsserted;
};

test.each([
  ['nothing of the person', '<p>Thanks</p>', false],
  ['what a server said', '<p>{{ profile.plan }} {{ profile.email }}</p>', false],
  ['a trait of a page', '<p>{{ profile.nick }}</p>', true],
  ['a condition on its value', '<p>{% if profile.nick == "Annie" %}Hi{% endif %}</p>', true],
  // It is sent alike without the value.
  ['whether there is one', '<p>{% if profile.nick %}Hi{% endif %}</p>', false],
  [
    'a condition that comes out the same',
    '<p>{% if profile.nick == "Bob" %}Hi{% endif %}</p>',
    false,
  ],
  ['a name that is computed', '{% assign name = "nick" %}<p>{{ profile[name] }}</p>', true],
  ['all traits', '<p>{{ profile | json }}</p>', true],
  ['names of traits in a loop', '<p>{% for one in profile %}{{ one[0] }}{% endfor %}</p>', true],
])('an email that reads %s', (_what, html, expected) => {
  expect(renderFor(html)).toBe(expected);
});

test('an email that is rendered without them shows none', () => {
  expect(renderFor('<p>{{ profile.nick | default: "you" }}</p>', true)).toBe(false);
});

test('an email that would lead to a host that a page names is sent without, and shows none', () => {
  const html = '<a href="https://shop.co{{ profile.nick }}">go</a>';
  expect(renderFor(html)).toBe(false);
});
