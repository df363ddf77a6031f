// What somebody does in the graph of an automation, and sees of it.
import type { Locator, Page } from 'playwright-core';

export const addAfter = async (page: Page, where: string, kind: string): Promise<void> => {
  const name = `Add a step after ${where}`;
  await page.getByRole('button', { name, exact: true }).click();
  // By its name: the menu before it may be fading out.
  await page.getByRole('menu', { name, exact: true }).getByRole('menuitem', { name: kind }).click();
};

/** Whether the whole of something can be seen in the pane of the graph. */
export const isInPane = async (page: Page, what: Locator): Promise<boolean> => {
  const pane = await page.locator('.graph').boundingBox();
  const box = await what.boundingBox();
  if (!pane || !box) return false;
  const isWithin = (from: number, size: number, start: number, length: number) =>
    from >= start && from + size <= start + length;
  return (
    isWithin(box.y, box.height, pane.y, pane.height) &&
    isWithin(box.x, box.width, pane.x, pane.width)
  );
};
