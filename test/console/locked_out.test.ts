// What people read when a password was wrong too often: why, what to do, and for how long.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  attemptConfirmation,
  CONFIRMATIONS_PER_SESSION_MAX,
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
} from '../../src/admin/throttle.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import { expectAccessible } from './axe.ts';
import { bringSession, fillLogin, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';
import { takePicture } from './pictures.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
beforeAll(async () => {
  if (chromium.isThere) await keepConsole();
}, 60_000);

const look = async (page: Page, name: string, width: number): Promise<void> => {
  expect(await overflows(page)).toBe(false);
  await expectAccessible(page, name);
  await takePicture(page, name, width);
};

describe.each([1280, 360])('at %i px', (width) => {
  test('the sign-in page says that the network is blocked, for how long, and what still works', async () => {
    await database.owner.query('delete from base.rate_limit_counters');
    const { email } = await makePerson(database);
    for (let at = 0; at < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; at += 1)
      expect((await admin.signIn({ email, password: 'not my password' })).status).toBe(401);
    const { page, complaints } = await chromium.openPage(width);
    await page.goto(`${api.url}/console`);
    await fillLogin(page, PASSWORD, email);
    const alert = page.getByRole('alert');
    await alert
      .getByText(/for this account came from your network\. Try again in 1[45] minutes\./)
      .waitFor();
    expect(await alert.textContent()).toContain('A browser that signed in to the account before');
    await look(page, 'sign_in_blocked', width);
    expect(complaints).toEqual([]);
  });

  test('the account page says that this session is blocked, for how long, and what still works', async () => {
    const { personId, cookie } = await makePerson(database);
    const { page, complaints } = await chromium.openPage(width);
    await bringSession(page, api.url, cookie);
    await page.goto(`${api.url}/console/account`);
    await page.getByText('This session').waitFor();
    await look(page, 'account', width);
    const { rows } = await database.owner.query(
      'select session_hash from admin.sessions where person_id = $1',
      [personId],
    );
    for (let at = 0; at < CONFIRMATIONS_PER_SESSION_MAX; at += 1)
      await attemptConfirmation(
        database.deps,
        { sessionHash: rows[0].session_hash, personId },
        () => Promise.resolve(null),
      );
    await page.getByLabel('Old password').fill(PASSWORD);
    await page.getByLabel('New password').fill('another good password');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page
      .getByText(/in this session\. Try again in 1[45] minutes, or sign out and sign in again\./)
      .waitFor();
    await look(page, 'account_blocked', width);
    expect(complaints).toEqual([]);
  });
});
