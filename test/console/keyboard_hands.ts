// Somebody who has no pointer: keys are pressed as they press them, and after each it is looked where the focus is.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

const PRESSES_MAX = 160;

/**
 * What has the focus, in the page's own words: its name, whether it can be seen there, and how it and what is around it
 * look. Fields are drawn by what surrounds them, small inputs by their label.
 */
const LOOK = `(async () => {
  const one = document.activeElement;
  const before = window.trunklineFocused;
  // An editor of code, and a frame, note a little later that they have the focus, or have it no more.
  if ([one, before?.one].some((each) => each?.closest('.cm-editor, iframe')))
    await new Promise((resolve) => setTimeout(resolve, 50));
  if (!one || one === document.body) return null;
  for (const animation of document.getAnimations())
    if (animation.effect?.getTiming().iterations !== Infinity) animation.finish();
  const looks = (all) => all.filter(Boolean).map((each) => {
    const { outline, boxShadow, border, backgroundColor, color } = getComputedStyle(each);
    return [outline, boxShadow, border, backgroundColor, color].join();
  });
  const drawnBy = (each) => [
    each, each.nextElementSibling, each.parentElement, each.closest('label, .cm-editor'), ...(each.labels ?? []),
  ];
  const stays = before && before.one !== one && before.one.isConnected
    && looks(before.all).join(';') === before.look;
  const all = drawnBy(one);
  const box = [one, ...(one.labels ?? []), one.parentElement]
    .filter((each) => each && getComputedStyle(each).opacity !== '0')
    .map((each) => each.getBoundingClientRect()).find(({ width, height }) => width > 1 && height > 1);
  const isSeen = box !== undefined && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const at = isSeen && document.elementFromPoint(
    Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 1),
    Math.min(Math.max(box.top + box.height / 2, 1), innerHeight - 1),
  );
  const isCovered = isSeen && !all.some((each) => each && (each.contains(at) || at?.contains(each)));
  const coveredBy = isCovered ? at?.outerHTML.slice(0, 200) ?? 'nothing' : null;
  const name = one.ariaLabel || [...(one.labels ?? [])].map((label) => label.textContent).join(' ')
    || one.textContent.slice(0, 60) || one.tagName;
  window.trunklineFocused = { one, all, look: looks(all).join(';'), name };
  return { name, isSeen, coveredBy, unmarked: stays ? before.name : null };
})()`;

type Look = { name: string; isSeen: boolean; coveredBy: string | null; unmarked: string | null };

export type Hands = {
  press: (...keys: string[]) => Promise<void>;
  type: (text: string) => Promise<void>;
  /** Goes on with Tab, or back with Shift Tab, until something has the focus. */
  to: (target: Locator, key?: 'Tab' | 'Shift+Tab') => Promise<void>;
  /** The same, then presses Enter. */
  enter: (target: Locator) => Promise<void>;
  /** Fails unless something has the focus. */
  has: (target: Locator) => Promise<void>;
  /** Goes through the whole page; answers what had the focus, one after the other. */
  walk: () => Promise<string[]>;
};

/** The keys of a page. A Tab fails where what it leads to is out of sight, covered, or looks as if it had no focus. */
export const handsOn = (page: Page): Hands => {
  const look = async (): Promise<Look | null> => {
    const seen = (await page.evaluate(LOOK)) as Look | null;
    if (seen === null) return null;
    expect(seen, 'what has the focus is in sight').toMatchObject({
      isSeen: true,
      coveredBy: null,
    });
    expect(seen.unmarked, `looked the same with the focus as without it, before ${seen.name}`).toBe(
      null,
    );
    return seen;
  };
  const isAt = async (target: Locator): Promise<boolean> =>
    (await target.and(page.locator(':focus')).count()) > 0;
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const to: Hands['to'] = async (target, key = 'Tab') => {
    await target.first().waitFor();
    for (let presses = 0; presses < PRESSES_MAX; presses += 1) {
      if (await isAt(target)) return;
      await press(key);
      await look();
    }
    throw new Error(`${String(target)} is not reached by ${key}`);
  };
  return {
    press,
    type: (text) => page.keyboard.type(text),
    to,
    enter: async (target) => {
      await to(target);
      await press('Enter');
    },
    has: (target) => expect.poll(() => isAt(target), { message: String(target) }).toBe(true),
    walk: async () => {
      const names: string[] = [];
      while (names.length < PRESSES_MAX) {
        await press('Tab');
        const seen = await look();
        if (seen === null) return names;
        names.push(seen.name);
      }
      throw new Error(`there is no end to it: ${names.slice(-10).join(' | ')}`);
    },
  };
};
