// How much email strangers can cause: decided by an owner, seen on the overview, and required of a trigger.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { readSettings } from '../../src/delivery/settings.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { limitedSends } from '../delivery/limited.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';
import { takePictures } from './pictures.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const open = async (path: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(`${api.url}/console/p/${api.project.project_id}${path}`);
  return { page, complaints };
};

describe('sending limits in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('an emptied field is asked for, and changes nothing', async () => {
    const { page, complaints } = await open('/settings/sending-limits');
    const read = () => inProject(database.deps, api.project.project_id, readSettings);
    const before = await read();
    const fields = [
      'Emails to one recipient in 24 hours',
      'Emails to unconfirmed addresses in an hour',
    ];
    for (const typed of ['', ' ', '-1', '1.5', 'many']) {
      for (const label of fields) await page.getByLabel(label).fill(typed);
      await page.getByRole('button', { name: 'Change limits' }).click();
      await expect.poll(() => page.getByText('Enter a whole number.').count()).toBe(fields.length);
    }
    expect(await read()).toEqual(before);
    expect(await page.getByText('Changed.').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('an owner changes both limits; one past the bound is refused at its field', async () => {
    const { page, complaints } = await open('/settings/sending-limits');
    const recipient = page.getByLabel('Emails to one recipient in 24 hours');
    await recipient.fill('101');
    await page.getByRole('button', { name: 'Change limits' }).click();
    await page.getByText('at most 100').waitFor();
    await recipient.fill('7');
    await page.getByLabel('Emails to unconfirmed addresses in an hour').fill('50');
    await page.getByRole('button', { name: 'Change limits' }).click();
    await page.getByText('Changed.').waitFor();
    const kept = await inProject(database.deps, api.project.project_id, readSettings);
    expect(kept).toEqual({ recipient_sends_max: 7, unconfirmed_sends_max: 50 });
    // The browser itself reports the refused request.
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
  });

  test('the overview says how many emails wait for the hourly budget, and leads to the limits', async () => {
    const { sends, plan, person } = limitedSends(database, api.project.project_id);
    const { sendId } = await plan(await person());
    await sends.update(
      sendId,
      "status_reason = 'unconfirmed_budget', due_at = now() + interval '1 hour'",
    );
    const { page, complaints } = await open('');
    await page.getByText('1 email waits for the hourly budget').waitFor();
    await takePictures(page, 'overview_budget');
    await page.getByRole('link', { name: 'Change the sending limits' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sending limits' }).waitFor();
    await page.goto(`${api.url}/console/p/${api.project.project_id}/sends/${sendId}`);
    await page.getByText('It waits: the hourly budget for unconfirmed addresses is used').waitFor();
    await takePictures(page, 'send_budget');
    expect(complaints).toEqual([]);
  });

  test('a trigger can be limited to events of servers, in words on its card, too', async () => {
    const { page, complaints } = await open('/automations/new');
    await page.locator('[data-step="/trigger"]').click();
    const box = page.getByLabel('Only events from your servers');
    await box.check();
    await page.getByText('from a server').first().waitFor();
    await takePictures(page, 'trigger_source');
    await box.uncheck();
    await expect.poll(() => page.getByText('from a server').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
