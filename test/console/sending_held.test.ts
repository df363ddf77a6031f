// While nothing is sent, every page says so, why, and what to do about it.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { holdSending, readSending, resumeSending } from '../../src/base/sending.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { bringSession, expectNames, NO_BROWSER, overflows, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const chromium = testBrowser();

const openAs = async ({ cookie }: SignedInPerson, path: string, width = 1280) => {
  const { page, complaints } = await chromium.openPage(width);
  await bringSession(page, api.url, cookie);
  await page.goto(`${api.url}/console${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, complaints };
};
const inProject = (path = '') => `/p/${api.project.project_id}${path}`;

describe('while sending is held', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeEach(() => resumeSending(database.deps.db, { restoredAt: null, countsTimeline: true }));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('a viewer is told on every page, and whom to ask', async () => {
    await database.owner.query(`update base.sending set home = 'another', held_at = now()`);
    const projectId = api.project.project_id;
    const viewer = await makePerson(database, { projectId, role: 'viewer' });
    for (const path of [inProject(), inProject('/sends'), '/account']) {
      const { page, complaints } = await openAs(viewer, path, 360);
      await page.getByText('Nothing is sent').waitFor();
      await page.getByText('was restored from a backup').waitFor();
      await page.getByText('An operator resumes it with').waitFor();
      expect(await page.getByRole('button', { name: 'Resume sending' }).count()).toBe(0);
      expect(await overflows(page)).toBe(false);
      expect(complaints).toEqual([]);
    }
  }, 60_000);

  test('an administrator resumes it with the password, and is told what became of what waited', async () => {
    const boss = await makePerson(database, { isAdmin: true });
    const sends = sendsOf(database, api.project.project_id);
    const send = newSend();
    await sends.plan(send);
    await sends.update(send.sendId, `queued_at = now() - interval '1 hour', due_at = queued_at`);
    await holdSending(database.deps.db);
    const { page, complaints } = await openAs(boss, inProject());
    await page.getByText('with make hold-sending').waitFor();
    await expectNames(page);
    await page.getByRole('button', { name: 'Resume sending' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('radio', { name: 'Is not sent' }).isChecked()).toBe(true);
    await dialog.getByLabel('Your password').fill('not my password');
    await page.keyboard.press('Enter');
    await dialog.getByText('This is not your password.').waitFor();
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('Sending goes on').waitFor();
    await page.getByText('One send that waited is unknown now').waitFor();
    await page.getByText('Nothing is sent').waitFor({ state: 'detached' });
    expect((await readSending(database.deps.db)).is_held).toBe(false);
    await page.getByRole('link', { name: 'Those of this project' }).click();
    await page.getByRole('heading', { name: 'Send log' }).waitFor();
    await page.getByRole('link', { name: send.recipient }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a restore may also be what a trusted standby looks like', async () => {
    await database.owner.query(`update base.sending set home = 'another', held_at = now()`);
    const { page } = await openAs(await makePerson(database, { isAdmin: true }), '/people');
    await page.getByRole('button', { name: 'Resume sending' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Is sent now').click();
    await dialog.getByText('A failover to a standby does not hold sending any more').click();
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('Nothing that waited is in doubt.').waitFor();
    const { rows } = await database.owner.query('select counts_timeline from base.sending');
    expect(rows).toEqual([{ counts_timeline: false }]);
  }, 60_000);
});
