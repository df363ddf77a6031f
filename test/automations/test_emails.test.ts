// The attack: whoever may test sends email to strangers from the customer's domain, as often as they like.
import { beforeEach, describe, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import {
  TEST_EMAILS_PER_CALLER_MAX,
  TEST_EMAILS_PER_PROJECT_MAX,
} from '../../src/base/test_emails.ts';
import { newId } from '../../src/base/ids.ts';
import { issueKey } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import { testAdmin } from '../support/admin.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { SHOWN_ID } from '../http/as_shown.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, get, happen, make, pass } = automationsThroughApi(database);
const admin = testAdmin(database, api);

const HELLO = { name: 'Hello', subject: 'Hello', html: '<p>Hello</p>' };
const STRANGER = 'stranger@example.com';
const definition = (emails = 1): NewDefinition => ({
  trigger: { kind: 'event', event: 'trial_started' },
  entry: 'mail_1',
  steps: Object.fromEntries(
    Array.from({ length: emails }, (_, at) => [
      `mail_${at + 1}`,
      mailShown(at + 1 === emails ? null : `mail_${at + 2}`),
    ]),
  ),
});

let id: string;
beforeEach(async () => {
  await database.owner.query('delete from base.rate_limit_counters');
  await happen('trial_started');
  id = await make(definition());
});

const body = () => ({ profile_id: 'external_id:ann', to: STRANGER });
const testByKey = (key = api.project.server_key, automationId = id) =>
  ask('POST', `/v1/automations/${automationId}/test`, body(), key);
const testProviderByKey = (key = api.project.server_key) =>
  ask('POST', `/v1/email-providers/${SHOWN_ID}/test`, { to: STRANGER }, key);
const profileId = async () => (await ask('GET', '/v1/profiles/external_id:ann')).body.id as string;
const editor = () => makePerson(database, { projectId: api.project.project_id, role: 'editor' });
const call = (name: string, input: object, cookie: string) =>
  admin.call(name, {
    type: 'mutation',
    input: { projectId: api.project.project_id, ...input },
    cookie,
  });
/** Every procedure that sends a test to an address of the caller's choice. */
const procedures = async (): Promise<Record<string, object>> => ({
  'automations.test': {
    automationId: id,
    profileId: await profileId(),
    to: STRANGER,
    callWebhooks: false,
  },
  'providers.test': { providerId: SHOWN_ID, to: STRANGER },
  'templates.test': {
    draft: { template: HELLO },
    providerId: SHOWN_ID,
    to: STRANGER,
  },
});

test('429: a key sends 30 test emails of automations an hour, and then none of a provider either', async () => {
  for (let sent = 0; sent < TEST_EMAILS_PER_CALLER_MAX; sent += 1)
    expect((await testByKey()).status).toBe(201);
  const answer = await testByKey();
  expectRefusal(answer, 'rate_limited');
  expect(answer.body.detail).toContain('at most 30 test emails an hour');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(60);
  expectRefusal(await testProviderByKey(), 'rate_limited');
  const { items } = await get(`/${id}/runs?limit=100`);
  expect(items).toHaveLength(TEST_EMAILS_PER_CALLER_MAX);
});

test('429: all tests share one budget, whichever the caller begins with', async () => {
  for (let sent = 0; sent < TEST_EMAILS_PER_CALLER_MAX; sent += 1)
    expect((await testProviderByKey()).status).toBe(200);
  expectRefusal(await testProviderByKey(), 'rate_limited');
  expectRefusal(await testByKey(), 'rate_limited');
});

test('429: a person has one budget in the Console, for every procedure that sends a test', async () => {
  const { cookie } = await editor();
  const all = Object.entries(await procedures());
  for (let sent = 0; sent < TEST_EMAILS_PER_CALLER_MAX; sent += 1) {
    const [name, input] = all[sent % all.length] ?? ['', {}];
    const answer = await call(name, input, cookie);
    expect([name, answer.status, answer.body.error]).toEqual([name, 200, undefined]);
  }
  for (const [name, input] of all) {
    const { status, body: said } = await call(name, input, cookie);
    expect([name, status, said.error.message]).toEqual([name, 429, 'rate_limited']);
    expect(said.error.data.detail).toMatch(/Try again in \d+ (?:minutes|seconds)\.$/);
  }
});

test('429: a project sends 60 test emails in an hour, whoever asks', async () => {
  const keys = [api.project.server_key];
  for (const _ of [1, 2])
    keys.push(await issueKey(database.deps, api.project.project_id, 'server'));
  for (let sent = 0; sent < TEST_EMAILS_PER_PROJECT_MAX; sent += 1)
    expect((await testByKey(keys[sent % 2])).status).toBe(201);
  expectRefusal(await testByKey(keys[2]), 'rate_limited');
  const { cookie } = await editor();
  const input = (await procedures())['automations.test'] ?? {};
  expect((await call('automations.test', input, cookie)).status).toBe(429);
});

describe('a test of an automation', () => {
  test('counts one for each email that it can send', async () => {
    const three = await make(definition(3), 'Three');
    for (let sent = 0; sent < TEST_EMAILS_PER_CALLER_MAX; sent += 3)
      expect((await testByKey(undefined, three)).status).toBe(201);
    expectRefusal(await testByKey(), 'rate_limited');
  });

  test('409 automation_state: with one email more than the budget; at the bound it takes it whole', async () => {
    const more = await make(definition(TEST_EMAILS_PER_CALLER_MAX + 1), 'More');
    expectRefusal(await testByKey(undefined, more), 'automation_state');
    const most = await make(definition(TEST_EMAILS_PER_CALLER_MAX), 'Most');
    expect((await testByKey(undefined, most)).status).toBe(201);
    expectRefusal(await testByKey(), 'rate_limited');
  });

  test('that is refused for another reason counts nothing, nor does one that is asked for again', async () => {
    for (let tries = 0; tries <= TEST_EMAILS_PER_CALLER_MAX; tries += 1) {
      const nobody = { profile_id: 'external_id:nobody', to: STRANGER };
      expect((await ask('POST', `/v1/automations/${id}/test`, nobody)).status).toBe(404);
    }
    const headers = { 'idempotency-key': newId() };
    const repeat = () =>
      api.call('POST', `/v1/automations/${id}/test`, {
        key: api.project.server_key,
        body: body(),
        headers,
      });
    for (let tries = 0; tries <= TEST_EMAILS_PER_CALLER_MAX; tries += 1)
      expect((await repeat()).status).toBe(201);
    expect((await testByKey()).status).toBe(201);
  });

  test('sends nothing to a suppressed address', async () => {
    await ask('POST', '/v1/suppressions', { email: STRANGER });
    expect((await testByKey()).status).toBe(201);
    await pass('0');
    const { items } = (await ask('GET', `/v1/sends?automation_id=${id}`)).body;
    expect(items.map(({ to, status }: { to: string; status: string }) => [to, status])).toEqual([
      [STRANGER, 'suppressed'],
    ]);
  });
});
