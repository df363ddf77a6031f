// The Console says before activation that PUBLIC_URL is needed, and afterwards which automations lack it.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepConsole } from '../../src/runtime/console_build.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { bringSession, NO_BROWSER, testBrowser } from './in_browser.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const admin = testAdmin(database, api);
const chromium = testBrowser();
const { create } = providersOf(api);
const ask = (path: string, body: object) =>
  api.call('POST', path, { key: api.project.server_key, body });

/** A draft that sends one email; its provider is inside until a test moves it. */
const makeDraft = async (): Promise<string> => {
  const provider = await create(fieldsOf(sinks, 'smtp'));
  const template = await ask(`/v1/projects/${api.project.project_id}/templates`, {
    name: 'Hello',
    subject: 'Hello',
    html: '<p>Hello</p>',
  });
  const send = {
    kind: 'send_email',
    provider_id: provider.body.id,
    template_id: template.body.id,
    template_version: 1,
    next: null,
  };
  const { body } = await ask('/v1/automations', {
    name: 'Welcome',
    definition: {
      trigger: { kind: 'event', event: 'user_signed_up' },
      entry: 'hello',
      steps: { hello: send },
    },
  });
  return body.id as string;
};

describe('automations in a browser, without PUBLIC_URL', () => {
  beforeEach(({ skip }) => skip(!chromium.isThere, NO_BROWSER));
  beforeAll(async () => {
    if (chromium.isThere) await keepConsole();
  }, 60_000);

  test('a draft says what activation needs, and the list names what is active without it', async () => {
    const id = await makeDraft();
    await ask(`/v1/automations/${id}/activate`, {});
    await database.owner.query(
      "update providers.providers set is_outside = true, smtp_host = '192.31.196.1'",
    );
    const { page, complaints } = await chromium.openPage();
    await bringSession(page, api.url, await admin.openSession());
    const list = `${api.url}/console/p/${api.project.project_id}/automations`;
    await page.goto(list);
    const banner = page.getByRole('status').filter({ hasText: 'PUBLIC_URL is not set' });
    await banner.getByRole('link', { name: 'Welcome' }).click();
    await page.getByText('Activation needs PUBLIC_URL').waitFor();
    await ask(`/v1/automations/${id}/pause`, {});
    await page.reload();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('its unsubscribe link leads nowhere').last().waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('PUBLIC_URL');
    expect(complaints).toEqual([]);
  }, 60_000);
});
