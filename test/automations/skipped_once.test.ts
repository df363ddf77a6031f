// A stranger who floods an automation with events about a person does not flood the timeline of that person.
import { expect, test } from 'vitest';
import { observeSkips, STOPPED_PER_RECIPIENT_MAX } from '../../src/delivery/delivery.ts';
import type { Skip } from '../../src/delivery/delivery.ts';
import { newId } from '../../src/base/ids.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { definition, journeysOf, mail } from './journeys.ts';

const database = testDatabase();
const FLOOD = 60;
const EMAIL = 'ann@example.com';

const EVERY_TIME = { settings: { re_entry: 'every_time' as const } };
/** An automation that only sends: a person without an address is skipped at once. */
const BARE = { ...EVERY_TIME, entry: 'mail', steps: { mail: mail() } };

const flooded = async () => {
  const journeys = journeysOf(database);
  const events = (source: 'browser' | 'server', count = FLOOD) =>
    Array.from({ length: count }, () =>
      newEvent({
        source,
        key_kind: source === 'browser' ? 'publishable' : 'server',
        properties: JSON.stringify({ email: EMAIL }),
      }),
    );
  const skipped = async () => {
    const { rows } = await database.owner.query<{ automation_id: string; reason: string }>(
      `select properties ->> 'automation_id' as automation_id, properties ->> 'reason' as reason
      from ingest.events where project_id = $1 and name = 'email_skipped' order by received_at`,
      [journeys.projectId],
    );
    return rows;
  };
  const sends = async () => (await journeys.select('send_id', 'delivery.sends')).length;
  return { ...journeys, events, skipped, sends };
};

test('attack: events of a browser about a person without an address leave one skipped email a day', async () => {
  const { activate, tell, events, skipped, names, select } = await flooded();
  await activate(BARE);
  await activate(BARE, 'another');
  expect(await tell(...events('browser'))).toBe(2 * FLOOD);
  await tell(...events('browser'));
  const told = await skipped();
  expect(told.map(({ reason }) => reason)).toEqual(['no_address', 'no_address']);
  expect(new Set(told.map(({ automation_id }) => automation_id)).size).toBe(2);
  // The log of each run has its decision.
  expect(await names()).toEqual(Array(4 * FLOOD).fill('no_address'));
  // A skip that is left out is no conflict of message ids.
  expect(await select('conflicts', 'ingest.message_ids')).toEqual(
    Array(2).fill({ conflicts: null }),
  );
});

test('attack: the same about a suppressed person; past the bound of a day no send is planned', async () => {
  const { activate, within, tell, events, skipped, sends, names } = await flooded();
  await activate({ ...definition(), ...EVERY_TIME });
  await within((scope) => suppress(scope, { email: EMAIL, reason: 'manual', source: 'test' }));
  await tell(...events('browser', STOPPED_PER_RECIPIENT_MAX));
  expect(await sends()).toBe(STOPPED_PER_RECIPIENT_MAX);
  expect(await names()).not.toContain('recipient_cap');
  await tell(...events('browser', 1));
  expect((await names()).filter((name) => name === 'recipient_cap')).toHaveLength(1);
  await tell(...events('browser'));
  expect(await sends()).toBe(STOPPED_PER_RECIPIENT_MAX);
  expect((await skipped()).map(({ reason }) => reason)).toEqual(['suppressed']);
});

test('a server’s events leave one each', async () => {
  const { activate, tell, events, skipped } = await flooded();
  await activate(BARE);
  await tell(...events('browser', 5));
  await tell(...events('server', 5));
  expect(await skipped()).toHaveLength(6);
});

test('the next day has its own, and another person too; two transactions at once leave one', async () => {
  const { within, projectId, select } = await flooded();
  const [identityId, automationId] = [newId(), newId()];
  const at = new Date();
  const skip: Skip = {
    identityId,
    kind: 'external',
    value: 'ann',
    automationId,
    stepId: 'mail',
    reason: 'no_address',
    at,
    isBrowserTriggered: true,
  };
  const tomorrow = new Date(at.getTime() + 86_400_000);
  await Promise.all(
    [1, 2, 3].map(() => within((scope) => observeSkips(scope, [skip, { ...skip, stepId: 'b' }]))),
  );
  const count = async () => (await select('event_id', 'ingest.events')).length;
  expect([projectId, await count()]).toEqual([projectId, 1]);
  await within((scope) => observeSkips(scope, [{ ...skip, at: tomorrow }, skip]));
  expect(await count()).toBe(2);
  await within((scope) => observeSkips(scope, [{ ...skip, identityId: newId() }]));
  expect(await count()).toBe(3);
  await within((scope) => observeSkips(scope, [{ ...skip, automationId: newId() }]));
  expect(await count()).toBe(4);
});
