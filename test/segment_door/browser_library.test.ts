// Segment's own library for browsers, from npm and unmodified, in a real Chromium on a page of another origin.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { testApi } from '../support/api.ts';
import { findBrowser, sharedBrowser } from '../support/browser.ts';
import { testDatabase } from '../support/database.ts';
import { faultyApi } from '../support/faulty_api.ts';
import { eventsOf } from '../sdk/server_told.ts';

const database = testDatabase();
const api = testApi(database);
const way = faultyApi(() => api.url);
const found = await findBrowser();
const FILES = join(
  dirname(createRequire(import.meta.url).resolve('@segment/analytics-next/package.json')),
  'dist',
  'umd',
);

/** The page, and the library beside it. */
const site = createServer((request, response) => {
  const name = basename((request.url ?? '').split('?')[0] ?? '');
  if (name.endsWith('.js')) {
    response.setHeader('content-type', 'text/javascript');
    createReadStream(join(FILES, name)).pipe(response);
    return;
  }
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>Pricing</title><script src="/index.js"></script>');
});

let browser: Browser;
beforeAll(async () => {
  await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
  if (found) browser = await sharedBrowser(found);
});
afterAll(() => {
  site.close();
  site.closeAllConnections();
});
beforeEach(async () => {
  api.project = await createProject(database.deps, 'segment');
});

const read = async (path: string) =>
  (await api.call('GET', path, { key: api.project.server_key })).body;
const told = () => eventsOf(database, api);

/** What the library makes of itself, as far as this test uses it. */
type Library = Record<
  'page' | 'track' | 'identify' | 'alias' | 'group',
  (...given: unknown[]) => Promise<unknown>
> & {
  user: () => Promise<{ anonymousId: () => string }>;
};

const openPage = async (delivery: object = {}): Promise<Page> => {
  const tab = await browser.newPage();
  await tab.goto(
    `http://127.0.0.1:${(site.address() as AddressInfo).port}/pricing?utm_source=news&utm_campaign=spring`,
  );
  await tab.evaluate(
    ([writeKey, apiHost, more]) => {
      const page = globalThis as unknown as {
        analytics: Library;
        AnalyticsNext: { AnalyticsBrowser: { load: (settings: object) => Library } };
      };
      const own = { apiKey: writeKey, apiHost, protocol: 'http', ...more };
      page.analytics = page.AnalyticsNext.AnalyticsBrowser.load({
        writeKey,
        cdnSettings: { integrations: { 'Segment.io': own } },
      } as object);
    },
    [api.project.publishable_key, `${new URL(way.url).host}/segment/v1`, delivery] as const,
  );
  return tab;
};

/** Runs a piece of the page's own code with the library. */
const run = <T>(tab: Page, work: (analytics: Library) => Promise<T>): Promise<T> =>
  tab.evaluate(`(${work.toString()})(globalThis.analytics)`) as Promise<T>;

test('page, track, identify, group and alias land on the right profile, from another origin', async ({
  skip,
}) => {
  if (!found) skip('there is no Chromium: install one, or set CHROMIUM_PATH');
  const tab = await openPage();
  const device = await run(tab, async (analytics) => {
    await analytics.page('Pricing');
    await analytics.track('Button Clicked', { label: 'Buy', position: { x: 1 } });
    const { anonymousId } = await analytics.user();
    await analytics.identify('ann', { email: 'ann@example.com' });
    await analytics.track('Order Completed', { total: 12.5 });
    await analytics.group('acme', { plan: 'pro' });
    await analytics.alias('ann', 'device-8');
    return anonymousId();
  });
  await expect.poll(told).toHaveLength(4);
  await api.processEvents();
  const events = await told();
  expect(events.map(({ name }) => name)).toEqual([
    'page_viewed',
    'button_clicked',
    'order_completed',
    'group_joined',
  ]);
  expect(events).toMatchObject([
    {
      anonymous_id: device,
      external_id: null,
      properties: { name: 'Pricing', path: '/pricing', title: 'Pricing' },
    },
    {
      properties: {
        label: 'Buy',
        position_x: 1,
        page_path: '/pricing',
        utm_source: 'news',
        utm_campaign: 'spring',
      },
    },
    { external_id: 'ann', anonymous_id: device, properties: { total: 12.5 } },
    { external_id: 'ann', properties: { group_id: 'acme', plan: 'pro' } },
  ]);
  await expect
    .poll(async () => (await read('/v1/identity-links?status=active')).items.length)
    .toBe(2);
  const profile = await read('/v1/profiles/external_id:ann');
  expect(profile).toMatchObject({
    email: 'ann@example.com',
    traits: { timezone: expect.any(String) },
  });
  const identifiers = profile.identifiers.map(({ value }: { value: string }) => value);
  expect(identifiers.toSorted()).toEqual(['ann', device, 'device-8'].toSorted());
  const { items } = await read('/v1/profiles/external_id:ann/events');
  expect(items).toHaveLength(4);
  await tab.close();
});

test('in batches too', async ({ skip }) => {
  if (!found) skip('there is no Chromium: install one, or set CHROMIUM_PATH');
  const tab = await openPage({
    deliveryStrategy: { strategy: 'batching', config: { size: 3, timeout: 100 } },
  });
  await run(tab, async (analytics) => {
    for (let n = 0; n < 7; n += 1) await analytics.track('Step Taken', { n });
  });
  await expect.poll(told).toHaveLength(7);
  const steps = (await told()).map(({ properties }) => Number(properties['n']));
  expect(steps.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  await tab.close();
});

test('after 500 and 429 it sends again, and each event is stored once', async ({ skip }) => {
  if (!found) skip('there is no Chromium: install one, or set CHROMIUM_PATH');
  const headers = { 'access-control-allow-origin': '*', 'retry-after': '1' };
  const faults = [
    { status: 500, headers },
    { status: 429, headers },
  ];
  way.decide((_path, method) => (method === 'POST' && faults.shift()) || 'pass');
  const tab = await openPage();
  await run(tab, async (analytics) => {
    await analytics.track('Step Taken', { n: 0 });
    await analytics.track('Step Taken', { n: 1 });
  });
  await expect.poll(told).toHaveLength(2);
  expect(faults).toEqual([]);
  // A header that only repeated requests have: the browser was let send it.
  expect(way.seen.some((one) => one.headers['x-retry-count'] === '1')).toBe(true);
  await tab.close();
});
