// The bounce mailbox of a provider in the Console: added, refused, failing, changed and removed.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { imapServer } from '../support/imap_server.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const sinks = counterparts(database);
const imap = imapServer();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const openTab = async (providerId: string) => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  const project = api.project.project_id;
  await page.goto(`${api.url}/console/p/${project}/settings/providers/${providerId}`);
  await page.getByRole('tab', { name: 'Bounces' }).click();
  return { page, complaints };
};

describe('a bounce mailbox in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test('is added after a refusal at its field, and nothing typed is lost', async () => {
    const { id } = (await providersOf(api).create(fieldsOf(sinks, 'smtp'))).body;
    const { page, complaints } = await openTab(id);
    const form = page.getByRole('form', { name: 'Bounce mailbox' });
    const { host, port, username, password } = imap.settings;
    await form.getByLabel('Host', { exact: true }).fill(host);
    await form.getByLabel('Port', { exact: true }).fill(String(port));
    await form.getByLabel('User name').fill(username);
    await form.getByRole('textbox', { name: 'Password' }).fill('wrong');
    await form.getByLabel('Bounce address (optional)').fill('bounces@shop.test');
    await form.getByLabel('Use a separate bounce address').check();
    const save = form.getByRole('button', { name: 'Save bounce mailbox' });
    await save.click();
    await form.getByRole('alert').getByText('saved nothing').waitFor();
    const secret = form.getByRole('textbox', { name: 'Password' });
    expect(await secret.getAttribute('aria-invalid')).toBe('true');
    expect(await form.getByLabel('Host', { exact: true }).inputValue()).toBe(host);
    await secret.fill(password);
    await save.click();
    await page.getByText('Tested and saved.').waitFor();
    await page.getByText('Not read yet').waitFor();
    const { bounce_mailbox: shown } = (await providersOf(api).read(id)).body;
    expect(shown).toMatchObject({ host, port, bounce_address: 'bounces@shop.test', verp: true });
    expect(complaints).toEqual([]);
  });

  test('that stopped says why, and is removed with a second press', async () => {
    const fields = fieldsOf(sinks, 'smtp', { bounce_mailbox: imap.settings });
    const { id } = (await providersOf(api).create(fields)).body;
    await database.owner.query(
      `update providers.bounce_mailboxes set status = 'stopped', failed_at = now(),
        failure = 'bounce_mailbox_login_refused', read_at = now(), message_count = 3, report_count = 1
      where provider_id = $1`,
      [id],
    );
    const { page } = await openTab(id);
    await page.getByText('Stopped', { exact: true }).waitFor();
    await page.getByText('refused the user name or the password').waitFor();
    await page
      .getByText('3 messages read since the settings were saved, 1 of them about')
      .waitFor();
    await page.getByRole('button', { name: 'Remove bounce mailbox' }).click();
    await page.getByRole('button', { name: 'Yes, remove it' }).click();
    await page.getByText('Stopped', { exact: true }).waitFor({ state: 'detached' });
    expect((await providersOf(api).read(id)).body.bounce_mailbox).toBe(null);
  });

  test('is none of a provider without SMTP', async () => {
    const { id } = (await providersOf(api).create(fieldsOf(sinks, 'relay_api'))).body;
    const { page } = await chromium.openPage();
    await bringSession(page, api.url, await admin.openSession());
    await page.goto(`${api.url}/console/p/${api.project.project_id}/settings/providers/${id}`);
    await page.getByRole('tab', { name: 'Domain' }).waitFor();
    expect(await page.getByRole('tab', { name: 'Bounces' }).count()).toBe(0);
  });
});
