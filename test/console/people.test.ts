// Who may do what, as people meet it: members and their roles, accounts, keys. How somebody is let in: story.test.ts.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { bringSession, fillLogin, NO_BROWSER, shown, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const chromium = testBrowser();

const openAs = async ({ cookie }: SignedInPerson, path: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, cookie);
  await page.goto(`${api.url}/console${path}`);
  return { page, complaints };
};
const inProject = (path: string) => `/p/${api.project.project_id}${path}`;
const makeOwner = () => makePerson(database, { projectId: api.project.project_id, role: 'owner' });

describe('people in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('an owner invites, takes back, gives another role, and finds it all in the audit log', async () => {
    const owner = await makeOwner();
    const projectId = api.project.project_id;
    const bob = await makePerson(database, { email: 'bob@people.test', projectId, role: 'viewer' });
    const { page, complaints } = await openAs(owner, inProject('/settings/members'));
    await page.getByLabel('E-mail address').fill('carol@people.test');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('Copy the link now').waitFor();
    await page.getByRole('button', { name: 'Take back the invitation of carol' }).click();
    await page.getByText('Not used yet').waitFor({ state: 'detached' });

    const role = page.getByRole('combobox', { name: `Role of ${bob.email}` });
    await role.click();
    await shown(page.getByRole('option', { name: 'Owner' })).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your password').fill('not my password');
    await page.keyboard.press('Enter');
    await dialog.getByText('This is not your password.').waitFor();
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => role.inputValue()).toMatch(/^Owner/);

    await page.getByRole('link', { name: 'Audit log' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Changed the role of a member' });
    await row.getByText(bob.personId).waitFor();
    await shown(row.getByText(owner.email)).waitFor();
    await page.getByRole('combobox', { name: 'What' }).click();
    await page.getByRole('option', { name: 'Took back an invitation' }).click();
    await row.waitFor({ state: 'detached' });
    const taken = page.getByRole('row').filter({ hasText: 'Took back an invitation' });
    await taken.getByText('invitations.revoke').waitFor();
    await page.getByLabel('Until').fill('2020-01-01');
    await page.getByText('No change matches').waitFor();
    expect(complaints).toEqual([]);
  }, 90_000);

  test('somebody changes their password, and ends their other sessions', async () => {
    const owner = await makeOwner();
    const other = await openAs(owner, inProject('/'));
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const { page, complaints } = await chromium.openPage();
    await page.goto(`${api.url}/console`);
    await fillLogin(page, PASSWORD, owner.email);
    await page.getByRole('link', { name: owner.email }).click();
    await page.getByText('This session').waitFor();
    await page.getByRole('button', { name: 'End other sessions' }).waitFor();
    await page.getByLabel('Old password').fill(PASSWORD);
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('at least 12 characters').waitFor();
    await page.getByLabel('New password').fill('another good password');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed.').waitFor();
    await page.getByRole('button', { name: 'End other sessions' }).waitFor({ state: 'detached' });
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(complaints).toEqual([]);
  }, 90_000);

  test('a key is made with the password, shown once, and revoked', async () => {
    const { page, complaints } = await openAs(await makeOwner(), inProject('/settings/keys'));
    await page.getByRole('button', { name: 'Make a new server key' }).click();
    await page.getByRole('dialog').getByLabel('Your password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    const key = (await page.getByRole('status').locator('pre').textContent()) ?? '';
    expect((await api.call('GET', '/v1/sends', { key })).status).toBe(200);
    await page.getByRole('button', { name: `key that ends in ${key.slice(-4)}` }).click();
    await page.getByRole('button', { name: 'Yes, revoke' }).click();
    await page.getByText(`…${key.slice(-4)}`).waitFor({ state: 'detached' });
    expect((await api.call('GET', '/v1/sends', { key })).status).toBe(401);
    expect(complaints).toEqual([]);
  }, 90_000);
});
