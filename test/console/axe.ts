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

/** A busy machine draws few frames a second: a fade of 0.2 s may take many times as long. */
const FADES_MS_MAX = 10_000;
const AXE_MS_MAX = 20_000;

/** Nothing is judged while it fades in or out: what changed just now is drawn first, and begins to fade. */
const settle = (page: Page): Promise<unknown> =>
  page.evaluate(`Promise.race([
    new Promise((resolve) => setTimeout(resolve, ${FADES_MS_MAX})),
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
      Promise.all(
        document.getAnimations()
          .filter((one) => one.effect?.getTiming().iterations !== Infinity)
          .map((one) => one.finished.catch(() => {})),
      ),
    ),
  ])`);

/** By their ids, rules of which nothing is grave: what they find has the impact of its rule, so they need not look. */
const MILD = `Object.fromEntries(axe._audit.rules
  .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
  .map(({ id }) => [id, { enabled: false }]))`;

/** What changes with the colours of a page, and with nothing else. */
export const COLOURS = ['color-contrast', 'link-in-text-block'];

type Asked = {
  /** All, unless said otherwise. */
  rules?: readonly string[] | undefined;
  /** A selector of what is looked at: the whole page, unless said otherwise. */
  part?: string | undefined;
};

/** Fails when a page keeps somebody out: whatever axe calls serious or critical, by the element where it is. */
export const expectAccessible = async (
  page: Page,
  what: string,
  { rules, part }: Asked = {},
): Promise<void> => {
  await settle(page);
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const which = rules
    ? `runOnly: { type: 'rule', values: ${JSON.stringify(rules)}.filter((id) => !(id in mild)) }`
    : 'rules: mild';
  const found = (await page.evaluate(
    `((mild) => Promise.race([
      new Promise((_, reject) => setTimeout(() => reject(new Error('axe does not end')), ${AXE_MS_MAX})),
      axe.run(${part === undefined ? 'document' : JSON.stringify(part)},
        { resultTypes: ['violations'], iframes: false, ${which} }),
    ]))(${MILD}).then(({ violations }) => violations)`,
  )) as Violation[];
  const grave = found
    .filter(({ impact }) => GRAVE.includes(impact))
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
  expect(grave, what).toEqual([]);
};
