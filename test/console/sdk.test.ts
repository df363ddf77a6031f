// How events are sent, as the Console shows it: texts that work as they are copied, and the first event arriving.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepBrowserSdk } from '../../src/runtime/browser_sdk_build.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { moduleSnippet, scriptTagSnippet } from '../../src/sdk/snippets.ts';
import { segmentSnippet, serverSnippet } from '../../src/sdk/snippets.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { testSite } from '../sdk/door.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const site = testSite();
const chromium = testBrowser();

const open = async (options = {}) => {
  const { page, complaints } = await chromium.openFresh(options);
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}/settings/sdk`);
  await page.getByRole('heading', { name: 'SDK snippet' }).waitFor();
  return { page, complaints };
};

const tabs = [
  ['Script tag', scriptTagSnippet, 'publishable'],
  ['Module', moduleSnippet, 'publishable'],
  ['Server', serverSnippet, 'server'],
  ['Segment', segmentSnippet, 'server'],
] as const;

describe('the SDK snippet in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (!chromium.isThere) return;
    await keepConsole();
    await keepBrowserSdk();
  }, 60_000);

  test('each text is copied with the key that was pasted and the address of this service', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, complaints } = await open({ permissions });
    for (const [name, snippet, kind] of tabs) {
      await page.getByRole('tab', { name }).click();
      const key = kind === 'server' ? api.project.server_key : api.project.publishable_key;
      await page.getByLabel(`Your ${kind} key`).fill(` ${key} `);
      await page.getByRole('button', { name: `Copy the text: ${name}` }).click();
      const copied = await page.evaluate('navigator.clipboard.readText()');
      expect(copied).toBe(snippet({ key, apiHost: api.url }));
    }
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a server key is not put into a text for pages, and why is said', async () => {
    const { page } = await open();
    await page.getByLabel('Your publishable key').fill(api.project.server_key);
    await page.getByText('Never put a server key into a page').waitFor();
    expect(await page.getByLabel('Script tag: the text').textContent()).toBe(
      scriptTagSnippet({ apiHost: api.url }),
    );
  }, 60_000);

  test('the page waits for the first event, and shows it when it arrives', async () => {
    const { page, complaints } = await open();
    await page.getByText('Waiting for your first event').waitFor();
    // Nothing is clicked: the page asks by itself, and what arrives came from its own text.
    const { publishable_key: key } = api.project;
    const { page: customers } = await chromium.openPage();
    site.put(
      '/',
      `<!doctype html><title>Shop</title>${scriptTagSnippet({ key, apiHost: api.url })}`,
    );
    await customers.goto(site.url);
    await page.getByRole('listitem').filter({ hasText: 'page_viewed' }).waitFor();
    await page.getByRole('heading', { name: 'Events arrive' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);
});
