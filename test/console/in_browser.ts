import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, expect } from 'vitest';
import { PROOF_HEADER } from '../../src/admin/cookie_names.ts';
import { OWNER } from '../support/admin.ts';
import { findBrowser, NO_BROWSER, sharedBrowser } from '../support/browser.ts';
import { inHalves } from '../support/session.ts';

const TIMEOUT_MS = 30_000;
export { NO_BROWSER };

const found = await findBrowser();

type Opened = { page: Page; complaints: string[] };

export type TestBrowser = {
  isThere: boolean;
  /**
   * The file's page, of which nothing is left but the code that it has loaded; where the test has it already, a fresh
   * one.
   */
  openPage: (width?: number) => Promise<Opened>;
  /** A page of a browser that nobody used before, until the end of the test or of the file. */
  openFresh: (options?: BrowserContextOptions, until?: 'test' | 'file') => Promise<Opened>;
};

const WIDE_PX = 1280;
const HEIGHT_PX = 800;
/** What a page is listened to for. */
const LISTENED = [
  'console',
  'pageerror',
  'request',
  'response',
  'requestfailed',
  'dialog',
  'popup',
  'load',
];

/** Everything that a page complains about from now on. */
const hear = (page: Page): Opened => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A refusal is an answer of 4xx, which every browser writes down.
    const isRefusal = /status of 4\d\d/.test(message.text());
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints };
};

/** Leaves a page as if nobody had used it, at an address of the same origin where nothing runs. */
const sweep = async (page: Page): Promise<void> => {
  const context = page.context();
  for (const name of LISTENED) await page.removeAllListeners(name, { behavior: 'ignoreErrors' });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.goto(new URL('/empty-page', page.url()).href);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await context.clearCookies();
  await page.emulateMedia({ media: null, colorScheme: null, reducedMotion: null });
};

/** Chromium for a test file. */
export const testBrowser = (): TestBrowser => {
  const contexts = { test: [] as BrowserContext[], file: [] as BrowserContext[] };
  let own: Page | undefined;
  let isLent = false;

  const openFresh: TestBrowser['openFresh'] = async (options = {}, until = 'test') => {
    if (found === null) throw new Error(NO_BROWSER);
    const browser = await sharedBrowser(found);
    const viewport = { width: WIDE_PX, height: HEIGHT_PX };
    const context = await browser.newContext({ viewport, ...options });
    contexts[until].push(context);
    context.setDefaultTimeout(TIMEOUT_MS);
    return hear(await context.newPage());
  };
  const openPage: TestBrowser['openPage'] = async (width = WIDE_PX) => {
    const viewport = { width, height: HEIGHT_PX };
    if (isLent) return openFresh({ viewport });
    isLent = true;
    if (!own || own.isClosed()) {
      const opened = await openFresh({ viewport }, 'file');
      own = opened.page;
      return opened;
    }
    await own.setViewportSize(viewport);
    return hear(own);
  };

  const closeAll = async (until: 'test' | 'file'): Promise<void> => {
    for (const context of contexts[until].splice(0)) await context.close();
  };
  afterEach(async () => {
    await closeAll('test');
    if (isLent && own && !own.isClosed()) await sweep(own).catch(() => own?.context().close());
    isLent = false;
  });
  afterAll(() => closeAll('file'));

  return { isThere: found !== null, openPage, openFresh };
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

/** Brings the session of a person who is signed in already: the cookie, and the proof that the page has stored. */
export const bringSession = async (page: Page, url: string, session: string): Promise<void> => {
  const { cookie = '', [PROOF_HEADER]: proof = '' } = inHalves(session);
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url, sameSite: 'Strict' }]);
  await page.goto(new URL('/empty-page', url).href);
  await page.evaluate(`localStorage.setItem('trunkline.session_proof', ${JSON.stringify(proof)})`);
};

/** Until the sign-in page is left and a page of the Console is there, with what it has asked for. */
export const arrive = async (page: Page): Promise<void> => {
  await page.waitForURL(({ pathname }) => !pathname.endsWith('/sign-in'));
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  await loaded(page);
};

/**
 * Until nothing on the page is on its way any more, nor in its frames. A page that keeps asking is never idle, and bars
 * that say how far something is may stay.
 */
export const loaded = async (page: Page): Promise<void> => {
  const waiting = shown(page.getByLabel(/^(?:Loading|Rendering|Counting)$/));
  await expect.poll(() => waiting.count(), { timeout: TIMEOUT_MS }).toBe(0);
  for (const frame of page.frames()) if (!frame.isDetached()) await frame.waitForLoadState();
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
