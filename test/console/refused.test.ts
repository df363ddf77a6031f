// What people are told of what they typed, or came with: which field is wrong and how, and that an id is none of ours.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { arrive, bringSession, fillLogin, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const pathOf = (path: string) => `${api.url}/console/p/${api.project.project_id}${path}`;
const open = async (path: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(pathOf(path));
  await arrive(page);
  return { page, complaints };
};

describe('what is refused, in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('the page of an id that is none says that there is nothing, as of one that is nobody’s', async () => {
    const { page, complaints } = await open('/sends');
    const nobodys = crypto.randomUUID();
    for (const [path, what] of [
      ['/sends', 'send'],
      ['/profiles', 'profile'],
      ['/automations', 'automation'],
      ['/templates', 'template'],
      ['/segments', 'segment'],
      ['/links', 'link'],
      ['/settings/providers', 'provider'],
    ])
      for (const id of ['nope', `${nobodys}x`, nobodys]) {
        await page.goto(pathOf(`${path}/${id}`));
        await page.getByRole('heading', { level: 1, name: `There is no such ${what}` }).waitFor();
        expect([path, id, await page.getByText('could not be loaded').count()]).toEqual([
          path,
          id,
          0,
        ]);
      }
    expect(complaints).toEqual([]);
  }, 120_000);

  test('a list that cannot be read says which field is wrong, and how, and is asked for once', async () => {
    const { page } = await open('/suppressions');
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('xxxx')) asked += 1;
    });
    await page.getByRole('searchbox').fill(`${'x'.repeat(300)}@example.com`);
    await page.keyboard.press('Enter');
    const alert = page.getByRole('alert');
    await alert.getByText('email: at most 254 characters').waitFor();
    expect(await alert.textContent()).not.toContain('schema');
    expect(asked).toBe(1);
  }, 60_000);

  test('a name that is too long is refused by what is wrong with it', async () => {
    const { page } = await open('/segments/new');
    await page.getByLabel('Name', { exact: true }).fill('x'.repeat(300));
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText(/^name: at most \d+ characters$/).waitFor();
    expect(await alert.textContent()).not.toContain('schema');
  }, 60_000);

  test('blanks around a pasted address let somebody in, and an empty form says what is missing', async () => {
    const { page } = await chromium.openPage();
    await page.goto(pathOf(''));
    await fillLogin(page, OWNER.password, ' ');
    await page.getByRole('alert').getByText('email: must not be empty').waitFor();
    await fillLogin(page, OWNER.password, `\u00A0 ${OWNER.email} \u00A0`);
    await arrive(page);
  }, 60_000);
});
