// What the search for hosts does grows with the characters of an email, whatever a page repeats in it.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import { renderMails } from '../../src/rendering/rendering.ts';
import { Hosts, TooMuchToRead } from '../../src/rendering/links/hosts.ts';
import { addHtml } from '../../src/rendering/links/in_html.ts';
import { addText, addUrl } from '../../src/rendering/links/in_text.ts';
import { addNames, NAME_CHARS_READ } from '../../src/rendering/links/names.ts';
import { MARKS_READ, readText } from '../../src/rendering/links/spelling.ts';
import { toSample } from '../../src/rendering/variables.ts';
import { A, B, happened, link, rest, shownTo, sourceOf } from './shown_email.ts';

const PLACES = {
  'a text': (shape: string) => `<p>»x${shape}1.5« of it</p>`,
  'a URL': (shape: string) => `<a href="https://${shape}.com/">x</a>`,
  'an attribute': (shape: string) => `<a href="${shape}">x</a>`,
  'a style': (shape: string) => `<p style="color:${shape}">x</p>`,
};
const UNITS = [
  ...Array.from('a1.-_/:@%\\[]()<>"\'á日;🙂\u200B\u0315\u0323\uFF9E\uFDFA'),
  ...'рф|com|s:/|https:|www.|url(|%2e|%25|%CC%95'.split('|'),
];
const ESCAPES: Record<string, string> = { '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** At least what is read of a URL, so that the bounds of one piece hold for both sizes. */
const REPEATED = 2_000;
const TIMES = 4;

/** May be too much: each scheme and two slashes begin a URL, and a URL that hides many marks is not read. */
const MAY_BE_TOO_MUCH = /[:/\\][/\\]|https:|%CC%95/;

/** Returns how many characters are read of a repeated unit, or null where they are too many. */
const countRead = (place: keyof typeof PLACES, unit: string, count: number): number | null => {
  const hosts = new Hosts();
  const shape = unit.replaceAll(/[<>"]/g, (mark) => ESCAPES[mark] ?? mark).repeat(count);
  try {
    addHtml(hosts, PLACES[place](shape));
    return hosts.charsRead;
  } catch (error) {
    if (error instanceof TooMuchToRead) return null;
    throw error;
  }
};

/** What differs at the edges of a shape, such as a name that is read only as far as NAME_CHARS_READ. */
const EDGES = 30_000;
const isLinear = (place: keyof typeof PLACES, unit: string): boolean => {
  const few = countRead(place, unit, REPEATED);
  const many = countRead(place, unit, TIMES * REPEATED);
  if (few === null || many === null) return MAY_BE_TOO_MUCH.test(unit.repeat(2));
  return many <= TIMES * few + EDGES;
};

const Place = fc.constantFrom(...(Object.keys(PLACES) as (keyof typeof PLACES)[]));
const Unit = fc
  .array(fc.constantFrom(...UNITS), { minLength: 2, maxLength: 3 })
  .map((those) => those.join(''));

describe('attack: of four times as many characters four times as much is read, or nothing', () => {
  test.each(Object.keys(PLACES) as (keyof typeof PLACES)[])(
    'one unit, in %s',
    (place) => {
      expect(UNITS.filter((unit) => !isLinear(place, unit))).toEqual([]);
    },
    20_000,
  );

  test('several', () => {
    fc.assert(
      fc.property(Place, Unit, (place, unit) => isLinear(place, unit)),
      { numRuns: 200 },
    );
  }, 60_000);
});

describe('attack: a value in a loop ends no email that a server caused', () => {
  /** A thread that is new has compiled nothing yet. */
  let resources: Resources;
  beforeEach(() => void (resources = new Resources()));
  afterEach(() => resources.close());

  /** Returns what an email shows, from a thread that ends at MAIL_MS_MAX. */
  const shown = async (html: string, a: string, n: number): Promise<string> => {
    const source = sourceOf(html.replace('*', `{% for i in (1..event.n) %}${A}{% endfor %}`));
    const email = 'ann@example.com';
    const known = toSample({ traits: {}, email, browserNames: [] }, happened({ a, n }), email);
    const mail = {
      template: { ...source, template_id: newId(), version: 1 },
      variables: { ...known.sample, ...rest },
      asserted: known.asserted,
    };
    const [outcome] = await renderMails({ resources }, newId(), [mail], 20_000);
    if (outcome?.kind !== 'rendered') throw new Error(outcome?.reason ?? 'not rendered in time');
    return outcome.message.html;
  };

  test.each([500, 900])('labels beside a letter that is not ASCII, %i times', async (n) => {
    const labels = '1.'.repeat(50).slice(0, -1);
    expect(await shown('<p>»*« Ihre Rechnung</p>', labels, n)).toContain('Ihre Rechnung');
  });

  test.each(['-', '_'])('a run of %j before a name', async (mark) => {
    const run = mark.repeat(100);
    expect(await shown('<p>x*1.5 stars</p>', run, 900)).toBe(`<p>x${run.repeat(900)}1.5 stars</p>`);
    expect(await shown('<p>x*.Thanks</p>', run, 900)).toContain('.Thanks');
  });

  test.each([400, 900])('marks that combine, %i times', async (n) => {
    const marks = '\u0315\u0323'.repeat(50);
    expect(await shown('<p>* your invoice</p>', marks, n)).toContain('your invoice');
    expect(await shown(link('https://app.example/*'), marks, n)).toContain('https://app.example/');
  });

  const repeated = (shape: string) => `{% for i in (1..event.n) %}${shape}{% endfor %}`;
  const SLASHES = {
    'two slashes': `<p>your invoice ${repeated(`{{ i }}//${A}`)}</p>`,
    'URLs of a text': `<p>your invoice ${repeated(`https://shop.example/{{ i }}/${A};`)}</p>`,
    'URLs of links': `<p>your invoice</p>${repeated(link(`https://shop.example/{{ i }}/${A}`))}`,
  };
  const REPEATED_MARKS = {
    'as many marks as are read': `a${'\u0315\u0323'.repeat(MARKS_READ / 2)}`
      .repeat(4)
      .slice(0, 100),
    'more marks': '\u0315\u0323'.repeat(50),
    'letters that nobody sees': '\u1160'.repeat(100),
    'characters that stand for eighteen': '\uFDFA'.repeat(100),
    'letters that are not ASCII': 'á'.repeat(100),
  };
  test.each(
    Object.keys(SLASHES).flatMap((place) =>
      Object.keys(REPEATED_MARKS).map((marks) => [place, marks] as const),
    ),
  )(
    '%s with %s',
    async (place, marks) => {
      for (const n of [300, 500, 700, 900]) {
        const html = SLASHES[place as keyof typeof SLASHES];
        const a = REPEATED_MARKS[marks as keyof typeof REPEATED_MARKS];
        expect(await shown(html, a, n)).toContain('your invoice');
      }
    },
    60_000,
  );
});

test('attack: a text that changes with each reading is shown without the values', () => {
  const html = `<p>%{% for i in (1..event.n) %}${A}{% endfor %}2e</p>`;
  expect(shownTo(html, { a: '25', n: 3 })).toBe('<p>%2525252e</p>');
  expect(shownTo(html, { a: '25', n: 9 })).toBe('<p>%2e</p>');
});

test('a name is read as far as NAME_CHARS_READ from its end, which says whose it is', () => {
  const findNamed = (chars: number): string[] => {
    const hosts = new Hosts();
    addNames(hosts, `${'x'.repeat(chars - '.com'.length)}.com`);
    return [...hosts.found];
  };
  const longest = `${'x'.repeat(NAME_CHARS_READ - '.com'.length)}.com`;
  expect([findNamed(NAME_CHARS_READ), findNamed(NAME_CHARS_READ + 1)]).toEqual([
    [longest],
    [longest],
  ]);
});

test.each([
  ['marks behind it', 'com', '-'],
  ['many labels before it', `${'a.'.repeat(500)}evil.com`, ''],
  ['a long rest behind it', 'com', `_${'x'.repeat(1_000)}`],
])('attack: a foreign host with %s is found', (_name, end, rest) => {
  const hosts = new Hosts();
  addText(hosts, `www1.evil.${end}${rest.repeat(rest.length === 1 ? 1_000 : 1)}`);
  expect([...hosts.found].some((host) => host.endsWith('evil.com'))).toBe(true);
});

describe('MARKS_READ', () => {
  const marked = (count: number) => `e${'\u0323'.repeat(count)}`;

  test('a text has so many marks in a row, and no more are read', () => {
    // NFKC makes one letter of the first mark and the `e`.
    const read = `\u1EB9${'\u0323'.repeat(MARKS_READ - 1)}`;
    expect([readText(marked(MARKS_READ)), readText(marked(MARKS_READ + 1))]).toEqual([read, read]);
  });

  test('a URL that hides more in percent-encoding is not read', () => {
    const add = (count: number) =>
      addUrl(new Hosts(), `https://${encodeURIComponent(marked(count))}.example/`);
    expect(() => add(MARKS_READ)).not.toThrow();
    expect(() => add(MARKS_READ + 1)).toThrow(TooMuchToRead);
  });

  test('attack: marks before a host in the same text do not hide it', () => {
    const html = `<p>${'\u0315\u0323'.repeat(40)} ${A}.${B}</p>`;
    expect(shownTo(html, { a: 'evil', b: 'com/x' })).not.toMatch(/evil/);
  });
});
