// Whatever a browser asserts, and wherever a template prints it: no email leads to a host but the template's.
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { expect, test } from 'vitest';
import { render } from '../../src/rendering/render.ts';
import type { Rendered } from '../../src/rendering/render.ts';
import { toSample } from '../../src/rendering/variables.ts';
import { A, B, C, happened, link, renderFor, rest, sourceOf, UNSUBSCRIBE } from './shown_email.ts';
import type { Values } from './shown_email.ts';

const linkify = new MarkdownIt().linkify.set({ fuzzyIP: true });
const BASE = 'https://relative.invalid/';

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
