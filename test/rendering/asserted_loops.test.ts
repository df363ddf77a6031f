// A number from a page may be the end of a range: the email is sent without it, and soon.
import { Drop } from 'liquidjs';
import { expect, test, vi } from 'vitest';
import { makeGuard } from '../../src/rendering/links/foreign.ts';
import {
  ASSERTED_MEMORY_MAX,
  ASSERTED_TIME_MAX_MS,
  ASSERTED_TURNS_MAX,
  BoundedEngine,
  withBounds,
} from '../../src/rendering/bounded_engine.ts';
import { render } from '../../src/rendering/render.ts';
import { toSample } from '../../src/rendering/variables.ts';

const rest = {
  run: {},
  project: { name: 'Shop' },
  unsubscribe_url: 'https://mail.shop.example/u/t',
};

const renderFor = (html: string, properties: object, source: 'browser' | 'server' = 'browser') => {
  const event = { name: 'e', properties, occurred_at: new Date(0), source };
  const known = toSample(null, event);
  const variables = { ...known.sample, ...rest };
  const written = { subject: 'Hello', html, text: null, preheader: null };
  const guard =
    known.asserted && makeGuard({ source: written, variables, asserted: known.asserted });
  const outcome = render(written, variables, { guard });
  return outcome.kind === 'rendered' ? outcome.message.html : outcome.reason;
};

const NESTED =
  '<p>{% assign k = event.n | default: 1 %}{% for i in (1..k) %}{% for j in (1..k) %}' +
  '{% assign z = i | plus: j %}{% endfor %}{% endfor %}done {{ event.n }}</p>';

test('attack: ranges that a number from a page ends are not walked', () => {
  expect(renderFor(NESTED, { n: 30_000 })).toBe('<p>done </p>');
});

test.each(['for', 'tablerow'])('%s: so many turns, and one more is without the values', (tag) => {
  const html = `<p>{% ${tag} i in (1..event.n) %}{% end${tag} %}done {{ event.n }}</p>`;
  const [most, past] = [ASSERTED_TURNS_MAX, ASSERTED_TURNS_MAX + 1];
  expect(renderFor(html, { n: most })).toContain(`done ${most}`);
  expect(renderFor(html, { n: past })).not.toContain('done 1');
});

test('turns count altogether, for each try anew', () => {
  const loop = '{% for i in (1..event.n) %}{% endfor %}';
  const html = `<p>${loop}${loop}done {{ event.n }}</p>`;
  expect(renderFor(html, { n: ASSERTED_TURNS_MAX / 2 })).toContain('done 5000');
  expect(renderFor(html, { n: ASSERTED_TURNS_MAX / 2 + 1 })).toBe('<p>done </p>');
});

test('values of a server are walked as far as the time allows', () => {
  const html = '<p>{% for i in (1..event.n) %}{% endfor %}done</p>';
  expect(renderFor(html, { n: 2 * ASSERTED_TURNS_MAX }, 'server')).toBe('<p>done</p>');
});

test('attack: a filter over a range that a number from a page ends', () => {
  const html =
    '<p>{% assign all = (1..event.n) | join: "" | size %}{{ all }} done {{ event.n }}</p>';
  expect(renderFor(html, { n: 400_000 })).not.toContain('400000');
  const ranges = '<p>{% assign all = (1..event.n) %}{% if event.n > 0 %}done{% endif %}</p>';
  expect(renderFor(ranges, { n: ASSERTED_MEMORY_MAX })).toBe('<p>done</p>');
  expect(renderFor(ranges, { n: ASSERTED_MEMORY_MAX + 1 })).toBe('<p></p>');
  expect(renderFor(ranges, { n: 2 * ASSERTED_MEMORY_MAX }, 'server')).toBe('<p>done</p>');
});

test.each([
  ['turns', `{% for i in (1..${ASSERTED_TURNS_MAX + 1}) %}{% endfor %}`],
  ['memory', `{% assign all = (1..${ASSERTED_MEMORY_MAX + 1}) %}`],
])('a template that itself needs more %s is rendered without the values', (_name, much) => {
  expect(renderFor(`<p>${much}done {{ event.n }}</p>`, { n: 1 })).toBe('<p>done </p>');
});

const CONTAINS =
  '<p>{% assign a = (1..event.n) %}{% for i in a %}{% if a contains "x" %}y{% endif %}{% endfor %}' +
  'done{{ event.n }}</p>';

test('attack: a condition on a range takes little of the time, and ends no email', () => {
  expect(renderFor(CONTAINS, { n: 9_000 })).toBe('<p>done</p>');
});

test('a part may take ASSERTED_TIME_MAX_MS, and not a millisecond more; without the values it may', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  /** A value that takes so long to print. */
  class Slow extends Drop {
    readonly #ms: number;
    constructor(ms: number) {
      super();
      this.#ms = ms;
    }
    override valueOf(): string {
      now.mockReturnValue(this.#ms);
      return 'shown';
    }
  }
  const engine = new BoundedEngine();
  const parsed = engine.parse('{{ slow }} and the rest');
  const show = (ms: number): unknown => {
    now.mockReturnValue(0);
    return engine.renderSync(parsed, { slow: new Slow(ms) });
  };
  try {
    expect(withBounds(() => show(ASSERTED_TIME_MAX_MS))).toBe('shown and the rest');
    expect(() => withBounds(() => show(ASSERTED_TIME_MAX_MS + 1))).toThrow('limit exceeded');
    expect(show(ASSERTED_TIME_MAX_MS + 1)).toBe('shown and the rest');
  } finally {
    now.mockRestore();
  }
});
