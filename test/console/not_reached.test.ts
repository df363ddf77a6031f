// Pages whose code is asked for while the service is away, or after it was replaced by a newer one.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { bringSession, loaded, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const chromium = testBrowser();

/** The Overview, as an editor has it. */
const open = async () => {
  const { project_id: projectId } = api.project;
  const { cookie } = await makePerson(database, { projectId, role: 'editor' });
  const { page } = await chromium.openFresh();
  await bringSession(page, api.url, cookie);
  await page.goto(`${api.url}/console/p/${projectId}`);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await loaded(page);
  return page;
};

describe('code that does not come', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
    api.project = await createProject(database.deps, 'not reached');
  }, 60_000);

  test('a page asked for while nothing answers says so inside the Console, until something does', async () => {
    const page = await open();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Templates' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await alert.waitFor();
    const again = alert.getByRole('button', { name: 'Try again' });
    await again.click();
    await expect.poll(() => again.isEnabled()).toBe(true);
    await page.getByRole('link', { name: 'Segments' }).waitFor();

    await page.context().setOffline(false);
    await again.click();
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
    await page.getByRole('link', { name: 'Segments' }).click();
    await page.getByRole('heading', { level: 1, name: 'Segments' }).waitFor();
  }, 60_000);

  test('a page whose code a newer release has replaced is asked for by loading the Console again', async () => {
    const page = await open();
    // Gone for good, however often it is asked for, until a newer Console has come.
    let isOld = true;
    page.once('load', () => (isOld = false));
    await page.route(/\/templates-[^/]*\.js$/, (route) =>
      isOld ? route.abort() : route.continue(),
    );
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
  }, 60_000);
});
