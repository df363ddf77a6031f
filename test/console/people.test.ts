// Who may do what, as people meet it: asking for access, being let in, and what a role is not offered.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { Somebody } from '../support/people.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { newId } from '../../src/base/ids.ts';
import { procedures } from '../admin/role_table.ts';
import { expectNames, fillLogin, NO_BROWSER, overflows, shown, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const chromium = testBrowser();

const ANN = 'ann@people.test';
const ANNS_PASSWORD = 'the password of ann';

const openAs = async ({ cookie }: Somebody, path: string, width = 1280) => {
  const { page, complaints } = await chromium.openPage(width);
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: api.url, sameSite: 'Strict' }]);
  await page.goto(`${api.url}/console${path}`);
  return { page, complaints };
};
const inProject = (path: string) => `/p/${api.project.project_id}${path}`;
const makeOwner = () => makePerson(database, { projectId: api.project.project_id, role: 'owner' });

/** Somebody without an account asks to be let in. */
const requestAccess = async (): Promise<string[]> => {
  const { page, complaints } = await chromium.openPage();
  await page.goto(`${api.url}/console`);
  await page.getByRole('link', { name: 'Request access' }).click();
  await page.getByLabel('E-mail address').fill('no address');
  await page.getByLabel('Your name').fill('Ann Miller');
  await page.getByLabel('What do you want it for?').fill('The newsletter of our choir');
  await page.getByRole('button', { name: 'Ask for access' }).click();
  await page.getByText('must be one e-mail address').waitFor();
  await page.getByLabel('E-mail address').fill(ANN);
  await page.getByRole('button', { name: 'Ask for access' }).click();
  await page.getByText('Your request is kept').waitFor();
  return complaints;
};

/** An administrator lets her in as a viewer; answers the link that she is given. */
const approve = async (): Promise<string> => {
  const { page, complaints } = await chromium.openPage();
  await page.goto(`${api.url}/console`);
  await fillLogin(page);
  await page.getByRole('link', { name: 'Installation' }).click();
  const request = page.getByRole('listitem', { name: ANN });
  await request.getByText('The newsletter of our choir').waitFor();
  await request.getByRole('combobox', { name: 'Into' }).click();
  await page.getByRole('option', { name: 'test', exact: true }).click();
  await request.getByRole('combobox', { name: 'As' }).click();
  await page.getByRole('option', { name: 'Viewer' }).click();
  await request.getByRole('button', { name: 'Let them in' }).click();
  const link = (await page.getByRole('status').locator('pre').textContent()) ?? '';
  await page.getByRole('tab', { name: 'Let in' }).click();
  await page.getByRole('listitem', { name: ANN }).getByText('Let into test by').waitFor();
  expect(complaints).toEqual([]);
  return link;
};

const places = [
  ['Automations', 'ask an editor to build an automation', 'New automation'],
  ['Templates', 'ask an editor to write a template', 'New template'],
  ['Segments', 'ask an editor to make a segment', 'New segment'],
  ['Suppressions', 'ask an editor to add addresses', 'Add address'],
  ['Email providers', 'ask an editor', 'Add provider'],
  ['Webhooks', 'ask an owner for a new token', 'Make a new token'],
  ['Members', 'ask an owner to invite somebody', 'Invite'],
  ['Keys', 'ask an owner for a key', 'Make a new'],
  ['Audit log', 'ask an owner who changed what', 'Load more'],
] as const;

/** What a viewer finds where others change something: who may, and no button. */
const lookAround = async (page: Page): Promise<void> => {
  for (const [name, said, button] of places) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByText(`Your role here is viewer: ${said}`).first().waitFor();
    expect(await page.getByRole('button', { name: button }).count(), name).toBe(0);
  }
};

/** What the server answers the same browser that tries it all the same. */
const tryEverything = async (page: Page): Promise<string[]> => {
  const data = { projectId: api.project.project_id };
  const refused: string[] = [];
  for (const { name, type, needs = 'admin' } of procedures) {
    // What a viewer may post only reads, by its declaration: test/admin/roles.test.ts.
    if (type !== 'mutation' || ['nobody', 'person', 'viewer'].includes(needs)) continue;
    const answer = await page.request.post(`${api.url}/admin/trpc/${name}`, {
      data,
      headers: { origin: api.url },
    });
    if (answer.status() !== 403) refused.push(`${name}: ${answer.status()}`);
  }
  return refused;
};

describe('people in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('somebody asks for access, is let in, and is a viewer who can change nothing', async () => {
    expect(await requestAccess()).toEqual([]);
    const link = await approve();
    const { page, complaints } = await chromium.openPage();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(link);
    await page.getByText('You are invited to test, as viewer.').waitFor();
    await page.getByLabel('Choose a password').fill(ANNS_PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const token = link.split('#')[1] ?? 'none';
    expect(requested.filter((url) => url.split('#')[0]?.includes(token))).toEqual([]);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await fillLogin(page, ANNS_PASSWORD, ANN);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await lookAround(page);
    expect(await page.getByRole('link', { name: 'Installation' }).count()).toBe(0);
    expect(await tryEverything(page)).toEqual([]);

    await page.goto(link);
    await page.getByText('This invitation is over').waitFor();
    expect(complaints).toEqual([]);
  }, 90_000);

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
    const row = page.getByRole('row').filter({ hasText: 'members.changeRole' });
    await row.getByText(bob.personId).waitFor();
    await shown(row.getByText(owner.email)).waitFor();
    await page.getByRole('combobox', { name: 'What' }).click();
    await page.getByRole('option', { name: 'invitations.revoke' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'invitations.revoke' }).waitFor();
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
    await page.getByText('this one').waitFor();
    await page.getByRole('button', { name: 'End all others' }).waitFor();
    await page.getByLabel('Old password').fill(PASSWORD);
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('at least 12 characters').waitFor();
    await page.getByLabel('New password').fill('another good password');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password is changed.').waitFor();
    await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
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

  test('every page of these fits a telephone of 360 px, and every control has a name', async () => {
    const boss = await makePerson(database, {
      isAdmin: true,
      email: `${'long'.repeat(12)}@people.test`,
    });
    await keepProvider(database, api.project.project_id, newId());
    const paths = [
      ...['members', 'keys', 'audit'].map((name) => inProject(`/settings/${name}`)),
      '/account',
      '/people',
      '/access-requests',
      '/access-requests?status=approved',
      '/request-access',
      '/invitation',
      '/sign-in',
    ];
    for (const path of paths) {
      const { page, complaints } = await openAs(boss, path, 360);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await overflows(page), path).toBe(false);
      await expectNames(page);
      expect(complaints, path).toEqual([]);
    }
  }, 90_000);
});
