// Suppressions in the Console: both lists, an address with what was done about it, and changes by hand.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import {
  listChanges,
  addressKey,
  suppress,
  unsubscribe,
} from '../../src/suppression/suppression.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const within = <T>(work: Parameters<typeof inProject<T>>[2]): Promise<T> =>
  inProject(database.deps, api.project.project_id, work);

/** The page of the suppressions, somebody being signed in. */
const openList = async () => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}/suppressions`);
  await page.getByRole('heading', { name: 'Suppressions' }).waitFor();
  return { page, complaints };
};
const openAddress = async (page: Page, email: string): Promise<void> => {
  await page.goto(`${api.url}/console/p/${api.project.project_id}/suppressions/${email}`);
  await page.getByRole('heading', { name: email }).waitFor();
};
const historyOf = async (email: string) =>
  (await within((scope) => listChanges(scope, addressKey(scope, email)))).map(
    ({ change, source, note }) => ({ change, source, note }),
  );

describe('suppressions in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (!chromium.isThere) return;
    await keepConsole();
    await within(async (scope) => {
      await suppress(scope, { email: 'bob@example.com', reason: 'hard_bounce', source: 'test' });
      await suppress(scope, { email: 'cid@example.com', reason: 'complaint', source: 'test' });
      await unsubscribe(scope, { email: 'ann@example.com', source: 'link' });
    });
  }, 60_000);

  test('both lists are there, each searched by address', async () => {
    const { page, complaints } = await openList();
    await page.getByRole('link', { name: 'bob@example.com' }).waitFor();
    expect(await page.getByRole('link', { name: 'ann@example.com' }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Unsubscribed' }).click();
    await page.getByRole('link', { name: 'ann@example.com' }).waitFor();
    expect(await page.getByRole('link', { name: 'bob@example.com' }).count()).toBe(0);
    await page.getByRole('searchbox').fill('nobody@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('This address is not on the list').waitFor();
    await page.getByRole('searchbox').fill('ANN@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'ann@example.com' }).click();
    await page.getByText('Wants no marketing mail').waitFor();
    await page.getByText('by the link in a mail').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('an address is added by hand, lifted with a reason, unsubscribed and subscribed again', async () => {
    const { page, complaints } = await openList();
    const email = 'dan@example.com';
    await page.getByRole('button', { name: 'Add address' }).click();
    await page.getByLabel('Address').last().fill('no address');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('must be one e-mail address').waitFor();
    await page.getByLabel('Address').last().fill(email);
    await page.getByLabel('Note').fill('on the phone');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: email }).waitFor();
    await page.getByText('Gets no mail').waitFor();
    await page.getByLabel('Reason').fill('a mistake');
    await page.getByRole('button', { name: 'Lift the suppression' }).click();
    await page.getByText('May be mailed').waitFor();
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByText('Wants no marketing mail').waitFor();
    await page.getByRole('button', { name: 'Subscribe again' }).click();
    await page.getByText('May be mailed').waitFor();
    expect(await historyOf(email)).toEqual([
      { change: 'resubscribed', source: 'console', note: null },
      { change: 'unsubscribed', source: 'console', note: null },
      { change: 'released', source: 'console', note: 'a mistake' },
      { change: 'suppressed', source: 'console', note: 'on the phone' },
    ]);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a complaint is lifted only by who says a second time that they know of it', async () => {
    const { page } = await openList();
    await openAddress(page, 'cid@example.com');
    await page.getByLabel('Reason').fill('they wrote to us');
    const lift = page.getByRole('button', { name: 'Lift the suppression' });
    expect(await lift.isDisabled()).toBe(true);
    await page.getByRole('checkbox').check();
    await lift.click();
    await page.getByText('May be mailed').waitFor();
  }, 60_000);

  test('a list is imported, reports what it could not read, and is taken back', async () => {
    const { page, complaints } = await openList();
    const emails = ['eve@example.com', 'fay@example.com'];
    await page.getByRole('button', { name: 'Import a list' }).click();
    await page
      .getByLabel('Or the list itself')
      .fill(`email,reason\n${emails[0]},unsubscribed\nnonsense\n${emails[1]},hard_bounce\n`);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('Addresses read: 2. New of them: 2.').waitFor();
    await page.getByText('Line 3: must be one e-mail address').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: emails[1] ?? '' }).click();
    await page.getByRole('button', { name: 'Take the import back' }).click();
    await page.getByRole('button', { name: 'Yes, take the whole import back' }).click();
    await page.getByText('May be mailed').waitFor();
    await openAddress(page, emails[0] ?? '');
    await page.getByText('May be mailed').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('of a list of which nothing can be read each line is told, and nothing was imported', async () => {
    const { page, complaints } = await openList();
    await page.getByRole('button', { name: 'Import a list' }).click();
    await page.getByLabel('Or the list itself').fill('email\nnonsense\nnone\n');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const refused = page.getByRole('alert').filter({ hasText: 'Nothing was imported' });
    await refused.getByText('line 2: must be one e-mail address').waitFor();
    await refused.getByText('line 3: must be one e-mail address').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a file of JSON is imported as well; what only begins like it is told so', async () => {
    const { page } = await openList();
    await page.getByRole('button', { name: 'Import a list' }).click();
    await page.getByLabel('Or the list itself').fill('[{"email":');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('This begins like JSON, and is none.').waitFor();
    const buffer = Buffer.from(JSON.stringify(['gus@example.com']));
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'A file' }).click();
    await (await chooser).setFiles({ name: 'a.json', mimeType: 'application/json', buffer });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('Addresses read: 1. New of them: 1.').waitFor();
  }, 60_000);
});
