import { describe, expect, test } from 'vitest';
import { isStorable } from '../../src/base/text.ts';
import {
  PREHEADER_CHARS_MAX,
  RENDERED_CHARS_MAX,
  SUBJECT_CHARS_MAX,
  TEMPLATE_CHARS_MAX,
} from '../../src/rendering/limits.ts';
import { render } from '../../src/rendering/render.ts';
import type { RenderOutcome } from '../../src/rendering/render.ts';
import type { Variables } from '../../src/rendering/variables.ts';

type Text = { subject?: string; html?: string; text?: string | null; preheader?: string | null };

const variables = (event: object = {}, profile: object = {}): Variables => ({
  profile,
  event,
  run: { send_id: 's' },
  project: { name: 'Shop' },
  unsubscribe_url: 'https://mail.shop.example/u/token',
});
const outcomeOf = (given: Text, values = variables()): RenderOutcome =>
  render(
    {
      subject: 'Hello',
      html: '<p>x</p>',
      text: 'x',
      preheader: null,
      ...given,
    },
    values,
  );
const rendered = async (given: Text, values = variables()) => {
  const outcome = outcomeOf(given, values);
  if (outcome.kind === 'failed') throw new Error(outcome.reason);
  return outcome.message;
};
const failure = async (given: Text, values = variables()): Promise<string> => {
  const outcome = outcomeOf(given, values);
  if (outcome.kind === 'rendered')
    throw new Error(`rendered: ${outcome.message.html.slice(0, 99)}`);
  return outcome.reason;
};

const HOSTILE = `<script>alert("1")</script>&'`;
const ESCAPED = '&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&amp;&#39;';

describe('variables', () => {
  test('of profile, event and run stand in all three parts', async () => {
    const text = '{{ profile.name }}/{{ event.plan }}/{{ run.send_id }}';
    const values = variables({ plan: 'pro' }, { name: 'Ann' });
    expect(await rendered({ subject: text, html: text, text }, values)).toEqual({
      subject: 'Ann/pro/s',
      html: 'Ann/pro/s',
      text: 'Ann/pro/s',
    });
  });

  test('are escaped in HTML and left alone in subject and text', async () => {
    const text = '{{ event.x }}';
    expect(await rendered({ subject: text, html: text, text }, variables({ x: HOSTILE }))).toEqual({
      subject: HOSTILE,
      html: ESCAPED,
      text: HOSTILE,
    });
  });

  test('are raw in HTML only where the template says so', async () => {
    const { html } = await rendered({ html: '{{ event.x | raw }}' }, variables({ x: '<b>' }));
    expect(html).toBe('<b>');
  });

  test('are not templates themselves', async () => {
    const { html } = await rendered(
      { html: '{{ event.x }}' },
      variables({ x: '{{ profile.secret }}' }),
    );
    expect(html).toBe('{{ profile.secret }}');
  });

  test('that are not there fail, by name', async () => {
    expect(await failure({ html: '{{ event.nothing }}' })).toContain('event.nothing');
    expect(await failure({ subject: '{{ profile.name }}' })).toContain('profile.name');
    expect(await failure({ text: '{{ other }}' })).toContain('other');
    expect(
      await failure({ html: '{{ event.x | no_such_filter }}' }, variables({ x: 1 })),
    ).toContain('no_such_filter');
  });

  test('are own properties alone: nothing of the language is to be had', async () => {
    const inherited = Object.create({ secret: 'x' }) as object;
    for (const path of [
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'constructor.constructor',
      '__proto__.polluted',
    ])
      expect(await failure({ html: `{{ event.${path} }}` }, variables({ x: 'y' }))).toContain(
        'undefined variable',
      );
    expect(await failure({ html: '{{ event.secret }}' }, variables(inherited))).toContain(
      'undefined variable',
    );
    expect(await failure({ html: '{{ event["constructor"] }}' })).toContain('undefined variable');
    expect(await failure({ html: '{{ event.x.constructor }}' }, variables({ x: 'y' }))).toContain(
      'undefined variable',
    );
  });

  test('named like the language are data', async () => {
    const event = JSON.parse('{ "constructor": "a", "toString": "b" }') as object;
    const { html } = await rendered(
      { html: '{{ event.constructor }}{{ event.toString }}' },
      variables(event),
    );
    expect(html).toBe('ab');
  });

  test('set by one template are gone for the next', async () => {
    await rendered({ html: '{% assign leaked = "x" %}{% increment counter %}' });
    expect(await failure({ html: '{{ leaked }}' })).toContain('leaked');
    expect((await rendered({ html: '{% increment counter %}' })).html).toBe('0');
  });
});

describe('a template reaches for nothing outside itself', () => {
  test.each(['include', 'render', 'layout'])('%s is refused', async (tag) => {
    for (const name of ['/etc/hostname', '../package.json', 'package.json', 'x'])
      expect(await failure({ html: `{% ${tag} "${name}" %}` })).not.toContain('node_modules');
    expect(
      await failure({ html: `{% ${tag} event.x %}` }, variables({ x: '/etc/hostname' })),
    ).toBeTruthy();
  });

  test('and broken ones say where they are broken', async () => {
    for (const html of [
      '{{ ',
      '{% if %}',
      '{% if true %}',
      '{% nothing %}',
      '{{ "x" | }}{{',
      '{% endfor %}',
    ])
      expect(await failure({ html })).toMatch(/^html, line 1, column \d+: .*[.] Please /);
  });
});

describe('limits', () => {
  test('a template has at most 256 KiB of characters', async () => {
    expect((await rendered({ html: 'x'.repeat(TEMPLATE_CHARS_MAX) })).html).toHaveLength(
      TEMPLATE_CHARS_MAX,
    );
    expect(await failure({ html: 'x'.repeat(TEMPLATE_CHARS_MAX + 1) })).toContain('limit');
  });

  test('what is rendered has at most 512 KiB of characters, HTML and text each', async () => {
    const half = 'x'.repeat(RENDERED_CHARS_MAX / 8);
    const eight = '{% for i in (1..8) %}{{ event.x }}{% endfor %}';
    const fits = variables({ x: half });
    expect((await rendered({ html: eight }, fits)).html).toHaveLength(RENDERED_CHARS_MAX);
    expect(await failure({ html: `${eight}y` }, fits)).toContain('characters of output');
    expect(await failure({ text: `${eight}y` }, fits)).toContain('characters of output');
  });

  test.each([
    ['a loop over a huge range', '{% for i in (1..999999999) %}x{% endfor %}'],
    [
      'loops in loops',
      `${'{% for i in (1..999) %}'.repeat(3)}{% assign x = i %}${'{% endfor %}'.repeat(3)}`,
    ],
    [
      'a text that doubles',
      '{% assign x = "ab" %}{% for i in (1..99) %}{% assign x = x | append: x %}{% endfor %}',
    ],
    [
      'a capture that doubles',
      '{% assign x = "ab" %}{% for i in (1..99) %}{% capture x %}{{ x }}{{ x }}{% endcapture %}{% endfor %}',
    ],
    ['a date as wide as memory', '{{ "now" | date: "%999999999d" }}'],
    [
      'a replacement that explodes',
      `{{ "${'a'.repeat(100_000)}" | replace: "a", "${'b'.repeat(10_000)}" }}`,
    ],
    ['a join that explodes', `{{ (1..100000) | join: "${'b'.repeat(10_000)}" | size }}`],
    ['tags in tags in tags', '{% if true %}'.repeat(15_000)],
  ])('%s fails, and the process goes on', async (_what, html) => {
    expect(await failure({ html })).toBeTruthy();
    expect((await rendered({})).html).toBe('<p>x</p>');
  });

  test('HTML that nests without end fails or is cut when the text is made of it, and nobody dies', async () => {
    for (const tag of ['div', 'ul><li', 'table><tr><td', 'b'])
      expect(['failed', 'rendered']).toContain(
        outcomeOf({ html: `{% for i in (1..20000) %}<${tag}>{% endfor %}`, text: null }).kind,
      );
  });
});

describe('the subject', () => {
  test.each([
    ['CR', '\r'],
    ['LF', '\n'],
    ['CR LF', '\r\n'],
    ['NEL', '\u0085'],
    ['line separator', '\u2028'],
    ['paragraph separator', '\u2029'],
    ['NUL', '\0'],
  ])('with %s inside fails, from the template and from a variable', async (_name, lineBreak) => {
    const subject = `Hello${lineBreak}Bcc: victim@example.net`;
    expect(await failure({ subject })).toContain('one line');
    expect(await failure({ subject: '{{ event.x }}' }, variables({ x: subject }))).toContain(
      'one line',
    );
  });

  test('is trimmed, and must not be empty', async () => {
    expect((await rendered({ subject: '  Hello \n' })).subject).toBe('Hello');
    for (const subject of ['', '   ', '{% if false %}x{% endif %}'])
      expect(await failure({ subject })).toContain('one line');
  });

  test('has at most 998 characters', async () => {
    expect((await rendered({ subject: 'x'.repeat(SUBJECT_CHARS_MAX) })).subject).toHaveLength(998);
    expect(await failure({ subject: 'x'.repeat(SUBJECT_CHARS_MAX + 1) })).toContain('998');
  });

  test('may say anything else, in any script', async () => {
    const subject = 'Grüße 👋 “привет” 日本 <b> =?utf-8?q?x?=';
    expect((await rendered({ subject })).subject).toBe(subject);
  });
});

describe('the text part', () => {
  test('is the template’s own where it has one', async () => {
    expect((await rendered({ html: '<p>a</p>', text: 'b' })).text).toBe('b');
  });

  test.each(['', ' \n ', '{% if event.x %}b{% endif %}\n'])(
    'is derived where the template’s own is blank: %j',
    async (text) => {
      expect((await rendered({ html: '<p>a</p>', text })).text).toBe('a');
    },
  );

  test('is derived from the HTML otherwise: readable, links kept, nothing of style or script', async () => {
    const html =
      '<style>p{color:red}</style><h1>Hi</h1><p>Tom &amp; {{ event.x }}</p><a href="https://shop.example/a">Go</a>';
    const { text } = await rendered({ html, text: null }, variables({ x: '<b>' }));
    expect(text).toContain('Tom & <b>');
    expect(text).toContain('https://shop.example/a');
    expect(text).not.toContain('color:red');
  });

  const derived = async (html: string) => (await rendered({ html, text: null })).text;

  test('has a line for each row of a table, and its cells apart: no amount runs into the next', async () => {
    const rows = '<tr><th>Item</th><th>Price</th></tr><tr><td>Gadget 2</td><td>3.50</td></tr>';
    expect(await derived(`<table>${rows}</table>`)).toBe('Item   Price\nGadget 2   3.50');
    const spread = '<table>\n<tr>\n <td>2 </td>\n <td></td><td> <b>350</b></td>\n</tr>\n</table>';
    expect(await derived(spread)).toBe('2   350');
    expect(await derived('<table><td>1</td><td>2</td></table>')).toBe('1 2');
  });

  test('gives a cell of several lines, which is layout, lines of its own', async () => {
    const inner = '<table><tr><td>a</td><td>b</td></tr></table>';
    const html = `<table><tr><td>${inner}</td><td>Ann<br>Lee</td><td>c</td><td>d</td></tr></table>`;
    expect(await derived(html)).toBe('a   b\n\nAnn\nLee\nc   d');
  });

  test('keeps links and pictures apart from their neighbours, and full stops with them', async () => {
    const picture = '<img src="https://x.example/y.png" alt="Logo">';
    const link = '<a href="mailto:a@b.example">mail</a>';
    const logo = 'Logo [https://x.example/y.png]';
    expect(await derived(`${picture}${link}Shop`)).toBe(`${logo} mail [a@b.example] Shop`);
    expect(await derived(`a${picture}b`)).toBe(`a ${logo} b`);
    expect(await derived(`${link}${link}`)).toBe('mail [a@b.example] mail [a@b.example]');
    expect(await derived(`(<b>${link}</b>, ${link}).`)).toBe(
      '(mail [a@b.example], mail [a@b.example]).',
    );
    expect(await derived('<a href="#top">to</a><a>day</a>')).toBe('today');
  });
});

test('whatever is rendered can be stored: U+0000 from a filter fails the template, not the batch', async () => {
  for (const part of ['html', 'text', 'subject'] as const) {
    const outcome = outcomeOf({ [part]: 'a{{ "%00" | url_decode }}b' });
    const texts = outcome.kind === 'rendered' ? Object.values(outcome.message) : [outcome.reason];
    for (const text of texts) expect([part, isStorable(text)]).toEqual([part, true]);
  }
  const cut = outcomeOf({ subject: '{{ "😀lice" | split: "" | first }}' });
  expect(cut.kind).toBe('failed');
  const outcome = outcomeOf({ html: '{% assign x = "%00" | url_decode %}{% render x %}' });
  expect(outcome.kind === 'failed' && isStorable(outcome.reason)).toBe(true);
});

describe('the preheader', () => {
  const shown = async (preheader: string, html = '<p>x</p>') =>
    (await rendered({ preheader, html, text: null }, variables({}, { name: HOSTILE }))).html;

  test('stands hidden at the beginning of the body, as text, and not in the text part', async () => {
    const html = await shown(
      'For {{ profile.name }}',
      '<html><body class="a"><p>x</p></body></html>',
    );
    expect(html).toMatch(
      /^<html><body class="a"><div style="display:none[^"]*">For &lt;script&gt;/,
    );
    expect(html).not.toContain('<script>');
    expect(await shown('For you')).toMatch(/^<div style="display:none[^"]*">For you/);
    const { text } = await rendered({ preheader: 'For you', text: null });
    expect(text).toBe('x');
  });

  test('a blank one is none; several lines become one', async () => {
    expect(await shown('  \n ')).toBe('<p>x</p>');
    expect(await shown('a\r\n b')).toContain('>a b');
  });

  test('may have so many characters and not one more', async () => {
    await shown('x'.repeat(PREHEADER_CHARS_MAX));
    expect(await failure({ preheader: 'x'.repeat(PREHEADER_CHARS_MAX + 1) })).toContain(
      'preheader',
    );
  });

  test('cannot bring in what stands for something in a replacement', async () => {
    expect(await shown("$& $1 $'", '<body>x</body>')).toContain("&amp; $1 $'");
  });
});

test('project and unsubscribe_url are variables', async () => {
  const { html } = await rendered({ html: '{{ project.name }} <a href="{{ unsubscribe_url }}">' });
  expect(html).toBe('Shop <a href="https://mail.shop.example/u/token">');
});
