// Whatever a browser asserts, and wherever a template prints it: no email leads to a host but the template's.
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { expect, test } from 'vitest';
import { makeGuard } from '../../src/rendering/links/foreign.ts';
import { render } from '../../src/rendering/render.ts';
import type { Rendered } from '../../src/rendering/render.ts';
import { toSample } from '../../src/rendering/variables.ts';

const linkify = new MarkdownIt().linkify.set({ fuzzyIP: true });
const BASE = 'https://relative.invalid/';

type Values = Record<string, unknown>;
const UNSUBSCRIBE = 'https://mail.shop.example/u/token';
const rest = { run: {}, project: { name: 'Shop' }, unsubscribe_url: UNSUBSCRIBE };
const sourceOf = (html: string, given: object = {}) => ({
  subject: 'Hello',
  html,
  text: null,
  preheader: null,
  ...given,
});
const happened = (properties: object) =>
  ({ name: 'e', properties, occurred_at: new Date(0), source: 'browser' }) as const;

/** What an email says whose event a browser sent. */
const renderFor = (
  source: ReturnType<typeof sourceOf>,
  values: Values,
  traits: Values = {},
  browserNames: string[] = [],
) => {
  const email = 'ann@example.com';
  const known = toSample({ traits, email, browserNames }, happened(values), email);
  const variables = { ...known.sample, ...rest };
  const guard = known.asserted && makeGuard({ source, variables, asserted: known.asserted });
  return render(source, variables, { guard });
};

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', '#34': '"', '#39': "'" };
const decode = (text: string) =>
  text.replaceAll(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);

/** The hosts of an email as the parser of URLs and a linkifier of others see them. */
const hostsOf = ({ subject, html, text }: Rendered): string[] => {
  const attributes = Array.from(
    html.matchAll(/(?:href|src)="([^"]*)"/g),
    ([, value = '']) => value,
  );
  const styles = Array.from(html.matchAll(/url\(([^)]*)\)/g), ([, value = '']) => value);
  const sources = Array.from(html.matchAll(/srcset="([^"]*)"/g)).flatMap(([, value = '']) =>
    value.split(/[\s,]+/),
  );
  const urls = [...attributes, ...styles, ...sources].map((value) => decode(value));
  const texts = html.split(/<[^>]*>/).map((one) => decode(one));
  const linked = [...texts, text, subject].flatMap((one) =>
    (linkify.match(one) ?? []).map(({ url }) => url.replace(/^mailto:[^@]*@/, 'https://')),
  );
  return [...urls, ...linked].flatMap((written) => {
    const url = URL.parse(written, BASE);
    if (url === null || url.hostname === new URL(BASE).hostname) return [];
    return [
      /^https?:$/.test(url.protocol) ? url.hostname.replaceAll(/^\.+|\.+$/g, '') : url.protocol,
    ];
  });
};

/** Hosts besides those of the template, and of what it says when every text and number is empty. */
const foreignTo = (message: Rendered, source: ReturnType<typeof sourceOf>, values: Values) => {
  const empty = Object.fromEntries(Object.keys(values).map((name) => [name, '']));
  const bare = render(source, { ...toSample(null, happened(empty)).sample, ...rest });
  const known = new Set(bare.kind === 'rendered' ? hostsOf(bare.message) : []);
  return hostsOf(message).filter(
    (host) =>
      host !== '' &&
      !known.has(host) &&
      !/(?:^|\.)app\.(?:example|co)$|^mail\.shop\.example$/.test(host),
  );
};

const A = '{{ event.a }}';
const B = '{{ event.b }}';
const C = '{{ event.c }}';
const link = (url: string) => `<p><a href="${url}">go</a></p>`;
const PLACES = {
  'the whole URL': link(A),
  'the whole URL of several': link(A + B + C),
  'the scheme': link(`${A}://app.example/`),
  'behind a scheme': link(`https:${A}`),
  'the host': link(`https://${A}/x`),
  'the host without a path': link(`https://${A}`),
  'the host of several': link(`https://${A}.${B}/x`),
  'the host of a relative URL': link(`//${A}/x`),
  'a label of the host': link(`https://${A}.app.example/`),
  'behind the host': link(`https://app.example${A}`),
  'behind the host, of several': link(`https://app.example${A}${B}${C}`),
  'behind the beginning of a host': link(`https://app.co${A}`),
  'the port': link(`https://app.example:${A}/`),
  'the user': link(`https://${A}@app.example/`),
  'behind a user': link(`https://app.example@${A}/`),
  'the path': link(`https://app.example/${A}`),
  'a relative path': link(`/${A}/${B}`),
  'the query': link(`https://app.example/?q=${A}&to=${B}`),
  'the fragment': link(`https://app.example/#${A}`),
  'an image': `<img src="https://app.example/${A}.png"><img srcset="${A} 2x, /${B} 3x">`,
  'a style': `<p style="background:url(${A})">x</p>`,
  'a comment for Outlook': `<!--[if mso]>${link(`https://${A}`)}<![endif]-->`,
  'a text': `<p>Hi ${A}, welcome.</p>`,
  'texts around a dot': `<p>Hi ${A}.${B}</p>`,
  'texts side by side': `<p>${A}${B}${C}</p>`,
  'texts around an at sign': `<p>${A}@${B}</p>`,
  'behind a domain in a text': `<p>See app.example${A}</p>`,
  'behind www': `<p>www.${A}</p>`,
  'behind two slashes in a text': `<p>https://${A}</p>`,
};
const FILTERS = [
  '',
  '| raw',
  '| url_decode',
  '| url_decode | url_decode',
  '| downcase | raw',
  '| remove: "-" | raw',
  '| replace: "x", "."',
  '| replace: " ", ""',
  '| split: "-" | join: "."',
  '| slice: 1, 20',
  '| truncate: 9, ""',
  '| strip_html',
  '| prepend: "a."',
  '| plus: 167772160',
];

const PARTS = (
  'evil com m co uk ann www app.example evil.com . .. 。 ． ｡ %2e %2E %252e %E3%80%82 @ ＠ %40 : %3a / // \\ %2f / ' +
  '? # %23 - _ x ＆ & &#46; &period; < > " \' http https:// javascript: data: mailto: tel: 10 1.1.1.1 167772161 ' +
  '0xa000001 012.1 １６７７７２１６１ ①⑥⑦ ٣ [::1] \u200B \u00AD \uFEFF \t \n ℀ ℅ ㏂ localhost xn--e1afmkfd.xn--p1ai рф ' +
  '🙂 ws 93.184.216.34 -pay'
).split(' ');
const Value = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.constantFrom(...PARTS), { maxLength: 5 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }).map((text) => [text]) },
  { weight: 1, arbitrary: fc.nat().map((number) => [String(number)]) },
);
const Text = Value.map((parts) => parts.join(''));
const Any = fc.oneof(
  { weight: 5, arbitrary: Text },
  { weight: 1, arbitrary: fc.constantFrom(167_772_161, 3, 0, null) },
);

const withFilter = (place: string, filter: string) => place.replaceAll(' }}', ` ${filter} }}`);

test('attack: values of a browser at every place of a URL and in text make no link to a foreign host', () => {
  const seen = { rendered: 0, failed: 0, foreignWithoutGuard: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(PLACES)),
      fc.constantFrom(...FILTERS),
      fc.record({ a: Any, b: Any, c: Text }),
      (place, filter, values) => {
        const source = sourceOf(withFilter(place, filter));
        const outcome = renderFor(source, values);
        seen[outcome.kind] += 1;
        if (outcome.kind === 'failed') return;
        const { sample } = toSample(null, happened(values));
        const without = render(source, { ...sample, ...rest });
        if (without.kind === 'rendered' && foreignTo(without.message, source, values).length > 0)
          seen.foreignWithoutGuard += 1;
        expect(foreignTo(outcome.message, source, values)).toEqual([]);
      },
    ),
    { numRuns: 6_000 },
  );
  // The attack is one: without the guard, templates that print values at such places lead elsewhere.
  expect(seen.rendered).toBeGreaterThan(4_000);
  expect(seen.foreignWithoutGuard).toBeGreaterThan(50);
}, 120_000);

const shown = (html: string, values: Values, ...known: [Values?, string[]?]) => {
  const outcome = renderFor(sourceOf(html), values, ...known);
  if (outcome.kind === 'failed') throw new Error(outcome.reason);
  return outcome.message.html;
};

test.each([
  ['the rest of a host', 'https://shop.co{{ event.a }}', { a: 'm/x' }, 'https://shop.co'],
  ['a number as the host', 'https://{{ event.a }}/x', { a: '167772161' }, 'https:///x'],
  ['a JSON number as the host', 'https://{{ event.a }}/x', { a: 167_772_161 }, 'https:///x'],
  [
    'a host in two values',
    'https://{{ event.a }}.{{ event.b }}/',
    { a: 'evil', b: 'com' },
    'https://./',
  ],
  [
    'a name at the at sign of a template',
    'https://app.example{{ event.a }}',
    { a: '@ann' },
    'https://app.example',
  ],
  [
    'a shop of another owner',
    'https://{{ event.a }}.github.io/',
    { a: 'evil' },
    'https://.github.io/',
  ],
])('attack: %s: the email shows all asserted values empty', (_, url, values, left) => {
  const html = shown(`<a href="${url}">{{ event.name }}</a>`, { ...values, name: 'Ann' });
  expect(html).toBe(`<a href="${left}"></a>`);
});

test.each([
  ['behind other letters', '+𝐜𝐨𝐦evil .com⒈'],
  ['before a compatible mark', 'x。evil .com℀'],
  ['between other letters', 'рevil .comр'],
  ['as an address before a low line', '8.8. 8.8_‥'],
])('attack: a filter joins a host %s', (_, joined) => {
  const html = '<p>Hi {{ event.a | split: " " | join: "" }}</p>';
  expect(shown(html, { a: joined })).toBe('<p>Hi </p>');
});

test.each([
  ['a host below the template’s', 'https://{{ event.a }}.app.example/', 'https://ann.app.example/'],
  ['a path of the template’s host', 'https://app.example/{{ event.a }}', 'https://app.example/ann'],
  [
    'a host that a server named',
    'https://{{ profile.site }}/{{ event.a }}',
    'https://shop.example/ann',
  ],
  [
    'a host in a literal of a tag',
    '{{ "https://app.example/" | append: event.a }}',
    'https://app.example/ann',
  ],
  [
    'a host in a branch that it chooses',
    '{% if event.a == "ann" %}https://app.example{% endif %}',
    'https://app.example',
  ],
  ['the link to unsubscribe', '{{ unsubscribe_url }}?by={{ event.a }}', `${UNSUBSCRIBE}?by=ann`],
  [
    'the recipient’s own address',
    'mailto:{{ profile.email }}?subject={{ event.a }}',
    'mailto:ann@example.com?subject=ann',
  ],
])('%s stays, with the asserted value', (_, url, made) => {
  const html = shown(`<a href='${url}'>go</a>`, { a: 'ann' }, { site: 'shop.example' });
  expect(html).toBe(`<a href='${made}'>go</a>`);
});

test('a trait that only a browser asserted is guarded like an event, and one of a server is not', () => {
  const html = '<a href="https://{{ profile.site }}.{{ profile.end }}/">{{ profile.name }}</a>';
  const traits = { site: 'shop', end: 'com', name: 'Ann' };
  expect(shown(html, {}, traits, ['site', 'end'])).toBe('<a href="https://./">Ann</a>');
  expect(shown(html, {}, traits, [])).toBe('<a href="https://shop.com/">Ann</a>');
});

test('loops print neither names nor values of an email whose values would make a link', () => {
  const html =
    '<a href="https://shop.co{{ event.a }}">{% for one in event %}{{ one[0] }} {% endfor %}</a>' +
    '{% for one in event.list %}[{{ one }}]{% endfor %}';
  expect(shown(html, { a: 'm/x', list: ['b', 'c'] })).toBe(
    '<a href="https://shop.co">event occurred_at </a>[][]',
  );
});

test('an email that cannot do without such values fails and says why', () => {
  const source = sourceOf('<a href="https://shop.co{{ event.a }}">go</a>', {
    subject: '{{ event.a }}',
  });
  expect(renderFor(source, { a: 'm/x' })).toEqual({
    kind: 'failed',
    reason:
      'subject, values that only a browser asserted would make a link to a foreign host, and without them: ' +
      'the subject must be one line of 1 to 998 characters',
    missing: null,
  });
});

/** What an email shows that prints values of a browser beside each other, and the recipient's own address. */
const shownTo = (html: string, values: Values, email = 'ann@example.com') => {
  const known = toSample({ traits: {}, email, browserNames: ['email'] }, happened(values), email);
  const variables = { ...known.sample, ...rest };
  const source = sourceOf(html);
  const guard = known.asserted && makeGuard({ source, variables, asserted: known.asserted });
  const outcome = render(source, variables, { guard });
  return outcome.kind === 'rendered' ? outcome.message.html : outcome.reason;
};

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
])('attack: software makes a link of %s', (_, html, values, left) => {
  expect(shownTo(html, values)).toBe(`<p>${left}</p>`);
});

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
  expect(shownTo(html, { a: 'rgb(1,2,3)' })).toContain('rgb(1,2,3)');
});
