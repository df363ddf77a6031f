// What a browser asserted is rendered without anything that email software makes a link of.
import { expect, test } from 'vitest';
import { ASSERTED_CHARS_MAX, cleanAsserted } from '../../src/rendering/asserted.ts';
import { toSample } from '../../src/rendering/variables.ts';

const clean = (value: unknown, exempt: string | null = null) => cleanAsserted(value, exempt);

test.each([
  ['a scheme', 'Click https://evil.example/x now', 'Click now'],
  ['a bare domain', 'go to evil.com today', 'go to today'],
  ['a domain in brackets', '(evil.com)', ''],
  ['a domain behind a colon', 'see:evil.com', ''],
  ['a trailing dot', 'evil.com.', ''],
  ['an ideographic dot', 'evil。com', ''],
  ['a fullwidth dot', 'evil．com', ''],
  ['fullwidth letters', 'ｅｖｉｌ.ｃｏｍ', ''],
  ['a zero-width space', 'ev\u200Bil.com', ''],
  ['a soft hyphen', 'evil.c\u00ADom', ''],
  ['a bidi override', '\u202Emoc.live evil.com', ''],
  ['a Cyrillic domain', 'пример.рф', ''],
  ['punycode', 'xn--e1afmkfd.xn--p1ai', ''],
  ['www', 'www.evil', ''],
  ['an address', 'write to ann@evil.example', 'write to'],
  ['javascript:', 'javascript:alert(1)', ''],
  ['mailto:', 'MailTo:ann', ''],
  ['tel:', 'tel:+1900555', ''],
  ['a scheme of Office', 'ms-word:ofe|u|x', ''],
  ['a scheme of news', 'see news:alt.x now', 'see now'],
  ['any other scheme', 'x-evil:run', 'x-evil: run'],
  ['two slashes', '//evil', ''],
  ['backslashes', 'http:\\\\evil', ''],
  ['an IP with a path', '10.0.0.1/login', ''],
  ['an IP behind an at sign', '@10.0.0.1', ''],
  ['an IP written as one number', '@167772161/login', ''],
  ['an IP in hexadecimal', '@0xa000001/login', ''],
  ['a line break', 'Ann\r\nBcc: all', 'Ann Bcc: all'],
  ['a line separator', 'Ann\u2028Bcc', 'Ann Bcc'],
  ['a null and a bell', 'An\u0000n\u0007', 'An n'],
  ['markup', '<b>Ann</b>', 'bAnn/b'],
  ['an entity for a dot', 'evil&#46;com', 'evil#46 com'],
  ['an escape of CSS', 'red \\00002fevil blue', 'red blue'],
  ['a string of CSS', 'red "x blue', 'red x blue'],
  ['a function and a block of CSS', 'a:b;image-set(x){y}', 'a: b image-set x y'],
  ['a colon before a percent sign', 'ps:%31249763844', 'ps: %31249763844'],
  ['a percent-encoded dot', 'evil%2ecom', ''],
  ['a dot that is percent-encoded twice', 'evil%252ecom', ''],
  ['a dot that is percent-encoded too often to tell', `evil%${'25'.repeat(9)}2ecom`, ''],
  ['a percent-encoded ideographic dot', 'evil%E3%80%82com/x', ''],
  ['an ideographic dot between ideographs', '例。中国', ''],
  ['a percent-encoded slash', '%2F%2Fevil', ''],
  ['a percent-encoded scheme', 'https%3A%2F%2Fevil', ''],
  ['fullwidth digits behind an at sign', '@１６７７７２１６１', ''],
  ['circled digits behind an at sign', '@①⑥⑦⑦⑦②①⑥①', ''],
  ['mathematical digits behind an at sign', '@𝟏67772161', ''],
  ['a hexadecimal number behind an at sign', '@０xa000001', ''],
  ['a care-of sign that is read as a slash', '@1℅evil.com', ''],
])('%s is taken out', (_, given, rendered) => {
  expect(clean(given)).toBe(rendered);
});

test.each([
  'Ann',
  "O'Neil",
  'Müller-Straße 5',
  'AT&T',
  'Jean-Luc',
  '12:30',
  'iPhone (64 GB)',
  'Note: 5 left',
  'Rock n Roll!',
  '1.5',
  '3 x',
  'こんにちは。元気',
  'Europe/Berlin',
  '@ann',
  '50% off',
  'search?q=red%20shoes',
  'm%C3%BCtzen',
  '東京。大阪',
])('%s stays as it is', (text) => {
  expect(clean(text)).toBe(text);
});

test('numbers, booleans and null stay what they are, nested values are cleaned likewise', () => {
  const given = {
    n: 3,
    yes: true,
    none: null,
    list: ['evil.com', 1],
    deep: { url: 'https://x.example' },
  };
  const rendered = { n: 3, yes: true, none: null, list: ['', 1], deep: { url: '' } };
  expect(clean(given)).toEqual(rendered);
});

test('a name that would be a link is left out, because a loop prints names', () => {
  expect(clean({ 'https://evil.example': 1, 'evil.com': 2, 'page.url_path': 3 })).toEqual({
    'page.url_path': 3,
  });
});

test('at the bound a value is whole, one past it is cut, by characters and not by halves of one', () => {
  expect(clean('x'.repeat(ASSERTED_CHARS_MAX))).toHaveLength(ASSERTED_CHARS_MAX);
  expect(clean('x'.repeat(ASSERTED_CHARS_MAX + 1))).toHaveLength(ASSERTED_CHARS_MAX);
  expect(clean('😀'.repeat(ASSERTED_CHARS_MAX + 1))).toBe('😀'.repeat(ASSERTED_CHARS_MAX));
});

test('what a template cuts off afterwards is no domain either', () => {
  expect(clean('foo.comxyz')).toBe('foo. comxyz');
});

test.each([
  '@167772161/login',
  '@0xa000001',
  '@10.0.0.1',
  '.evil.com/',
  ':80@evil.com/',
  '@evil%2ecom/',
  '@evil%E3%80%82com/x',
  '-evil%2ecom',
  '@１６７７７２１６１',
  '@①⑥⑦⑦⑦②①⑥①',
  '@𝟏67772161',
  '@０xa000001',
])('attack: behind the host of a template, %s makes no URL of another host', (path) => {
  const { host } = new URL(`https://app.example${String(clean(path))}`);
  expect(host).toBe('app.example');
});

/** Every character that the URL parser of this runtime reads as another one in a host, or ignores there. */
const listReadAs = (): [string, string][] => {
  const found: [string, string][] = [];
  for (let code = 0x80; code <= 0x1ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    const { hostname = '' } = URL.parse(`https://a${character}b.example/`) ?? {};
    if (hostname === 'a.b.example') found.push([character, '.']);
    if (hostname === 'ab.example') found.push([character, '']);
  }
  return found;
};

test('attack: no character that a URL parser reads as a dot, or ignores, hides a domain', () => {
  const all = listReadAs();
  expect(all.filter(([, as]) => as === '.').length).toBeGreaterThanOrEqual(3);
  expect(all.filter(([, as]) => as === '').length).toBeGreaterThan(10);
  for (const [character, as] of all) {
    const written = as === '.' ? `evil${character}com` : `ev${character}il.c${character}om`;
    const encoded = encodeURIComponent(written);
    for (const text of [written, encoded, `@${written}`, `-${encoded}`, `x ${written}/y`])
      expect([text, String(clean(text)).replace(/^x ?/, '')]).toEqual([text, '']);
  }
});

test('attack: no digits of any script behind an at sign become an address', () => {
  for (let code = 0x80; code <= 0x1ffff; code += 1) {
    if (!/\p{N}/u.test(String.fromCodePoint(code))) continue;
    const path = `@${String.fromCodePoint(code).repeat(9)}/x`;
    const { hostname } = new URL(`https://app.example${String(clean(path))}`);
    expect([path, hostname]).toEqual([path, 'app.example']);
  }
});

test('the recipient’s own address stays, another one does not', () => {
  expect(clean(' Ann@Example.com ', 'ann@example.com')).toBe('ann@example.com');
  expect(clean('ben@example.com', 'ann@example.com')).toBe('');
});

test('cleaning twice is cleaning once, for random hostile text, and leaves no link', () => {
  const parts = [
    'evil',
    '.',
    'com',
    '。',
    '://',
    'http',
    ' ',
    '\u200B',
    '@',
    ':',
    '/',
    'www.',
    '<',
    '&#46;',
    'x',
    '\n',
    '．',
  ];
  let seed = 7;
  const next = () => (seed = (seed * 48_271) % 2_147_483_647);
  for (let round = 0; round < 3_000; round += 1) {
    const text = Array.from({ length: 1 + (next() % 12) }, () => parts[next() % parts.length]).join(
      '',
    );
    const once = String(clean(text));
    expect([text, clean(once)]).toEqual([text, once]);
    expect([
      text,
      /:\/\/|[^\s@]@[^\s@]|(?:^|[^a-z])www\.\S|evil\.com|[\n\u200B<]/.test(once),
    ]).toEqual([text, false]);
  }
});

test('attack: a list, or values side by side, are printed without a separator and make no link', () => {
  const lists = [
    ['https:', '//', 'evil', '.', 'com'],
    ['see evil.', 'com/x'],
    ['www.', 'evil', '.com'],
    ['ann@', 'evil', '.com'],
    [['evil', '.'], 'com'],
    ['http:/', '/evil', '.', 'com'],
  ];
  for (const list of lists)
    expect((clean(list) as unknown[]).flat().join('')).not.toMatch(/:\/\/|www\.\S|evil\.com/);
  const parts = ['evil', '.', 'com', '://', 'http', ':', '/', 'www', 'a', '．', ' ', '@'];
  let seed = 11;
  const next = () => (seed = (seed * 48_271) % 2_147_483_647);
  const value = () =>
    Array.from({ length: 1 + (next() % 4) }, () => parts[next() % parts.length]).join('');
  for (let round = 0; round < 3_000; round += 1) {
    const list = Array.from({ length: 4 }, value);
    const printed = (clean(list) as string[]).join('');
    expect([list, /:\/\/|www\.\S|evil\.com/.test(printed)]).toEqual([list, false]);
  }
});

test('only what a browser asserted is cleaned: a server may send a URL', () => {
  const url = 'https://shop.example/cart';
  const person = {
    traits: { site: url, home: url },
    email: 'ann@example.com',
    browserNames: ['home'],
  };
  const happened = { name: 'left', properties: { url }, occurred_at: new Date(0) };
  const { sample, asserted } = toSample(person, { ...happened, source: 'server' });
  expect(sample.profile).toEqual({ site: url, home: '', email: 'ann@example.com' });
  expect(sample.event).toMatchObject({ url });
  expect(asserted).toEqual({ profile: ['home'], event: [] });
  const ofBrowser = toSample({ ...person, browserNames: [] }, { ...happened, source: 'browser' });
  expect(ofBrowser.sample.event).toMatchObject({ event: 'left', url: '' });
  expect(ofBrowser.asserted).toEqual({ profile: [], event: ['url'] });
  expect(toSample(null, { ...happened, source: 'server' }).asserted).toBeNull();
});

test('an address that only a browser asserted is shown to that address, and to no other', () => {
  const person = { traits: {}, email: 'win@evil.example', browserNames: ['email'] };
  const emailFor = (exempt: string) => toSample(person, null, exempt).sample.profile;
  expect(emailFor('win@evil.example')).toEqual({ email: 'win@evil.example' });
  expect(emailFor('ann@example.com')).toEqual({ email: '' });
});

test('attack: values cost little, whatever their characters stand for', { timeout: 3_000 }, () => {
  const chars = 1_000;
  for (const character of ['\u3316', '\ufdfa', 'a', 'a:', '%', '.', '@a']) {
    const values = Array.from({ length: 30 }, () => character.repeat(chars / character.length));
    clean(values);
    for (const value of values) expect(String(clean(value)).length).toBeLessThan(chars);
  }
});
