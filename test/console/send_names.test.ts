// What a send has to do with, by name, and the log of one automation's mails.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EXAMPLE_AUTOMATION, keepExample } from '../../src/runtime/example.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { sendsOf } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { smtpSink } from '../support/smtp_sink.ts';
import { bringSession, NO_BROWSER, shown, testBrowser } from './in_browser.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();
const sink = smtpSink();

/** A send of the example's automation to Ann, and one of an automation that nobody knows. */
const planSends = async () => {
  api.project = await keepExample(database.deps, null, {
    display_name: 'The house relay',
    from_email: 'hello@shop.test',
    from_name: 'Shop',
    reply_to: null,
    ...sink.settings,
  });
  const { project_id: projectId, server_key: key } = api.project;
  const traits = { email: 'ann@example.com' };
  await api.call('POST', '/v1/identify', { key, body: { external_id: 'ann', traits } });
  const { rows } = await database.owner.query<{ of: Record<string, string> }>(
    `select jsonb_build_object(
       'profileId', (select profile_id from identity.identities where project_id = $1 and value = 'ann'),
       'automationId', (select automation_id from automations.automations where project_id = $1),
       'providerId', (select provider_id from providers.providers where project_id = $1)) as of`,
    [projectId],
  );
  const sends = sendsOf(database, projectId);
  const own = await sends.handingOff({ ...rows[0]?.of, recipient: 'ann@example.com' });
  const other = await sends.handingOff({ recipient: 'bob@example.com' });
  return { own, other };
};

describe('a send in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('names whom and what it has to do with; the log is of one automation, where that is chosen', async () => {
    const { own, other } = await planSends();
    const { page, complaints } = await chromium.openPage();
    await bringSession(page, api.url, await admin.openSession());
    const log = `${api.url}/console/p/${api.project.project_id}/sends`;
    const all = () => shown(page.getByRole('link', { name: /@example.com/ }));

    await page.goto(`${log}/${other.sendId}`);
    await page.getByText('a provider that was deleted').waitFor();
    await page.goto(`${log}/${own.sendId}`);
    await page.getByRole('link', { name: 'The house relay' }).waitFor();
    await page.getByRole('link', { name: 'ann', exact: true }).waitFor();
    await page.getByText('step welcome').waitFor();
    await page.getByRole('link', { name: `${EXAMPLE_AUTOMATION}, and why they got it` }).click();
    await page.getByRole('link', { name: 'All its mails' }).click();
    await page.getByRole('heading', { name: 'Send log' }).waitFor();
    await all().first().waitFor();
    expect(await all().allTextContents()).toEqual(['ann@example.com']);
    const choice = page.getByRole('combobox', { name: 'Automation' });
    await page.waitForFunction(`document.querySelector('input[value=Welcome]') !== null`);

    await page.goto(log);
    await all().nth(1).waitFor();
    await choice.click();
    await page.getByRole('option', { name: EXAMPLE_AUTOMATION }).click();
    await page.getByRole('link', { name: 'bob@example.com' }).waitFor({ state: 'detached' });
    await all().first().waitFor();
    expect(await all().allTextContents()).toEqual(['ann@example.com']);
    expect(complaints).toEqual([]);
  }, 60_000);
});
