import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { PICTURES } from '../support/browser.ts';

const WIDTHS_PX = [1280, 360];
const HEIGHT_PX = 800;

/** Takes a picture of a whole page, where pictures are wanted (`CONSOLE_PICTURES`). */
export const takePicture = async (page: Page, name: string, width: number): Promise<void> => {
  if (PICTURES)
    await page.screenshot({ path: join(PICTURES, `${name}_${width}.png`), fullPage: true });
};

/** The same at each width. The page is as wide as before afterwards. */
export const takePictures = async (page: Page, name: string): Promise<void> => {
  if (!PICTURES) return;
  const before = page.viewportSize();
  for (const width of WIDTHS_PX) {
    await page.setViewportSize({ width, height: HEIGHT_PX });
    await takePicture(page, name, width);
  }
  if (before) await page.setViewportSize(before);
};
