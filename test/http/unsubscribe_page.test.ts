// The page behind a mail's link, as people see it.
import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import {
  addressKey,
  findByEmail,
  makeUnsubscribeToken,
} from '../../src/suppression/suppression.ts';
import { NO_BROWSER, overflows, testBrowser } from '../console/in_browser.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const chromium = testBrowser();

const LONG =
  'Donaudampfschifffahrtsgesellschaftskapitänsmützen & Söhne International Holding GmbH & Co. KG';

const linkOf = (projectId: string, key: Buffer = randomBytes(32)): string => {
  const link = { projectId, addressKey: key, sendId: newId() };
  return `${api.url}/u/${makeUnsubscribeToken(database.deps.keys, link)}`;
};
const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();

/** The least contrast of the page's texts with what is behind them, as WCAG counts it. */
const leastContrast = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
    const light = (text) => {
      const [r, g, b] = rgb(text).slice(0, 3).map((part) => {
        const one = part / 255;
        return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => {
      const { backgroundColor } = getComputedStyle(one);
      const isSeen = (rgb(backgroundColor)[3] ?? 1) > 0;
      return isSeen || !one.parentElement ? backgroundColor : behind(one.parentElement);
    };
    const ratios = [...document.querySelectorAll('h1, p, button, small')].map((one) => {
      const [a, b] = [light(getComputedStyle(one).color), light(behind(one))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    });
    return Math.min(...ratios);
  })()`);

describe('the unsubscribe page in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));

  test('by the keyboard alone somebody leaves, comes back and leaves again', async () => {
    const { page, complaints } = await chromium.openPage();
    const { project_id: projectId } = api.project;
    const email = 'keys@example.net';
    const key = addressKey({ keys: database.deps.keys, projectId }, email);
    const state = async () =>
      (await inProject(database.deps, projectId, (scope) => findByEmail(scope, email)))
        ?.unsubscribed_at ?? null;
    await page.goto(linkOf(projectId, key));
    await heading(page, 'Unsubscribe from test?');
    expect(await state()).toBeNull();
    const press = async () => {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
    };
    await press();
    await heading(page, 'You are unsubscribed');
    expect(await state()).not.toBeNull();
    await press();
    await heading(page, 'You are subscribed again');
    expect(await state()).toBeNull();
    await press();
    await heading(page, 'You are unsubscribed');
    expect(await state()).not.toBeNull();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('it works without scripts', async () => {
    const { page } = await chromium.openFresh({ javaScriptEnabled: false });
    await page.goto(linkOf(api.project.project_id));
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await heading(page, 'You are unsubscribed');
  }, 60_000);

  test.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)(
    'at %i px, %s: every state fits, can be read and be pressed, whatever the sender is called',
    async (width, colorScheme) => {
      const { page, complaints } = await chromium.openFresh({
        viewport: { width, height: 800 },
        colorScheme,
      });
      const { project_id } = await createProject(database.deps, LONG);
      const canBeRead = async () => {
        expect(await overflows(page)).toBe(false);
        expect(await leastContrast(page)).toBeGreaterThanOrEqual(4.5);
      };
      const looksRight = async () => {
        await canBeRead();
        const box = await page.getByRole('button').boundingBox();
        expect(box?.height).toBeGreaterThanOrEqual(44);
      };
      await page.goto(linkOf(project_id));
      await looksRight();
      await page.getByRole('button').click();
      await heading(page, 'You are unsubscribed');
      await looksRight();
      await page.getByRole('button').click();
      await heading(page, 'You are subscribed again');
      await looksRight();
      await page.goto(`${api.url}/u/nothing-of-ours`);
      await heading(page, 'This link is not complete');
      await canBeRead();
      expect(await page.getByRole('button').count()).toBe(0);
      expect(complaints).toEqual([]);
    },
    60_000,
  );
});
