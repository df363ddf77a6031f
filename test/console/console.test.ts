import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { makeWelcome, OWNER, testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { COLOURS, expectAccessible } from './axe.ts';
import { fillLogin, NO_BROWSER, shown, testBrowser } from './in_browser.ts';

/** What the shell and the first page may weigh on the wire. */
const FIRST_LOAD_BYTES_MAX = 300 * 1024;

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
testWorker(database);

const chromium = testBrowser();
const openPage = (width = 1280) => chromium.openFresh({ viewport: { width, height: 800 } });

const signUp = (name: string) =>
  api.call('POST', '/v1/events', {
    key: api.project.server_key,
    body: {
      event: 'user_signed_up',
      external_id: name,
      properties: { email: `${name}@example.com`, first_name: name },
    },
  });

describe('the Console in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (!chromium.isThere) return;
    await keepConsole();
    await makeWelcome(database, api.project.project_id);
    await inProject(database.deps, api.project.project_id, (scope) =>
      suppress(scope, { email: 'bob@example.com', reason: 'hard_bounce', source: 'smtp' }),
    );
  }, 60_000);

  test.each(['light', 'dark'] as const)(
    'who points at a button can read it, %s',
    async (colorScheme) => {
      const { page } = await openPage();
      await page.emulateMedia({ colorScheme });
      await page.goto(`${api.url}/console`);
      await page.getByRole('button', { name: 'Sign in' }).hover();
      await expectAccessible(page, `a button that is pointed at, ${colorScheme}`, {
        rules: COLOURS,
      });
    },
  );

  test('somebody signs in, sees an event arrive, its mail and its person, and signs out', async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${api.url}/console`);
    await fillLogin(page, 'not the password');
    await page.getByRole('alert').getByText('No person has this').waitFor();
    await fillLogin(page, OWNER.password);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('No event has arrived yet').waitFor();
    // Whichever project it is: the file has the keys of one.
    await page
      .getByText(/keys of its project Example, and no others, in \.trunkline\/dev\.json/)
      .waitFor();
    const keys = page.getByText('Send a first event').getByRole('link', { name: 'keys' });
    expect(await keys.getAttribute('href')).toMatch(/\/settings\/keys$/);

    // Nothing is clicked: the page asks by itself.
    await signUp('ann');
    await page.getByRole('listitem').filter({ hasText: 'user_signed_up' }).waitFor();
    await signUp('bob');

    await page.getByRole('link', { name: 'Send log' }).click();
    await page.getByRole('heading', { name: 'Send log' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'ann@example.com' });
    await shown(row.getByText('Queued', { exact: true })).waitFor();
    await page.getByLabel('Recipient').fill('bob@example.com');
    await page.keyboard.press('Enter');
    const other = page.getByRole('row').filter({ hasText: 'bob@example.com' });
    await shown(other.getByText('Suppressed', { exact: true })).waitFor();
    expect(await row.count()).toBe(0);

    await page.getByRole('link', { name: 'Profiles' }).click();
    await page.getByRole('heading', { name: 'Profiles' }).waitFor();
    await page.getByRole('searchbox').fill('ann');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'ann', exact: true }).click();
    await page.getByRole('heading', { name: 'ann', exact: true }).waitFor();
    await page.getByText('May be mailed').waitFor();
    await page.getByRole('row', { name: 'first_name ann' }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'user_signed_up' }).waitFor();

    await page.getByRole('link', { name: 'Suppressions' }).click();
    await page.getByRole('heading', { name: 'Suppressions' }).waitFor();
    const suppressed = page.getByRole('row').filter({ hasText: 'bob@example.com' });
    await shown(suppressed.getByText('Hard bounce')).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    // The browser stays known; nothing of the session is left.
    const left = await page.context().cookies();
    expect(left.map(({ name }) => name)).toEqual(['trunkline_device']);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a link into the Console leads there after signing in, and only to pages of its own', async () => {
    const { page, complaints } = await openPage();
    const path = `/console/p/${api.project.project_id}/sends?status=suppressed`;
    await page.goto(api.url + path);
    await fillLogin(page, OWNER.password);
    await page.getByRole('heading', { name: 'Send log' }).waitFor();
    expect(page.url()).toBe(api.url + path);

    const { page: lured } = await openPage();
    await lured.goto(`${api.url}/console/sign-in?next=https://evil.example/p/`);
    await fillLogin(lured, OWNER.password);
    await lured.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(new URL(lured.url()).origin).toBe(api.url);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a session that ended elsewhere leads back to the sign-in page', async () => {
    const { page } = await openPage();
    await page.goto(`${api.url}/console`);
    await fillLogin(page, OWNER.password);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await database.owner.query('delete from admin.sessions');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  }, 60_000);

  test('on a telephone of 360 px a menu leads to the pages, and closes behind who has chosen', async () => {
    const { page, complaints } = await openPage(360);
    await page.goto(`${api.url}/console`);
    await fillLogin(page);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    const link = page.getByRole('link', { name: 'Send log' });
    await link.click();
    await page.getByRole('heading', { name: 'Send log' }).waitFor();
    await expect.poll(() => shown(link).count()).toBe(0);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('the first page weighs no more than 300 KiB zipped', async () => {
    const { page } = await openPage();
    await page.goto(`${api.url}/console`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const sizes = (await page.evaluate(
      `performance.getEntries().map((entry) => entry.encodedBodySize ?? 0)`,
    )) as number[];
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(sizes.length).toBeGreaterThan(5);
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX);
  }, 60_000);
});
