// Settings → Email providers: connected, tried, mended, tested, paced and forgotten in the Console.
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { createProject } from '../../src/projects/projects.ts';
import {
  allow,
  LINKS_PER_PROVIDER_MAX,
  noteFailure,
  noteSuccess,
  noteThrottled,
  park,
  spend,
} from '../../src/providers/providers.ts';
import { sendsOf } from '../delivery/one_send.ts';
import { counterparts, fieldsOf } from '../providers/counterparts.ts';
import type { KINDS } from '../providers/counterparts.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { API_KEY } from '../support/relay_sink.ts';
import { smtpSink } from '../support/smtp_sink.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';
import { used } from '../providers/used.ts';

const database = testDatabase();
const sinks = counterparts(database);
const open = smtpSink({ secure: 'none', offersAuth: false });
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();

const pathOf = (rest = ''): string =>
  `${api.url}/console/p/${api.project.project_id}/settings/providers${rest}`;
const within = <T>(work: Parameters<typeof inProject<T>>[2]): Promise<T> =>
  inProject(database.deps, api.project.project_id, work);

const openPage = async (rest = '') => {
  const { page, complaints } = await chromium.openPage();
  await bringSession(page, api.url, await admin.openSession());
  await page.goto(pathOf(rest));
  await page.getByRole('heading', { level: 1 }).and(page.locator('main *')).waitFor();
  return { page, complaints };
};
const save = (page: Page) => page.getByRole('button', { name: 'Try and save' }).click();
/** A provider that works, made by the API. */
const made = async (kind: (typeof KINDS)[number] = 'relay_api'): Promise<string> => {
  const key = api.project.server_key;
  const path = `/v1/projects/${api.project.project_id}/email-providers`;
  const { body } = await api.call('POST', path, { key, body: fieldsOf(sinks, kind, {}) });
  return body.id;
};

describe('e-mail providers in a browser', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'of its own');
  });

  test('from nothing to a provider: what is missing or refused is said at its field, nothing is lost', async () => {
    const { page, complaints } = await openPage();
    await page.getByText('No provider is connected yet').waitFor();
    await page.getByRole('link', { name: 'Add provider' }).click();
    await page.getByRole('radio', { name: 'SMTP2GO' }).click();
    await save(page);
    expect(await page.getByText('is required').count()).toBe(3);
    expect(await page.locator(':focus').getAttribute('name')).toBe('display_name');
    await page.getByLabel('Name', { exact: true }).fill('Onboarding');
    await page.getByLabel('From address').fill('hello@example.com');
    await page.getByLabel('API key').fill('api-wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('what you typed is still here').waitFor();
    const key = page.getByLabel('API key');
    expect(await key.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('From address').inputValue()).toBe('hello@example.com');
    // Another kind is looked at meanwhile.
    await page.getByRole('radio', { name: 'Amazon SES' }).click();
    await page.getByLabel('Secret access key').waitFor();
    await page.getByRole('radio', { name: 'SMTP2GO' }).click();
    expect(await key.inputValue()).toBe('api-wrong');
    await key.fill(API_KEY);
    await save(page);
    await page.getByRole('heading', { name: 'Onboarding' }).waitFor();
    await page.getByText('In use').waitFor();
    expect(await page.content()).not.toContain(API_KEY);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a record is changed without its secret, given a warm-up, and deleted by who says so twice', async () => {
    const id = await made();
    const { page, complaints } = await openPage(`/${id}`);
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await page.getByLabel('Warm-up from').fill(new Date().toISOString().slice(0, 10));
    await page.getByLabel('Sends a day').fill('7, x');
    await save(page);
    await page.getByText(/^must be a (?:whole )?number$/).waitFor();
    await page.getByLabel('Sends a day').fill('7, 70');
    await save(page);
    await page.getByText('Tried, and saved.').waitFor();
    await page.getByText('Warm-up: 0 of 7 sends of today').waitFor();
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await page.getByRole('button', { name: 'Delete this provider' }).click();
    await page.getByRole('button', { name: 'Yes, delete Renamed' }).click();
    await page.getByText('No provider is connected yet').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a relay in the own network is connected without a login, and gets one later', async () => {
    const { page, complaints } = await openPage('/new');
    const { smtp_host, smtp_port } = open.settings;
    for (const [label, text] of [
      ['Name', 'Postfix'],
      ['From address', 'hello@example.com'],
      ['Host', '192.31.196.1'],
      ['Port', String(smtp_port)],
    ] as const)
      await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByLabel('Encryption').selectOption('none');
    await save(page);
    await page.getByText('needed: a relay without a login').first().waitFor();
    await page.getByLabel('Host').fill(smtp_host);
    await page.locator('input[name="password"]').fill('half');
    await save(page);
    await page.getByText('is required').waitFor();
    await page.locator('input[name="password"]').fill('');
    await save(page);
    await page.getByRole('heading', { name: 'Postfix' }).waitFor();
    await save(page);
    await page.getByText('Tried, and saved.').waitFor();
    // The relay offers no AUTH, so a login does not work.
    await page.locator('input[name="username"]').fill('acme');
    await page.locator('input[name="password"]').fill('secret');
    await save(page);
    await page.getByRole('alert').getByText('offers no login').waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  test('another host needs the password again, which is said at its field before anybody is asked', async () => {
    const id = await made('smtp');
    const { page } = await openPage(`/${id}`);
    const before = sinks.smtp.connections;
    await page.getByLabel('Host').fill('localhost');
    await save(page);
    await page.getByText('is needed again for another host, port or encryption').waitFor();
    expect(await page.locator(':focus').getAttribute('name')).toBe('password');
    expect(sinks.smtp.connections).toBe(before);
    await page.locator('input[name="password"]').fill(sinks.smtp.settings.password);
    await save(page);
    await page.getByText('Tried, and saved.').waitFor();
  }, 60_000);

  test('a test message is sent, and one to a suppressed address is not', async () => {
    const id = await made();
    const { page } = await openPage(`/${id}`);
    await page.getByRole('tab', { name: 'Test message' }).click();
    const to = page.getByLabel('Send one test message to');
    await to.fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('must be one e-mail address').waitFor();
    await to.fill('me@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('The provider took it').waitFor();
    const key = api.project.server_key;
    await api.call('POST', '/v1/suppressions', { key, body: { email: 'me@example.com' } });
    await page.keyboard.press('Enter');
    await page.getByText('This address is on the suppression list').waitFor();
    expect(await page.getByText('Last test: taken').count()).toBe(0);
    await to.fill('you@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('The provider took it').waitFor();
    await page.getByText('Last test: taken').waitFor();
    sinks.relay.play('/email/mime', { status: 402, json: {} }, 1);
    await page.keyboard.press('Enter');
    await page.getByText('is used up').waitFor();
    expect(await page.getByText('Last test: taken').count()).toBe(0);
    await page.reload();
    await page.getByRole('tab', { name: 'Test message' }).click();
    await page.getByText('Last test: The account').waitFor();
  }, 60_000);

  test('one that does not answer says so, and for how many mails, in the list and by itself', async () => {
    const providerId = await made();
    const sends = sendsOf(database, api.project.project_id);
    const hanging = await Promise.all(
      Array.from({ length: LINKS_PER_PROVIDER_MAX }, () => sends.handingOff({ providerId })),
    );
    for (const { sendId } of hanging)
      await sends.update(sendId, "handed_off_at = now() - interval '1 minute'");
    const { page, complaints } = await openPage();
    const expectSaid = async (): Promise<void> => {
      await page.getByText('Does not answer', { exact: true }).waitFor();
      await page.getByText('10 mails have had no answer since').waitFor();
    };
    await expectSaid();
    await page.getByRole('link', { name: 'Onboarding' }).click();
    await page.getByRole('tab', { name: 'Test message' }).waitFor();
    await expectSaid();
    await sends.end(hanging[0]?.sendId ?? '', 'accepted');
    await page.reload();
    await page.getByText('In use', { exact: true }).waitFor();
    expect(await page.getByText('It does not answer').count()).toBe(0);
    expect(complaints).toEqual([]);
  }, 60_000);

  test('a list says what is parked, what is paused, how much of a warm-up is used, and what to do', async () => {
    const id = await made();
    await within(async (scope) => {
      for (let failures = 0; failures < 5; failures += 1)
        await noteFailure(scope, used(id), { isProbe: false });
    });
    const { page } = await openPage();
    await page.getByText('Paused after failures').waitFor();
    await page.getByText('It is tried again by itself').waitFor();
    await within((scope) => noteSuccess(scope, id));
    await within((scope) => noteThrottled(scope, used(id), 1, 3_600_000));
    await page.reload();
    await page.getByText('Held', { exact: true }).waitFor();
    await page.getByText('Held: The account is over its quota per second').waitFor();
    await page.getByText('One tries it again at').waitFor();
    expect(await page.getByText('sends a second at most').count()).toBe(0);
    await within((scope) => park(scope, used(id), 'invalid_key'));
    await page.reload();
    await page.getByText('Parked', { exact: true }).waitFor();
    const items = page.getByRole('listitem');
    await items.getByText('once you save the provider again').waitFor();
    await within(async (scope) =>
      spend(scope, id, await allow(scope, id), { taken: 0, owner: 'worker-1' }),
    );
  }, 60_000);
});
