import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { PICTURES } from '../support/browser.ts';
import { COLOURS, expectAccessible } from './axe.ts';
import { loaded, overflows } from './in_browser.ts';

const WIDE_PX = 1280;
const NARROW_PX = 360;
const HEIGHT_PX = 800;

/** Each colour with each width; what is the same in all of them is asked once for each width. */
const LOOKS = [
  { width: WIDE_PX, colorScheme: 'light', rules: undefined },
  { width: WIDE_PX, colorScheme: 'dark', rules: COLOURS },
  { width: NARROW_PX, colorScheme: 'dark', rules: undefined },
  { width: NARROW_PX, colorScheme: 'light', rules: COLOURS },
] as const;

const pathOf = (folder: string, name: string): string =>
  join(folder, `${name.replaceAll(/[^\w.]+/g, '_').replace(/^_/, '')}.png`);

const picture = async (page: Page, name: string): Promise<void> => {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: pathOf(PICTURES, name), fullPage: true });
  // What is in a frame is drawn only as far as it is on the screen: each has a picture of its own.
  for (const [at, frame] of (await page.locator('iframe:visible').all()).entries())
    await frame.screenshot({ path: pathOf(PICTURES, `${name} frame ${at + 1}`) });
  await page.evaluate('scrollTo(0, 0)');
};

/** They go on where the last page was left: each change of the width has a page laid out and drawn anew. */
const looksFrom = (page: Page) =>
  page.viewportSize()?.width === NARROW_PX ? LOOKS.toReversed() : LOOKS;

/**
 * Looks at a page, light and dark, on a wide and on a narrow screen: nobody is kept out, nothing sticks out. Of what
 * shares its colours, and what is around it, with a page that was looked at wholly, each width and each colour is seen
 * once.
 */
export const lookAt = async (page: Page, what: string, isWhole = true): Promise<void> => {
  // Nothing is pointed at: what was clicked on the last page may have something else where it was.
  await page.mouse.move(0, 0);
  for (const { width, colorScheme, rules } of looksFrom(page)) {
    if (!isWhole && rules && !PICTURES) continue;
    const name = `${what} ${width} ${colorScheme}`;
    await page.setViewportSize({ width, height: HEIGHT_PX });
    await page.emulateMedia({ colorScheme });
    const scheme = page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`);
    await scheme.waitFor({ state: 'attached' });
    await loaded(page);
    await expectAccessible(page, name, { rules, part: isWhole ? undefined : 'main' });
    expect(await overflows(page), name).toBe(false);
    await picture(page, name);
  }
  expect(await page.title(), what).toMatch(/^\S.* · Trunkline$/);
  expect(await page.getByRole('heading', { level: 1 }).count(), `${what}: one main heading`).toBe(
    1,
  );
};
