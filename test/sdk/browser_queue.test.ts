import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import type { Fate } from './door.ts';
import { testShop } from './shop.ts';

const shop = testShop();

const LONG = { autocapture: false, flushIntervalMs: 600_000 };
const QUIET = { autocapture: false };

const happen = (page: Page, from: number, to: number) =>
  page.evaluate(`for (let n = ${from}; n <= ${to}; n += 1) trunkline.track('it_happened', { n })`);

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

const byNumber = (a: unknown, b: unknown): number => Number(a) - Number(b);

const storedNumbers = async (count: number): Promise<unknown[]> =>
  (await shop.storedOf('it_happened', count)).map(({ properties }) => properties['n']);

type Batch = { sent_at: string; events: { message_id: string }[] };
const batches = (): Batch[] => shop.door.received.map(({ body }) => JSON.parse(body) as Batch);
const sentIds = (): string[] =>
  batches().flatMap(({ events }) => events.map(({ message_id }) => message_id));

const waiting = (page: Page) =>
  page.evaluate(
    `Object.keys(localStorage).filter((name) => name.includes('.q.')).length`,
  ) as Promise<number>;
const warningsOf = (page: Page): string[] => {
  const warnings: string[] = [];
  page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  return warnings;
};

test('so many events as flushQueueSize says wait no longer, and go together', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { ...LONG, flushQueueSize: 5 });
  await page.goto(shop.site.url);
  await happen(page, 1, 4);
  expect(shop.door.received).toEqual([]);
  await happen(page, 5, 5);
  expect(await storedNumbers(5)).toEqual(numbers(1, 5));
  const [batch, ...others] = batches();
  expect([batch?.events.length, others]).toEqual([5, []]);
  expect(Math.abs(Date.parse(String(batch?.sent_at)) - Date.now())).toBeLessThan(60_000);
});

test('a tab that is closed hands over what waits, also when the browser has to ask first', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { flushIntervalMs: 600_000 });
  await page.goto(shop.site.url);
  await happen(page, 1, 3);
  let release = (): void => {};
  shop.door.hold(new Promise<void>((resolve) => (release = resolve)));
  await page.close();
  // Until there is nothing left of the page.
  const other = await page.context().newPage();
  await other.goto('data:text/html,Another');
  await other.goto('about:blank');
  release();
  expect(await storedNumbers(3)).toEqual([1, 2, 3]);
  await shop.storedOf('page_left', 1);
});

test('what a page cannot hand over when it goes the next one sends', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', LONG);
  shop.putPage('/next', '', QUIET);
  await page.goto(shop.site.url);
  // More than browsers let outlive a page.
  await page.evaluate(`
    for (let n = 1; n <= 9; n += 1) trunkline.track('it_happened', { n, text: 'x'.repeat(8000) });
  `);
  await page.goto(`${shop.site.url}/next`);
  expect((await storedNumbers(9)).toSorted(byNumber)).toEqual(numbers(1, 9));
  await until('nothing waits', async () => (await waiting(page)) === 0);
  expect((await shop.stored()).length).toBe(9);
});

test('a reload in mid-flush stores each event once', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', QUIET);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  shop.door.decide(async (): Promise<Fate> => {
    if (shop.door.received.length === 1) await released;
    return 'pass';
  });
  await page.goto(shop.site.url);
  await happen(page, 1, 6);
  await until('a flush', () => shop.door.received.length >= 1);
  await page.reload();
  await happen(page, 7, 8);
  await storedNumbers(8);
  release();
  await until('nothing waits', async () => (await waiting(page)) === 0);
  expect(await storedNumbers(8)).toEqual(numbers(1, 8));
  const [first, ...again] = batches();
  expect(again.flatMap(({ events }) => events)).toEqual(
    expect.arrayContaining(first?.events ?? []),
  );
});

test('tabs send for one another, and nothing is stored twice', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', QUIET);
  shop.putPage('/waits', '', { ...LONG, flushQueueSize: 1_000 });
  await page.goto(`${shop.site.url}/waits`);
  await happen(page, 1, 40);
  const tabs = await Promise.all([1, 2, 3].map(() => page.context().newPage()));
  await Promise.all(tabs.map((tab) => tab.goto(shop.site.url)));
  await Promise.all(tabs.map((tab, at) => happen(tab, 41 + at * 30, 70 + at * 30)));
  expect((await storedNumbers(130)).toSorted(byNumber)).toEqual(numbers(1, 130));
  await until('nothing waits', async () => (await waiting(page)) === 0);
  // A tab that is hidden hands over what another may be sending just then.
  expect(new Set(sentIds()).size).toBe(130);
  expect((await shop.stored()).length).toBe(130);
  expect(new Set((await shop.stored()).map(({ anonymous_id }) => anonymous_id)).size).toBe(1);
});

test('what one tab knows of the visitor all know', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', QUIET);
  const other = await page.context().newPage();
  for (const tab of [page, other]) await tab.goto(shop.site.url);
  const kept = (tab: Page) => tab.evaluate('JSON.stringify(Object.entries(localStorage).sort())');
  /** Browsers tell a tab in a moment what another has written, not at once. */
  const untilBothKnow = () =>
    until('both tabs see the same', async () => (await kept(page)) === (await kept(other)));
  await page.evaluate(`trunkline.identify('ann')`);
  await untilBothKnow();
  await happen(other, 1, 1);
  await page.evaluate(`trunkline.reset()`);
  await untilBothKnow();
  await happen(other, 2, 2);
  const [before, after] = await shop.storedOf('it_happened', 2);
  expect([before?.external_id, after?.external_id]).toEqual(['ann', null]);
  expect(after?.anonymous_id).not.toBe(before?.anonymous_id);
});

test('tabs without Web Locks store nothing twice either', async () => {
  const { page } = await shop.visit();
  await page
    .context()
    .addInitScript(`Object.defineProperty(navigator, 'locks', { value: undefined })`);
  shop.putPage('/', '', QUIET);
  const tabs = [page, await page.context().newPage()];
  await Promise.all(tabs.map((tab) => tab.goto(shop.site.url)));
  await Promise.all(tabs.map((tab, at) => happen(tab, 1 + at * 30, 30 + at * 30)));
  await storedNumbers(60);
  await until('nothing waits', async () => (await waiting(page)) === 0);
  expect((await shop.stored()).length).toBe(60);
  expect(new Set(sentIds()).size).toBe(60);
});

test('what the API names as bad is dropped and said, and the rest sent again at once', async () => {
  const { page } = await shop.visit();
  const warnings = warningsOf(page);
  const issues: Promise<{ path: string }[]>[] = [];
  page.on('console', (message) => {
    const [, , , own] = message.args();
    if (own) issues.push(own.jsonValue());
  });
  shop.putPage('/', '', { ...LONG, flushQueueSize: 8 });
  await page.goto(shop.site.url);
  await page.evaluate(`
    for (let n = 1; n <= 6; n += 1) trunkline.track('it_happened', { n });
    trunkline.track('Order Completed');
    trunkline.track('order_completed', { items: [1, 2] });
  `);
  expect(await storedNumbers(6)).toEqual(numbers(1, 6));
  // The page reads the answer later than the API stores the events.
  await until('nothing waits', async () => (await waiting(page)) === 0);
  expect(batches().map(({ events }) => events.length)).toEqual([8, 6]);
  expect((await shop.stored()).length).toBe(6);
  expect(warnings).toEqual([
    expect.stringContaining('Order Completed'),
    expect.stringContaining('items'),
  ]);
  // Each with what is wrong with itself.
  expect((await Promise.all(issues)).map((one) => one.map(({ path }) => path))).toEqual([
    ['/events/6/event'],
    ['/events/7/properties/items'],
  ]);
});

test('an event with a reserved name is dropped and said once, never sent again, and holds up nothing', async () => {
  const { page } = await shop.visit();
  const warnings = warningsOf(page);
  shop.putPage('/', '', { ...LONG, flushQueueSize: 3 });
  await page.goto(shop.site.url);
  await page.evaluate(`
    trunkline.track('it_happened', { n: 1 });
    trunkline.track('email_clicked');
    trunkline.track('it_happened', { n: 2 });
  `);
  expect(await storedNumbers(2)).toEqual([1, 2]);
  expect(batches().map(({ events }) => events.length)).toEqual([3, 2]);
  expect(warnings).toEqual([expect.stringContaining('email_clicked')]);
  await until('nothing waits', async () => (await waiting(page)) === 0);
});

test('an identify that is refused is dropped and said, and holds up nothing', async () => {
  const { page } = await shop.visit();
  const warnings = warningsOf(page);
  shop.putPage('/', '', QUIET);
  await page.goto(shop.site.url);
  await page.evaluate(`
    trunkline.identify('anonymous');
    trunkline.identify('');
    trunkline.reset();
    trunkline.track('it_happened', { n: 1 });
  `);
  expect(await storedNumbers(1)).toEqual([1]);
  expect(warnings).toEqual([
    expect.stringContaining('identify needs a user id'),
    expect.stringContaining('refused'),
  ]);
});

test('something that is no event, among what waits, is found and dropped', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { ...LONG, flushQueueSize: 20 });
  await page.goto(shop.site.url);
  await happen(page, 1, 19);
  await page.evaluate(`
    const [name] = Object.keys(localStorage).filter((one) => one.includes('.q.')).sort();
    localStorage.setItem(name.slice(0, -3) + 'zzz', '{"event": broken');
  `);
  await page.reload();
  await happen(page, 20, 20);
  await page.evaluate('trunkline.destroy()');
  expect(await storedNumbers(20)).toEqual(numbers(1, 20));
  await until('nothing waits', async () => (await waiting(page)) === 0);
});

test('a proxy that takes less at once gets less at once', async () => {
  const { page } = await shop.visit();
  shop.putPage('/', '', { ...LONG, flushQueueSize: 16 });
  shop.door.decide(({ body }) =>
    (JSON.parse(body) as Batch).events.length > 5 ? { status: 413 } : 'pass',
  );
  await page.goto(shop.site.url);
  await happen(page, 1, 16);
  expect(await storedNumbers(16)).toEqual(numbers(1, 16));
});

test('a key that is refused stops it, with one warning', async () => {
  const { page } = await shop.visit();
  const warnings = warningsOf(page);
  shop.putPage('/', '', { ...QUIET, flushQueueSize: 1, apiKey: 'svc_pub_live_nobody' });
  await page.goto(shop.site.url);
  await happen(page, 1, 5);
  await until('the warning', () => warnings.length > 0);
  await happen(page, 6, 30);
  await page.evaluate('trunkline.destroy()');
  expect(shop.door.received.length).toBe(1);
  expect(warnings).toEqual([expect.stringContaining('answered 401')]);
});

test(
  'past a thousand events the oldest are dropped, and that is said',
  { timeout: 90_000 },
  async () => {
    const { page } = await shop.visit();
    const warnings = warningsOf(page);
    shop.putPage('/', '', { ...LONG, flushQueueSize: 2_000 });
    await page.goto(shop.site.url);
    await happen(page, 1, 1_000);
    expect(await waiting(page)).toBe(1_000);
    expect(warnings).toEqual([]);
    await happen(page, 1_001, 1_002);
    expect(warnings.length).toBe(2);
    await page.evaluate('trunkline.destroy()');
    expect(await storedNumbers(1_000)).toEqual(numbers(3, 1_002));
  },
);

test('past a million characters the oldest are dropped; what is larger than an event may be never waits', async () => {
  const { page } = await shop.visit();
  const warnings = warningsOf(page);
  shop.putPage('/', '', { ...LONG, flushQueueSize: 2_000 });
  await page.goto(shop.site.url);
  await page.evaluate(`{
    const text = 'x'.repeat(8_000);
    trunkline.track('it_happened', { n: 0, a: text, b: text, c: text, d: text, e: text });
    for (let n = 1; n <= 34; n += 1)
      trunkline.track('it_happened', { n, a: text, b: text, c: text, d: text });
    trunkline.destroy();
  }`);
  await until('all is sent', async () => (await waiting(page)) === 0);
  const dropped = warnings.filter((said) => said.includes('dropped the oldest 1')).length;
  expect(warnings.filter((said) => said.includes('larger than 32768')).length).toBe(1);
  expect(dropped).toBeGreaterThan(1);
  expect(await storedNumbers(34 - dropped)).toEqual(numbers(dropped + 1, 34));
  for (const { body } of shop.door.received) expect(body.length).toBeLessThanOrEqual(2 ** 20);
});

test('a full queue is not listed anew for each event that comes', async () => {
  const { page } = await shop.visit();
  await page.addInitScript(`
    window.listed = 0;
    const ownKeys = (disk) => (listed += 1, Reflect.ownKeys(disk));
    const get = (disk, name) => (typeof disk[name] === 'function' ? disk[name].bind(disk) : disk[name]);
    Object.defineProperty(window, 'localStorage', { value: new Proxy(localStorage, { ownKeys, get }) });
  `);
  shop.putPage('/', '', { ...LONG, flushQueueSize: 9_000 });
  await page.goto(shop.site.url);
  await happen(page, 1, 2_500);
  expect(await page.evaluate('listed')).toBeLessThan(5);
  expect(await waiting(page)).toBe(1_000);
});

test('an apiHost that was left empty is the page’s own origin, which says that it knows nothing', async () => {
  const { page } = await shop.visit();
  const warnings = warningsOf(page);
  shop.putPage('/', '', { ...QUIET, apiHost: '' });
  await page.goto(shop.site.url);
  await happen(page, 1, 1);
  await until('a warning', () => warnings.length > 0);
  expect(warnings).toEqual([expect.stringContaining(`${shop.site.url} answered 404`)]);
});

test('a server that says 200 to everything is warned of, and has taken nothing', async () => {
  const { page } = await shop.visit();
  const warnings = warningsOf(page);
  shop.putPage('/', '', QUIET);
  shop.door.decide(() => (shop.door.received.length > 1 ? 'pass' : { status: 200 }));
  await page.goto(shop.site.url);
  await happen(page, 1, 3);
  expect(await storedNumbers(3)).toEqual(numbers(1, 3));
  expect(warnings).toEqual([expect.stringContaining('answered 200 and took nothing')]);
});
