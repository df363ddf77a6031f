// Forms of hosts that software finds in text and in CSS: none of a browser’s making is sent.
import { describe, expect, test } from 'vitest';
import { TRAITS_BYTES_MAX } from '../../src/profiles/traits.ts';
import { A, B, link, renderFor, shownTo, sourceOf } from './shown_email.ts';

test.each([
  ['in a list', `<p>Hi ${A}</p>`, { a: ['ann@example.com', 'munity/login'] }],
  ['of two values', `<p>Hi ${A}${B}</p>`, { a: 'ann@example.com', b: 'munity/login' }],
  ['behind a host', link(`https://app.co${A}`), { a: ['ann@example.com', 'munity/login'] }],
  ['with a path', `<p>Hi ${A}</p>`, { a: ['ann@example.com', '/login'] }],
  ['behind another word', `<p>Hi ${A}</p>`, { a: ['evil.app', 'ann@example.com'] }],
])('attack: the recipient’s address is part of a foreign host, %s', (_, html, values) => {
  expect(shownTo(html, values)).not.toMatch(/munity|login|evil/);
});

test('the recipient’s address alone is shown, also at the end of a sentence', () => {
  const html = '<p>Hi {{ profile.email }}. Write to {{ event.a }}, or call.</p>';
  expect(shownTo(html, { a: 'ann@example.com' })).toBe(
    '<p>Hi ann@example.com. Write to ann@example.com, or call.</p>',
  );
});

test('attack: a tag of the recipient’s address that is a link is not shown', () => {
  const shown = shownTo('<p>Hi {{ profile.email }}</p>', {}, 'ann+x!www.evil.com/pay!@example.com');
  expect(shown).toBe('<p>Hi </p>');
  const plain = 'ann.b+shop-1@example.com';
  expect(shownTo('<p>Hi {{ profile.email }}</p>', {}, plain)).toBe(`<p>Hi ${plain}</p>`);
});

test('attack: a boolean becomes part of a host; in a condition it counts as false then', () => {
  expect(shownTo(link(`https://${A}app.example/`), { a: true })).toContain('https://app.example/');
  expect(shownTo(link(`https://app.co${A}`), { a: [true] })).toContain('"https://app.co"');
  const html = `<p>{% if event.a %}yes{% else %}no{% endif %}</p>${link(`https://app.co${B}`)}`;
  expect(shownTo(html, { a: false, b: 'm/x' })).toContain('<p>no</p>');
});

test.each([
  ['a dot of the template', `<p>${A}.${B}</p>`, { a: 'evil', b: 'com\u0661' }],
  ['a filter', '<p>{{ event.a | remove: " " }}</p>', { a: 'evil.com.1\u20e3127' }],
  ['a digit behind other letters', `<p>${A}.${B}</p>`, { a: 'банк', b: 'рф\u0661' }],
  ['an address of a network', `<p>${A}</p>`, { a: '8.8.8.8\u2170' }],
])('attack: a host ends before a character that is not ASCII: %s', (_, html, values) => {
  expect(shownTo(html, values)).toBe(
    '<p></p>'.replace('></', html.includes('.{') ? '>.</' : '></'),
  );
});

test.each([
  ['an emoji in a host', `<p>${A}.${B}</p>`, { a: 'paypal🙂', b: 'ws' }, '.'],
  ['a host of an emoji', `<p>${A}.${B}</p>`, { a: '🙂', b: 'to/x' }, '.'],
  ['a network address before a hyphen', `<p>${A}</p>`, { a: '93.184.216.34-pay' }, ''],
  ['a network address before a low line', `<p>${A}</p>`, { a: '93.184.216.34_pay' }, ''],
  ['a host before a low line', `<p>${A}.${B}</p>`, { a: 'evil', b: 'com_x' }, '.'],
  ['a host before a hyphen', `<p>${A}.${B}</p>`, { a: 'evil', b: 'com-x' }, '.'],
  ['an emoji that is no symbol', `<p>${A}.${B}</p>`, { a: 'paypal\u25fd', b: 'ws' }, '.'],
  ['an arrow in a host', `<p>${A}.${B}</p>`, { a: 'paypal\u2194\ufe0f', b: 'ws' }, '.'],
  ['a punctuation emoji in a host', `<p>${A}.${B}</p>`, { a: 'paypal\u203c\ufe0f', b: 'ws' }, '.'],
  ['a mark behind a top-level domain', `<p>${A}.${B}</p>`, { a: 'банк', b: 'рф\u0301' }, '.'],
])('attack: software makes a link of %s', (_, html, values, left) => {
  expect(shownTo(html, values)).toBe(`<p>${left}</p>`);
});

test.each([1, 5, 11, 24])(
  'attack: a host stands between %i changes to other characters and back',
  (changes) => {
    const others = 'яa'.repeat(changes);
    const shown = shownTo(`<p>${A}.${B}</p>`, { a: `${others}яevil`, b: `com${others}` });
    expect(shown).toBe('<p>.</p>');
  },
);

test('attack: a word of many dots and other characters costs no email that a server caused', () => {
  const html = `{% for i in (1..event.n) %}${A}.{% endfor %}`;
  for (const a of ['я', 'яa', 'aя', 'a'])
    expect(shownTo(html, { n: 9_900, a }).length).toBeLessThan(1_000_000);
}, 20_000);

test('an emoji beside a host of the template is no other host', () => {
  const html = '<p>{{ event.a }} https://app.example🙂 and app.example</p>';
  expect(shownTo(html, { a: 'Ann' })).toBe('<p>Ann https://app.example🙂 and app.example</p>');
});

test.each([
  ['a percent-encoded letter', ['!', 'ann@example.com', '%6dunity/x']],
  ['a symbol that is read as a letter', ['!', 'ann@example.com', '\u24dcunity/x']],
  ['a percent-encoded dot', ['!', 'ann@example.com', '%2eco/x']],
  ['a query', ['!', 'ann@example.com', '?x']],
])('attack: the recipient’s address continues as a host behind %s', (_, a) => {
  expect(shownTo(link(`https://app.co${A}`), { a })).toContain('href="https://app.co"');
});

test.each([
  ['an image', `<p style="background:url(${A})">x</p>`],
  ['a declaration', `<p style="color:red;background:url(${A})">x</p>`],
  ['a style sheet', `<style>p { background: url(${A}) }</style><p>x</p>`],
])('attack: escapes of CSS spell a foreign host: %s', (_, html) => {
  const a = String.raw`https\00003a\00002f\00002fevil\00002ecom/x`;
  expect(shownTo(html, { a })).not.toContain('evil');
});

const CSS_PLACES = {
  'a declaration': `<p style="color:${A}">x</p>`,
  'a style sheet': '<style>p { color: {{ event.a | raw }} }</style><p>x</p>',
  'a presentation attribute': `<svg><rect fill="${A}"/></svg>`,
};
const CSS_VALUES = {
  'an escaped quote': String.raw`red;background:url(\00002f\00002f\000027\000040evil\00002ecom/x)`,
  'an escaped parenthesis': String.raw`red;background:url(https\00003a\00002f\00002f\000029\000040evil\00002ecom/x)`,
  'another function': String.raw`red;background:image-set('\00002f\00002fevil\00002ecom/x' 1x)`,
  'a string before it': String.raw`red;content:'url(';background: url(\00002f\00002fevil\00002ecom)`,
  'two strings before it': String.raw`red;content:'a' 'b';background:url(\00002f\00002f\000027\000040evil\00002ecom)`,
  'a comment in a URL before it': String.raw`red;cursor:url(a/*b),url(\00002f\00002f\000027\000040evil\00002ecom)`,
  'a name that is escaped': String.raw`red;background:\000075rl(\00002f\00002f\000027\000040evil\00002ecom)`,
};
test.each(
  Object.entries(CSS_PLACES).flatMap(([place, html]) =>
    Object.entries(CSS_VALUES).map(([name, a]) => [name, place, html, a] as const),
  ),
)('attack: %s spells a foreign host in CSS, in %s', (_name, _place, html, a) => {
  expect(shownTo(html, { a })).not.toContain('evil');
});

test('CSS without URLs keeps its asserted values', () => {
  const html = `<p style="color:${A};font-family:'Open Sans', Arial;width:calc(100% - 2px)">x</p>`;
  expect(shownTo(html, { a: '#ff8800' })).toContain('color:#ff8800;');
});

test.each([
  [
    'behind a bad URL token',
    `red;a:url(a'b);background:image-set("\\00002f\\00002fevil\\00002ecom" 1x)`,
  ],
  [
    'behind a bad URL token and a comment',
    `url(a b/*);background:image-set('\\00002fevil\\00002ecom')`,
  ],
  ['after a scheme without slashes', 'url(https\\00003aevil\\00002ecom/x)'],
  ['after a scheme with one slash', 'url(https\\00003a\\00002fevil\\00002ecom/x)'],
  ['in a style sheet of SVG', `image-set('\\00002f\\00002fevil\\00002ecom')`],
])('attack: a host in CSS %s', (_, value) => {
  for (const html of [
    `<p style="color:${A}">x</p>`,
    `<p style="background:url(${A})">x</p>`,
    `<style>p { color: ${A} }</style>`,
    `<svg><style>p{color:${A}}</style></svg>`,
  ])
    expect(shownTo(html, { a: value })).not.toMatch(/evil|00002f/);
});

test.each([
  ['a list', link(A), { a: ['htt', 'ps:%31249763844'] }],
  ['two values', link(`${A}${B}`), { a: 'https', b: ':%31249763844' }],
  ['a colon of the template', link(`${A}:${B}`), { a: 'https', b: '%31249763844' }],
  ['a scheme of the template', link(`https:${A}`), { a: '%31249763844' }],
  ['one slash', link(`${A}:/${B}`), { a: 'https', b: '%31249763844' }],
])('attack: a scheme without slashes leads to a host: %s', (_, html, values) => {
  const made = shownTo(html, values);
  const href = /href="([^"]*)"/.exec(made)?.[1] ?? '';
  for (const base of ['https://mail.example/', 'http://mail.example/'])
    expect(URL.parse(href, base)?.hostname ?? 'mail.example').toBe('mail.example');
});

test('attack: many schemes in one word cost no email that a server caused', () => {
  const html = `{% for i in (1..event.n) %}${A}{% endfor %}`;
  for (const a of ['l:%_te', 'ttp:%_h', 'a-bcde'])
    expect(shownTo(html, { n: 9_900, a }).length).toBeLessThan(1_000_000);
}, 20_000);

describe('attack: a page ends no email, whatever is too much to read', () => {
  /** A word with so many URLs that the search for hosts reads more than HOSTS_CHARS_MAX characters of it. */
  const manyUrls = Array.from({ length: 3_500 }, (_, at) => `s:/${at}`).join();
  const linked = `https://app.co${A}`;
  const html = (source: string, traits: object = {}) => {
    const outcome = renderFor(sourceOf(source), { a: 'm/x' }, { ...traits });
    return outcome.kind === 'rendered' ? outcome.message.html : outcome.reason;
  };

  test('in the traits of a server', () => {
    const traits = { urls: manyUrls };
    expect(JSON.stringify(traits).length).toBeLessThan(TRAITS_BYTES_MAX);
    expect(html(link(linked), traits)).toBe(link('https://app.co'));
  });

  test('in the template', () => {
    expect(html(`${link(linked)}<p>${manyUrls}</p>`)).toContain(link('https://app.co'));
  });
});
