// The pages of a project beside the one that is open: all are seen, or at least that one.
import type { Locator, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const LOW = { width: 1280, height: 560 };
/** As high as an entry is, so that the next one is seen, too. */
const ROOM_PX = 30;

const openPage = async (rest: string, size?: typeof LOW): Promise<Page> => {
  const { page } = await chromium.openPage();
  if (size) await page.setViewportSize(size);
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}${rest}`);
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  return page;
};

/** How much room there is above and below an entry, to where entries are cut. */
const roomAround = async (entry: Locator): Promise<{ above: number; below: number }> => {
  const nav = entry.page().getByRole('navigation', { name: 'Pages' });
  const [box, pane] = [
    await entry.boundingBox(),
    await nav.locator('xpath=ancestor::*[contains(@class, "ScrollArea-viewport")]').boundingBox(),
  ];
  if (!box || !pane) throw new Error('it is not drawn');
  return { above: box.y - pane.y, below: pane.y + pane.height - box.y - box.height };
};

describe('the navigation in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('a window of 800 px shows all of its entries', async () => {
    const page = await openPage('/settings/audit');
    const entries = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    expect((await roomAround(entries.first())).above).toBeGreaterThanOrEqual(0);
    expect((await roomAround(entries.last())).below).toBeGreaterThanOrEqual(0);
  }, 60_000);

  test('a lower one shows the entry of the page, with others around it', async () => {
    const page = await openPage('/settings/keys', LOW);
    const nav = page.getByRole('navigation', { name: 'Pages' });
    expect((await roomAround(nav.getByRole('link').first())).above).toBeLessThan(0);
    const isAmongOthers = async (name: string): Promise<boolean> => {
      const { above, below } = await roomAround(nav.getByRole('link', { name }));
      return above >= ROOM_PX && below >= ROOM_PX;
    };
    await expect.poll(() => isAmongOthers('Keys')).toBe(true);
  }, 60_000);
});
