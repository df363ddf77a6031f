import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { OWNER } from '../support/admin.ts';
import { findBrowser, launch, NO_BROWSER } from '../support/browser.ts';

const TIMEOUT_MS = 30_000;
export { NO_BROWSER };

const found = await findBrowser();

type Opened = { page: Page; complaints: string[] };

export type TestBrowser = {
  isThere: boolean;
  /** A page of a browser that nobody used before, and everything it complained about. */
  openPage: (width?: number, options?: BrowserContextOptions) => Promise<Opened>;
};

/** Chromium for a test file. */
export const testBrowser = (): TestBrowser => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (found !== null) browser = await launch(found);
  }, 60_000);
  afterAll(() => browser?.close());

  return {
    isThere: found !== null,
    openPage: async (width = 1280, options = {}) => {
      if (!browser) throw new Error(NO_BROWSER);
      const context = await browser.newContext({ viewport: { width, height: 800 }, ...options });
      context.setDefaultTimeout(TIMEOUT_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        // A refusal is an answer of 4xx, which every browser writes down.
        const isRefusal = /status of 4\d\d/.test(message.text());
        if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      return { page, complaints };
    },
  };
};

export const fillLogin = async (
  page: Page,
  password = OWNER.password,
  email = OWNER.email,
): Promise<void> => {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
};

/** Brings the session of somebody who is signed in already. */
export const bringSession = async (page: Page, url: string, cookie: string): Promise<void> => {
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url, sameSite: 'Strict' }]);
};

/** Until the sign-in page is left and a page of the Console is there, with what it has asked for. */
export const arrive = async (page: Page): Promise<void> => {
  await page.waitForURL(({ pathname }) => !pathname.endsWith('/sign-in'));
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  await loaded(page);
};

/** Until nothing on the page is on its way any more. A page that keeps asking is never idle. */
export const loaded = async (page: Page): Promise<void> => {
  const waiting = shown(page.getByLabel('Loading', { exact: true }));
  await expect.poll(() => waiting.count(), { timeout: TIMEOUT_MS }).toBe(0);
};

/** Of what is there for wide and for narrow screens, the one that is shown. */
export const shown = (several: Locator): Locator => several.filter({ visible: true });

/** Whether something reaches beyond the right edge, so that one would have to scroll sideways. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > window.innerWidth');

type Control = {
  ariaLabel: string | null;
  textContent: string | null;
  outerHTML: string;
  labels?: Iterable<{ textContent: string | null }> | null;
};

const nameOf = ({ ariaLabel, textContent, labels }: Control): string =>
  [ariaLabel, textContent, ...[...(labels ?? [])].map((label) => label.textContent)].join('');

/** Fails unless each control of the page has a name that a screen reader can say. */
export const expectNames = async (page: Page): Promise<void> => {
  const controls = await page
    .getByRole('main')
    .locator('button:not([aria-hidden="true"]), a[href], input:visible')
    .all();
  for (const control of controls) {
    const html = await control.evaluate((one: Control) => one.outerHTML);
    expect((await control.evaluate(nameOf)).trim(), html).not.toBe('');
  }
};
