import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BrowserContext } from 'playwright-core';
import { readGuides } from '../../src/http/guides.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { expectAccessible } from '../console/axe.ts';
import { findBrowser, NO_BROWSER, sharedBrowser } from '../support/browser.ts';
import { testDatabase } from '../support/database.ts';
import { ask, toWire } from './raw_http.ts';

const api = testApi(testDatabase());
const found = await findBrowser();
const guides = readGuides();

test('every guide has a title of its own', () => {
  expect(guides.length).toBeGreaterThan(0);
  expect(guides.filter(({ title }) => title === '')).toEqual([]);
  expect(new Set(guides.map(({ title }) => title)).size).toBe(guides.length);
});

describe('GET /docs/{guide}', () => {
  test.each(guides)(
    '200: $name is a page with its title and with links to all guides',
    async ({ name, title }) => {
      const response = await fetch(`${api.url}/docs/${name}`);
      const page = await response.text();
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=utf-8',
      ]);
      expect(page).toContain(`>${title}</h1>`);
      for (const other of guides) expect(page).toContain(`href="/docs/${other.name}"`);
    },
  );

  test('304 for a client that has the page', async () => {
    const url = `${api.url}/docs/security-model`;
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    const headers = { Connection: 'close', 'If-None-Match': etag };
    const [answer] = await ask(api.url, toWire({ path: '/docs/security-model', headers }));
    expect(answer?.status).toBe(304);
  });

  const missing = [
    'no-guide',
    'security_model',
    '..%2fhttp%2fdocs',
    'security-model.md',
    '%',
    '<img src=x onerror=alert(1)>',
  ];
  test('404 not_found: a page that does not exist, and a file outside the folder; the guides are named', async () => {
    for (const name of missing) {
      const answer = await api.call('GET', `/docs/${name}`);
      expectRefusal(answer, 'not_found');
      expect(answer.body.detail).toMatch(/^There is no such page\. The guides are \/docs\//);
      for (const guide of guides) expect(answer.body.detail).toContain(`/docs/${guide.name}`);
    }
  });

  test('404: a browser gets a page with links to the guides', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const name of missing) {
      const response = await fetch(`${api.url}/docs/${name}`, { headers: { accept } });
      const page = await response.text();
      expect([response.status, response.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ]);
      expect(page).toContain('>There is no such page.</h1>');
      expect(page).not.toContain('alert(1)');
      for (const guide of guides) expect(page).toContain(`href="/docs/${guide.name}"`);
    }
  });
});

describe('in a browser', () => {
  let context: BrowserContext | undefined;
  beforeEach(({ skip }) => skip(found === null, NO_BROWSER));
  afterEach(() => context?.close());

  test.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)(
    '%i pixels, %s: every guide fits, and axe finds nothing',
    async (width, colorScheme) => {
      const browser = await sharedBrowser(found as NonNullable<typeof found>);
      context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
      const page = await context.newPage();
      for (const name of [...guides.map((guide) => guide.name), 'no-guide']) {
        await page.goto(`${api.url}/docs/${name}`);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        await expectAccessible(page, `/docs/${name}`);
      }
    },
  );
});
