// How the graph of an automation is shown at first, and when its pane gets another size.
import type { Locator, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { isInPane } from './graph_hands.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

/** As wide as a step is drawn where nothing is zoomed. */
const STEP_WIDTH_PX = 250;

const step = (page: Page, id: string): Locator => page.locator(`[data-step="${id}"]`);
const boxOf = async (what: Locator) => {
  const box = await what.boundingBox();
  if (!box) throw new Error('it is not drawn');
  return box;
};
const zoomOf = async (page: Page): Promise<number> =>
  (await boxOf(step(page, '/trigger'))).width / STEP_WIDTH_PX;

/** How far something is from the middle of the pane, to the right. */
const fromMiddle = async (page: Page, what: Locator): Promise<number> => {
  const [box, pane] = [await boxOf(what), await boxOf(page.locator('.graph'))];
  return box.x + box.width / 2 - pane.x - pane.width / 2;
};
const isInMiddle = async (page: Page): Promise<boolean> =>
  Math.abs(await fromMiddle(page, step(page, '/trigger'))) < 2;

/** An automation of so many waits, one after the other. */
const makeWaits = async (count: number): Promise<string> => {
  const idOf = (at: number): string | null => (at < count ? `wait_${at + 1}` : null);
  const steps = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      idOf(at),
      { kind: 'delay', duration: 'P1D', next: idOf(at + 1) },
    ]),
  );
  const trigger = { kind: 'event', event: 'user_signed_up' };
  const { status, body } = await api.call('POST', '/v1/automations', {
    key: api.project.server_key,
    body: { name: `${count} waits`, definition: { trigger, entry: idOf(0), steps } },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
};

const openPage = async (rest: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}/automations/${rest}`);
  await step(page, '/trigger').waitFor();
  return { page, complaints };
};

describe('the graph in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('what fits is shown whole, in the middle of whatever room there is', async () => {
    const { page, complaints } = await openPage('new');
    const panel = page.getByRole('region', { name: 'What is open' });
    await panel.waitFor();
    await until('the trigger is in the middle beside the panel', () => isInMiddle(page));
    expect(await isInPane(page, step(page, '/trigger'))).toBe(true);
    await page.getByRole('button', { name: 'Close the panel' }).click();
    await panel.waitFor({ state: 'detached' });
    await until('it is in the middle without the panel', () => isInMiddle(page));
    await page.setViewportSize({ width: 1100, height: 800 });
    await until('it is in the middle of a smaller window', () => isInMiddle(page));
    expect(await zoomOf(page)).toBe(1);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('what does not fit begins with the trigger, large enough to be read', async () => {
    const { page, complaints } = await openPage(await makeWaits(7));
    const end = page.locator('.graph-end');
    expect(await zoomOf(page)).toBeCloseTo(0.8);
    expect(await isInPane(page, step(page, '/trigger'))).toBe(true);
    expect(await isInMiddle(page)).toBe(true);
    expect(await isInPane(page, end)).toBe(false);
    await page.getByRole('button', { name: 'Fit view' }).click();
    await until('all of it is in sight', () => isInPane(page, end));
    expect(await isInPane(page, step(page, '/trigger'))).toBe(true);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('whoever has moved it sees on what they saw', async () => {
    const { page, complaints } = await openPage(await makeWaits(8));
    await page.mouse.move(600, 500);
    await page.mouse.wheel(60, 300);
    await until('it has moved', async () => !(await isInPane(page, step(page, '/trigger'))));
    const before = await boxOf(step(page, 'wait_4'));
    const seen = await fromMiddle(page, step(page, 'wait_4'));
    await page.getByRole('button', { name: 'Settings' }).click();
    const moved = async () => (await boxOf(step(page, 'wait_4'))).x !== before.x;
    await until('the pane has become narrower', moved);
    expect(await fromMiddle(page, step(page, 'wait_4'))).toBeCloseTo(seen, 0);
    expect((await boxOf(step(page, 'wait_4'))).y).toBeCloseTo(before.y, 0);
    expect(complaints).toEqual([]);
  }, 60_000);
});
