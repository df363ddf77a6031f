// An email that another spelling of its mailbox stops: each explanation names that spelling.
import { describe, expect, test } from 'vitest';
import { testCli } from '../support/cli.ts';
import { testAdmin } from '../support/admin.ts';
import { makePerson } from '../support/people.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, live, work } = automationsThroughApi(database);
testAdmin(database, api);
const { as } = testCli(database, api);

const EVENT = 'trial_started';
const SHOP = 'v+shop@example.com';
const OTHER = 'v+a@example.com';

const identify = (external_id: string, email: string) =>
  ask('POST', '/v1/identify', { external_id, traits: { email } });
const happenTo = async (external_id: string, key: string) => {
  await ask('POST', '/v1/events', { event: EVENT, external_id }, key);
  await work();
};
const lift = (email: string) =>
  ask('POST', `/v1/suppressions/${encodeURIComponent(email)}/lift`, { reason: 'asked for it' });

/**
 * A mailbox with two spellings, each of a person of its own. The first was emailed, then `stop` stops it; a page
 * triggers an email to the second.
 */
const stopped = async (stop: '/v1/suppressions' | '/v1/unsubscribes', stoppedEmail = SHOP) => {
  const { server_key: server, publishable_key: page } = api.project;
  await identify('shopper', SHOP);
  await identify('other', OTHER);
  const id = await live({
    trigger: { kind: 'event', event: EVENT },
    settings: { re_entry: 'every_time' },
    entry: 'mail',
    steps: { mail: mailShown() },
  });
  await happenTo('shopper', server);
  await ask('POST', stop, { email: stoppedEmail });
  await happenTo('other', page);
  const { items } = (await ask('GET', `/v1/sends?email=${encodeURIComponent(OTHER)}`)).body;
  const sendId: string = items[0].id;
  const ofSend = async () => (await ask('GET', `/v1/sends/${sendId}/explain`)).body.stopped_by;
  const ofAutomation = async () =>
    (await ask('GET', `/v1/automations/${id}/explain?profile_id=external_id:other`)).body
      .stopped_by;
  return { id, sendId, both: async () => [await ofSend(), await ofAutomation()] };
};

describe.each([
  ['/v1/suppressions', 'send_suppressed', /^Another spelling .* suppression list/],
  ['/v1/unsubscribes', 'send_unsubscribed', /^Another spelling .* unsubscribed/],
] as const)('stopped by %s', (stop, decision, says) => {
  test.each([SHOP, 'v@example.com'])(`${decision} names the spelling %s`, async (spelling) => {
    const { both } = await stopped(stop, spelling);
    for (const stoppedBy of await both())
      expect(stoppedBy).toMatchObject({
        decision,
        says: expect.stringMatching(says),
        detail: { spelling, fix: expect.stringMatching(/server key/) },
      });
  });

  test(`${decision} names none where the address itself is stopped`, async () => {
    const { both } = await stopped(stop);
    await ask('POST', stop, { email: OTHER });
    for (const stoppedBy of await both()) {
      expect(stoppedBy).toMatchObject({ decision });
      expect(stoppedBy.says).not.toMatch(/spelling/);
      expect(stoppedBy.detail).not.toHaveProperty('spelling');
    }
  });
});

test('names none once the suppression of the spelling is lifted', async () => {
  const { both } = await stopped('/v1/suppressions');
  expect((await lift(SHOP)).status).toBe(200);
  for (const { detail } of await both()) expect(detail).not.toHaveProperty('spelling');
});

test('an email of a server that its own address stops names none', async () => {
  const { both } = await stopped('/v1/suppressions');
  await ask('POST', '/v1/suppressions', { email: OTHER });
  await happenTo('other', api.project.server_key);
  const { items } = (await ask('GET', `/v1/sends?email=${encodeURIComponent(OTHER)}`)).body;
  await lift(OTHER);
  const told = (await ask('GET', `/v1/sends/${items[0].id}/explain`)).body;
  expect(told.stopped_by).toMatchObject({ decision: 'send_suppressed' });
  expect(told.stopped_by.detail).not.toHaveProperty('spelling');
  expect((await both())[0].detail).toMatchObject({ spelling: SHOP });
});

test('the command line names it, and says what to do', async () => {
  const { sendId } = await stopped('/v1/suppressions');
  const { project_id: projectId } = api.project;
  const viewer = await makePerson(database, { projectId, role: 'viewer' });
  const { stdout } = await as(viewer, ['explain', sendId]);
  expect(stdout).toContain(`spelling=${SHOP}`);
  expect(stdout).toContain('Stopped by send_suppressed: Another spelling of this mailbox');
  expect(stdout).toMatch(/What to do about send_suppressed: .*server key/);
});
