// What automations have delivery ask again when it hands a mail over.
import { expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, happen, live, post, work } = automationsThroughApi(database);

const EVENT = 'trial_started';
const mailing = (settings: NewDefinition['settings'] = {}): NewDefinition => ({
  trigger: { kind: 'event', event: EVENT },
  settings: { re_entry: 'every_time', ...settings },
  entry: 'mail',
  steps: { mail: mailShown() },
});
const limitsOf = async (automationId: string): Promise<unknown[]> =>
  (
    await database.owner.query<{ limits: unknown }>(
      'select limits from delivery.sends where project_id = $1 and automation_id = $2 order by send_id',
      [api.project.project_id, automationId],
    )
  ).rows.map(({ limits }) => limits);
const identify = (external_id: string, email: string | null, key = api.project.server_key) =>
  ask('POST', '/v1/identify', { external_id, traits: { email } }, key);

const CAP = { sends: 5, per: 'P7D', over: 'skip' as const };
const UNCONFIRMED = { per_automation: 1, per_day: 3 };

test('a mail without limits has none; one of a capped automation has its cap', async () => {
  const free = await live(mailing());
  const capped = await live(mailing({ frequency_cap: CAP, timezone: 'Europe/Berlin' }));
  await happen(EVENT);
  expect(await limitsOf(free)).toEqual([null]);
  expect(await limitsOf(capped)).toEqual([
    { frequency_cap: { ...CAP, of: 'project' }, zone: 'Europe/Berlin' },
  ]);
});

test('an address that only a browser has said is to be asked about again, transactional mail too', async () => {
  await identify('eve', 'eve@example.com', api.project.publishable_key);
  for (const category of ['marketing', 'transactional'] as const) {
    const id = await live(mailing({ category }));
    await happen(EVENT, {}, 'eve');
    expect(await limitsOf(id)).toEqual([{ unconfirmed: UNCONFIRMED, zone: 'UTC' }]);
  }
});

test('one that a server has said is confirmed, also by the run itself and in the run itself', async () => {
  const copies = (given: NewDefinition['settings'] = {}): NewDefinition => ({
    ...mailing(given),
    entry: 'copy',
    steps: {
      copy: { kind: 'update_profile', traits_from_event: { email: 'email' }, next: 'mail' },
      mail: mailShown(),
    },
  });
  const id = await live(copies());
  const told = (key: string, external_id: string) =>
    ask(
      'POST',
      '/v1/events',
      { event: EVENT, external_id, properties: { email: `${external_id}@x.test` } },
      key,
    );
  await told(api.project.publishable_key, 'eve');
  await work();
  await told(api.project.server_key, 'ben');
  await work();
  expect(await limitsOf(id)).toEqual([
    { unconfirmed: UNCONFIRMED, browser_triggered: true, zone: 'UTC' },
    null,
  ]);
});

test('a test to a chosen address has none, and is not left out', async () => {
  await identify('eve', 'eve@example.com', api.project.publishable_key);
  const id = await live(mailing({ frequency_cap: CAP }));
  for (let at = 0; at < 2; at += 1) {
    await post(`/${id}/test`, { profile_id: 'external_id:eve', to: 'me@example.com' });
    await work();
  }
  expect(await limitsOf(id)).toEqual([null, null]);
});
