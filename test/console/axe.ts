import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = {
  id: string;
  impact: 'minor' | 'moderate' | 'serious' | 'critical' | null;
  help: string;
  nodes: { target: string[]; failureSummary?: string }[];
};

const GRAVE: Violation['impact'][] = ['serious', 'critical'];

const FADES_MS_MAX = 2_000;
const AXE_MS_MAX = 20_000;

/** Nothing is judged while it fades in or out. */
const settle = (page: Page): Promise<unknown> =>
  page.evaluate(`Promise.race([
    new Promise((resolve) => setTimeout(resolve, ${FADES_MS_MAX})),
    Promise.all(
      document.getAnimations()
        .filter((one) => one.effect?.getTiming().iterations !== Infinity)
        .map((one) => one.finished.catch(() => {})),
    ),
  ])`);

/** Fails when a page keeps somebody out: whatever axe calls serious or critical, by the element where it is. */
export const expectAccessible = async (page: Page, what: string): Promise<void> => {
  await settle(page);
  await page.evaluate(AXE);
  const found = (await page.evaluate(
    `Promise.race([
      new Promise((_, reject) => setTimeout(() => reject(new Error('axe does not end')), ${AXE_MS_MAX})),
      axe.run(document, { resultTypes: ['violations'], iframes: false }),
    ]).then(({ violations }) => violations)`,
  )) as Violation[];
  const grave = found
    .filter(({ impact }) => GRAVE.includes(impact))
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
  expect(grave, what).toEqual([]);
};
