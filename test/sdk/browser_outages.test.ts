import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { until } from '../support/until.ts';
import { testShop } from './shop.ts';

const TEST_TIMEOUT_MS = 90_000;
/** What the SDK waits for after a first failure, at least. */
const BACK_OFF_MS_MIN = 500;

const shop = testShop();

/** So many things happen, each with its number. */
const happen = (page: Page, from: number, to: number) =>
  page.evaluate(`for (let n = ${from}; n <= ${to}; n += 1) trunkline.track('it_happened', { n })`);

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** Waits until all have arrived, and fails if one did twice, or out of order. */
const expectOnce = async (to: number): Promise<void> => {
  const events = await shop.storedOf('it_happened', to);
  expect(events.map(({ properties }) => properties['n'])).toEqual(numbers(1, to));
};

const QUIET = { autocapture: false };
const waiting = (page: Page) =>
  page.evaluate(
    `Object.keys(localStorage).filter((name) => name.includes('.q.')).length`,
  ) as Promise<number>;

test(
  'an outage of the network loses nothing: all arrives once when it is back',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { page } = await shop.visit();
    shop.putPage('/', '', { ...QUIET, maxRetries: 0 });
    await page.goto(shop.site.url);
    await happen(page, 1, 3);
    await shop.storedOf('it_happened', 3);
    await page.context().setOffline(true);
    await happen(page, 4, 90);
    await until(
      'a try',
      () =>
        page.evaluate(
          `localStorage.length > 88 && Object.keys(localStorage).some((name) => name.endsWith('paused_until'))`,
        ) as Promise<boolean>,
    );
    expect(await waiting(page)).toBe(87);
    await page.context().setOffline(false);
    await expectOnce(90);
    await until('nothing waits', async () => (await waiting(page)) === 0);
    for (const { path, body } of shop.door.received) {
      expect(path).toBe('/v1/events/batch');
      expect((JSON.parse(body) as { events: object[] }).events.length).toBeLessThanOrEqual(50);
    }
  },
);

test(
  'requests and answers that are lost on the way are tried again, and nothing is stored twice',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { page } = await shop.visit();
    shop.putPage('/', '', QUIET);
    const fates = ['cut', 'lose_answer', 'lose_answer'] as const;
    let at = 0;
    shop.door.decide(() => fates[at++] ?? 'pass');
    await page.goto(shop.site.url);
    await happen(page, 1, 5);
    await until('nothing waits', async () => (await waiting(page)) === 0);
    expect(shop.door.received.length).toBe(4);
    await expectOnce(5);
  },
);

test(
  'a storm of 500s is not hammered: retries, then the next occasion, also over a reload',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { page } = await shop.visit();
    shop.putPage('/', '', { ...QUIET, maxRetries: 2 });
    shop.door.decide(() => ({ status: 500 }));
    await page.goto(shop.site.url);
    await happen(page, 1, 4);
    await until('all retries', () => shop.door.received.length >= 3);
    // Whatever else happens meanwhile, and on the next page, waits as well.
    await happen(page, 5, 30);
    await page.reload();
    await happen(page, 31, 40);
    expect(await waiting(page)).toBe(40);
    shop.door.decide(() => 'pass');
    await expectOnce(40);
    await until('nothing waits', async () => (await waiting(page)) === 0);

    const times = shop.door.received.map(({ atMs }) => atMs);
    for (const at of [1, 2, 3])
      expect(Number(times[at]) - Number(times[at - 1])).toBeGreaterThanOrEqual(
        BACK_OFF_MS_MIN * 2 ** (at - 1),
      );
    expect(times.length).toBeLessThanOrEqual(5);
    const [first, ...again] = shop.door.received.map(
      ({ body }) => (JSON.parse(body) as { events: object[] }).events,
    );
    for (const events of again) expect(events.slice(0, 4)).toEqual(first);
  },
);

test('Retry-After is kept by every tab, also of a 503', { timeout: TEST_TIMEOUT_MS }, async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', QUIET);
  const statuses = [429, 503];
  shop.door.decide(() => {
    const status = statuses.shift();
    return status === undefined ? 'pass' : { status, headers: { 'Retry-After': '2' } };
  });
  await page.goto(shop.site.url);
  const other = await page.context().newPage();
  await other.goto(shop.site.url);
  await happen(page, 1, 3);
  await until('the first refusal', () => shop.door.received.length >= 1);
  await happen(other, 4, 20);
  await expectOnce(20);
  const [first, second, third] = shop.door.received.map(({ atMs }) => atMs) as [
    number,
    number,
    number,
  ];
  expect(second - first).toBeGreaterThanOrEqual(2_000);
  expect(third - second).toBeGreaterThanOrEqual(2_000);
});

test('no Retry-After silences a page for more than an hour', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { ...QUIET, flushQueueSize: 1 });
  shop.door.decide(() => ({ status: 429, headers: { 'Retry-After': '86400' } }));
  await page.goto(shop.site.url);
  await happen(page, 1, 1);
  const left = await until(
    'a pause',
    () =>
      page.evaluate(`(() => {
        const name = Object.keys(localStorage).find((one) => one.endsWith('paused_until'));
        return name ? Number(localStorage.getItem(name)) - Date.now() : null;
      })()`) as Promise<number | null>,
  );
  expect(left).toBeGreaterThan(3_500_000);
  expect(left).toBeLessThanOrEqual(3_600_000);
  await happen(page, 2, 30);
  await page.reload();
  await happen(page, 31, 40);
  await page.evaluate('trunkline.destroy()');
  expect(shop.door.received.length).toBe(1);
});

let narrow: Listening;
beforeAll(async () => {
  const { deps } = shop.database;
  const config = { ...deps.config, rateLimitAddress: 1 };
  narrow = await openApi(
    { ...deps, config, resources: new Resources() },
    { isDraining: false },
    true,
  );
});
afterAll(() => narrow.close());

test(
  'the 429 of a service that is asked too much is waited out',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { page } = await shop.visit();
    const apiHost = `http://127.0.0.1:${narrow.port}`;
    shop.putPage('/', '', { ...QUIET, apiHost, flushQueueSize: 1 });
    const statuses: number[] = [];
    page.on('response', (answer) => {
      if (answer.request().method() === 'POST') statuses.push(answer.status());
    });
    await page.goto(shop.site.url);
    for (let n = 1; !statuses.includes(429); n += 1) {
      await happen(page, n, n);
      await until('an answer', () => statuses.length >= n);
    }
    const asked = statuses.length;
    await expectOnce(asked);
    await until('the last answer', () => statuses.length > asked);
    expect(statuses.slice(asked)).toEqual([202]);
  },
);
