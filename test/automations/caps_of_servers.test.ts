// A frequency cap of email that a server caused does not count email that pages caused: they cannot use it up.
import { beforeEach, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, get, live, make, work } = automationsThroughApi(database);

const mailing = (
  event: string,
  of: 'project' | 'automation' | null,
  source?: 'server',
): NewDefinition => ({
  trigger: { kind: 'event', event, ...(source ? { source } : {}) },
  settings: {
    re_entry: 'every_time',
    ...(of ? { frequency_cap: { sends: 1, per: 'P1D', of, over: 'skip' } } : {}),
  },
  entry: 'mail',
  steps: { mail: mailShown() },
});
const happen = async (source: 'browser' | 'server', event: string): Promise<void> => {
  const { server_key: server, publishable_key: page } = api.project;
  const key = source === 'server' ? server : page;
  await ask('POST', '/v1/events', { event, external_id: 'ann' }, key);
  await work();
};
const sentBy = async (automationId: string): Promise<number> => {
  const { rows } = await database.owner.query(
    "select from delivery.sends where automation_id = $1 and status = 'queued'",
    [automationId],
  );
  return rows.length;
};
const stoppedBy = async (automationId: string): Promise<string | undefined> =>
  (await get(`/${automationId}/explain?profile_id=external_id:ann`)).stopped_by?.decision;
const simulated = async (automationId: string) => {
  const { sent, skipped } = await get(`/${automationId}/simulation?days=1`);
  return { sent: sent.mail ?? 0, skipped: skipped.frequency_cap_skipped ?? 0 };
};

beforeEach(async () => {
  const traits = { email: 'ann@x.test' };
  await ask('POST', '/v1/identify', { external_id: 'ann', traits });
});

test('attack: emails of a page use up no cap of an automation that only a server triggers', async () => {
  await live(mailing('page_opened', null));
  const paid = await live(mailing('order_paid', 'project', 'server'));
  await happen('browser', 'page_opened');
  await happen('browser', 'page_opened');
  await happen('server', 'order_paid');
  expect([await sentBy(paid), await stoppedBy(paid)]).toEqual([1, undefined]);
  expect(await simulated(paid)).toEqual({ sent: 1, skipped: 0 });
  // Emails of servers count.
  await happen('server', 'order_paid');
  expect([await sentBy(paid), await stoppedBy(paid)]).toEqual([1, 'frequency_cap_skipped']);
  expect(await simulated(paid)).toEqual({ sent: 1, skipped: 1 });
});

test('a run that a browser started counts all emails, live and in a simulation', async () => {
  await live(mailing('order_paid', null));
  const opened = await live(mailing('page_opened', 'project'));
  await happen('server', 'order_paid');
  await happen('browser', 'page_opened');
  expect([await sentBy(opened), await stoppedBy(opened)]).toEqual([0, 'frequency_cap_skipped']);
  expect(await simulated(opened)).toEqual({ sent: 0, skipped: 1 });
});

test.each([
  [['browser', 'server', 'browser'], { sent: 2, skipped: 1 }],
  [['server', 'browser', 'server'], { sent: 1, skipped: 2 }],
] as const)('within one automation: events of %j', async (sources, expected) => {
  const id = await live(mailing('page_opened', 'automation'));
  for (const source of sources) await happen(source, 'page_opened');
  expect(await sentBy(id)).toBe(expected.sent);
  expect(await simulated(id)).toEqual(expected);
  expect(await simulated(await make(mailing('page_opened', 'automation')))).toEqual(expected);
});
