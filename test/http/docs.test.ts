import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { refusals } from '../../src/base/refusal.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import { doorLimits } from '../../src/http/doors.ts';
import { DOCS_POLICY, PAGES_MAX } from '../../src/http/docs.ts';
import { notesOf } from '../../src/http/docs_words.ts';
import { toHtml } from '../../src/http/docs_prose.ts';
import { errorsOf, listEndpoints } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { toAmount } from '../../src/http/openapi_text.ts';
import { sections } from '../../src/http/routes.ts';
import { NOBODY } from '../../src/ingest/schema.ts';
import { COLOURS, expectAccessible } from '../console/axe.ts';
import { testApi } from '../support/api.ts';
import { findBrowser, NO_BROWSER, sharedBrowser } from '../support/browser.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const document = makeDocument();
const endpoints = listEndpoints(document).filter(({ method }) => method !== 'OPTIONS');
const found = await findBrowser();
/** What one more endpoint, or one more name, may cost whoever loads the page. */
const BYTES_PER_ENDPOINT_MAX = 544;
const BYTES_PER_NAME_MAX = 64;
const names = Object.keys(document.components?.schemas ?? {});

/** What axe asks of any page, colours left out: every text is measured here. */
const RULES = axe
  .getRules(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
  .map(({ ruleId }) => ruleId)
  .filter((rule) => !COLOURS.includes(rule));

const load = (headers: Record<string, string> = {}) => fetch(`${api.url}/docs`, { headers });

const ENTITIES: Record<string, string> = { '&#34;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>' };
/** The page as a reader has it, with its tags. */
const text = async (): Promise<string> =>
  (await (await load()).text()).replaceAll(/&#?\w+;/g, (entity) => ENTITIES[entity] ?? entity);

type Loaded = { status: number; headers: IncomingMessage['headers']; body: string };

/** Loads the page under another name, and with tags, which `fetch` would not send as they are. */
const loadAs = (host: string, headers: Record<string, string> = {}): Promise<Loaded> =>
  new Promise((resolve, reject) => {
    get(`${api.url}/docs`, { headers: { ...headers, host } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
      });
    }).on('error', reject);
  });

describe('GET /docs', () => {
  test('200: a page that may load nothing and run nothing', async () => {
    const { status, headers } = await load();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(DOCS_POLICY);
    expect(DOCS_POLICY).not.toMatch(/unsafe|script-src|https?:/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('304: who has it is not sent it again', async () => {
    const host = 'localhost';
    const { headers } = await loadAs(host);
    const again = await loadAs(host, { 'if-none-match': String(headers.etag) });
    expect([again.status, again.body]).toEqual([304, '']);
    expect((await loadAs('elsewhere', { 'if-none-match': String(headers.etag) })).status).toBe(200);
  });

  test('200: small on the wire', async () => {
    const { headers } = await load({ 'accept-encoding': 'gzip' });
    expect(Number(headers.get('content-length'))).toBeLessThan(
      endpoints.length * BYTES_PER_ENDPOINT_MAX + names.length * BYTES_PER_NAME_MAX,
    );
  });

  test('200: the examples call the service where the reader found it', async () => {
    expect(await text()).toContain(`curl "${api.url}/v1/events"`);
    const { body } = await loadAs('mail.example.com:8080');
    expect(body).toContain('curl &#34;http://mail.example.com:8080/v1/events&#34;');
    expect(body).not.toContain(api.url);
    expect((await loadAs('[::1]:3000')).body).toContain('http://[::1]:3000/v1/events');
  });

  test('200: a Host that is none is not repeated', async () => {
    for (const host of [
      '"><script>alert(1)</script>',
      'not a host',
      "a';reboot;'",
      '$(reboot)',
      '`reboot`',
    ]) {
      const { status, body } = await loadAs(host);
      expect(status).toBe(200);
      expect(body).not.toContain(host);
      expect(body).toContain('https://your-host/v1/events');
    }
  });

  test('attack: ever new names cost no ever new pages; past the bound they get the page without a name', async () => {
    const known = (await loadAs('mail.example.com:8080')).headers.etag;
    const pages = new Map<string, string>();
    for (let at = 0; at <= PAGES_MAX; at += 1) {
      const host = `host-${at}.example.com`;
      const { headers, body } = await loadAs(host);
      pages.set(String(headers.etag), body.includes(`http://${host}/v1/events`) ? host : '');
    }
    const named = [...pages.values()].filter((host) => host !== '');
    expect(named.length).toBeGreaterThan(1);
    expect(named.length).toBeLessThan(PAGES_MAX);
    expect(pages.size).toBe(named.length + 1);
    expect((await loadAs('one-more.example.com')).body).toContain('https://your-host/v1/events');
    expect((await loadAs('mail.example.com:8080')).headers.etag).toBe(known);
  });
});

test('308: with a slash too many it is shown the way', async () => {
  const { status, headers } = await fetch(`${api.url}/docs/`, { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual([308, '/docs']);
  expect((await fetch(`${api.url}/docs/`)).status).toBe(200);
});

describe('what the page says', () => {
  test('every endpoint has an anchor, an example, and a link to it', async () => {
    const page = await text();
    for (const { path, operation } of endpoints) {
      expect(page).toContain(`<article id="${operation.operationId}">`);
      expect(page).toContain(`<li><a href="#${operation.operationId}">`);
      expect(page).toContain(operation.summary);
      expect(page).toContain(api.url + path.split('{')[0]);
    }
  });

  test('every link within it leads somewhere, and no name is given twice', async () => {
    const page = await text();
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test('the members of what is named are listed once, and linked to from elsewhere', async () => {
    const page = await text();
    const links = [...page.matchAll(/Its members are those of <a href="#(\w+)">(\w+)</g)];
    expect(links.map(([, , name]) => name)).toEqual(expect.arrayContaining(['Segment', 'Send']));
    for (const [, id] of links) {
      const [, part = ''] = new RegExp(` id="${id}">(.*?)</article>`, 's').exec(page) ?? [];
      expect(part).toContain('<dl class="members"');
    }
    expect(page.split('progress.counted_until</code>')).toHaveLength(2);
  });

  test('what any call may be answered is said once, and what is an endpoint’s own there', async () => {
    const page = await text();
    const [anywhere = ''] = /Every call that bears a key may be answered with.*/.exec(page) ?? [];
    for (const { operation } of endpoints.filter((one) => one.operation.security?.length)) {
      const id = operation.operationId;
      const [article = ''] = new RegExp(`<article id="${id}">.*?</article>`, 's').exec(page) ?? [];
      const names = errorsOf(document, operation).flatMap((one) => one.names);
      const said = (name: string) =>
        [anywhere, article].filter((part) => part.includes(`<a href="#${name}">`)).length;
      expect(names.filter((name) => said(name) !== 1)).toEqual([]);
    }
  });

  test('every error that an endpoint may answer is in the table, as the catalogue has it', async () => {
    const page = await text();
    const names = new Set(
      endpoints.flatMap(({ operation }) =>
        errorsOf(document, operation).flatMap((one) => one.names),
      ),
    );
    for (const name of [...names, 'method_not_allowed'] as RefusalName[]) {
      const [row = ''] = new RegExp(`<tr id="${name}">.*`).exec(page) ?? [];
      expect(row).toContain(`>${refusals[name].status}<`);
      expect(row).toContain(refusals[name].detail);
    }
  });

  test('the values that name nobody are listed, once', async () => {
    const page = await text();
    const list = [...NOBODY].map((value) => `<code>${value}</code>`).join(', ');
    expect(page.split(list)).toHaveLength(2);
  });

  test('every limit of a room, and of the door, is in the table', async () => {
    const page = await text();
    const limits = [
      ...sections.flatMap((section) => section.limits ?? []),
      ...doorLimits(database.deps.config),
    ];
    expect(limits.length).toBeGreaterThan(10);
    for (const limit of limits) {
      const [row = ''] = new RegExp(`<th scope="row">${limit.name}</th>.*`).exec(page) ?? [];
      expect(row).toContain(`>${toAmount(limit)}<`);
    }
  });
});

test('amounts are written as people read them', () => {
  expect(toAmount({ value: 50, unit: 'items' })).toBe('50');
  expect(toAmount({ value: 1024 * 1024, unit: 'bytes' })).toBe('1 MiB');
  expect(toAmount({ value: 32 * 1024, unit: 'bytes' })).toBe('32 KiB');
  expect(toAmount({ value: 1000, unit: 'bytes' })).toBe('1000 bytes');
  expect(toAmount({ value: 30_000, unit: 'milliseconds' })).toBe('30 seconds');
});

test('nothing in a description is markup but paragraphs and code', () => {
  expect(toHtml('One `a <b>`.\n\nTwo <script> & "x".\n')).toBe(
    '<p>One <code>a &lt;b&gt;</code>.</p>\n<p>Two &lt;script&gt; &amp; &quot;x&quot;.</p>',
  );
});

test.each(['^[a`b]$', '`', '``a`', 'a', ' a '])('a pattern is shown as it is: %j', (pattern) => {
  expect(toHtml(notesOf({ type: 'string', pattern }))).toBe(
    `<p>Matches <code>${pattern}</code>.</p>`,
  );
});

describe('the page in a browser', () => {
  let context: BrowserContext | undefined;
  beforeEach(({ skip }) => skip(found === null, NO_BROWSER));
  afterEach(() => context?.close());

  const open = async (width: number, colorScheme: 'light' | 'dark') => {
    const browser = await sharedBrowser(found as NonNullable<typeof found>);
    context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    const page = await context.newPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    page.on('request', (request) => said.push(request.url()));
    await page.goto(`${api.url}/docs`);
    return { page, said };
  };

  /** The contrast of every text with what is behind it, the worst first (WCAG 2.2, 1.4.3). */
  const readContrasts = (page: Page): Promise<number[]> =>
    page.evaluate(`(() => {
      const channels = (color) => color.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b]
        .map((value) => value / 255)
        .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
      const behind = (element) => {
        for (let one = element; one; one = one.parentElement) {
          const [r, g, b, alpha = 1] = channels(getComputedStyle(one).backgroundColor);
          if (alpha > 0) return [r, g, b];
        }
        return [255, 255, 255];
      };
      const texts = [...document.querySelectorAll('body *')].filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''));
      return texts.map((element) => {
        const pair = [light(channels(getComputedStyle(element).color)), light(behind(element))];
        return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
      }).sort((a, b) => a - b);
    })()`);

  test.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)(
    '%i pixels, %s: nothing is cut off, loaded or complained about, and all can be read',
    async (width, scheme) => {
      const { page, said } = await open(width, scheme);
      expect(said).toEqual([`${api.url}/docs`]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      const [worst = 0, ...others] = await readContrasts(page);
      expect(others.length).toBeGreaterThan(100);
      expect(worst).toBeGreaterThanOrEqual(4.5);
      const back = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(back).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 22, 26)');
    },
  );

  test('nobody is kept out, also of what is folded', async () => {
    const { page } = await open(360, 'dark');
    await page.evaluate(
      `document.querySelectorAll('details').forEach((one) => one.setAttribute('open', ''))`,
    );
    await expectAccessible(page, '/docs', { rules: RULES });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  test('a link of a type leads to what it is, also where that is folded', async () => {
    const { page } = await open(1280, 'light');
    await page.locator('#AutomationStep .type a[href="#AutomationCondition"]').first().click();
    const heading = page.locator('#AutomationCondition h3');
    await expect.poll(async () => (await heading.boundingBox())?.y ?? 0).toBeGreaterThan(52);
    expect((await heading.boundingBox())?.y).toBeLessThan(400);
    const members = page.locator('#Profile dl').first();
    expect(await members.isVisible()).toBe(false);
    await page.evaluate(`location.hash = 'Profile'`);
    await expect.poll(() => members.isVisible()).toBe(true);
  });

  test('a link of the contents leads to its endpoint, below the bar', async () => {
    const { page } = await open(1280, 'light');
    await page.locator('nav a[href="#get_profiles_by_id"]').click();
    const heading = page.locator('#get_profiles_by_id h3');
    await expect.poll(async () => (await heading.boundingBox())?.y ?? 0).toBeGreaterThan(52);
    expect((await heading.boundingBox())?.y).toBeLessThan(400);
  });
});
