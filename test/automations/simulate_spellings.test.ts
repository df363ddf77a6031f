// A suppression of one spelling of a mailbox stops browser-triggered email to all of them, in a simulation as live.
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { mail } from './journeys.ts';
import { ago, event, pastsIn } from './past_script.ts';
import type { Happening } from './past_world.ts';

const database = testDatabase();
const begin = pastsIn(database);
const [PLAIN, SHOP, OTHER] = ['v', 'v+shop', 'v+a'];

const byBrowser = (who: string, days: number): Happening => ({
  kind: 'event',
  at: ago(days),
  eventId: newId(),
  who,
  name: 'go',
  source: 'browser',
  properties: {},
  occurredAt: ago(days),
});
const said = (kind: 'suppress' | 'lift' | 'unsubscribe', who: string, days: number): Happening => ({
  kind,
  at: ago(days),
  who,
});
const emailing = (name: string) => ({
  trigger: { kind: 'event' as const, event: name },
  settings: { re_entry: 'every_time' as const },
  entry: 'm',
  steps: { m: mail() },
});

/** What became of the emails of an automation that was live, as a simulation counts it. */
const countLive = async (projectId: string, automationId: string) => {
  const { rows } = await database.owner.query<{ said: string; count: number }>(
    `select case when status = 'suppressed' then 'send_' || status_reason else 'sent' end as said, count(*)::int
    from delivery.sends where project_id = $1 and automation_id = $2 group by 1`,
    [projectId, automationId],
  );
  return Object.fromEntries(rows.map(({ said: what, count }) => [what, count]));
};

describe('a spelling that an email of the automation itself went to', () => {
  test('stops the others from its unsubscribe on, as it did live', async () => {
    const world = await begin();
    const id = await world.activate('Live', emailing('go'));
    await world.live(
      event('go', SHOP, 20),
      byBrowser(OTHER, 19),
      said('unsubscribe', SHOP, 18),
      byBrowser(OTHER, 17),
      event('go', OTHER, 16),
    );
    expect(await countLive(world.projectId, id)).toEqual({ sent: 3, send_unsubscribed: 1 });
    expect(await world.simulated(emailing('go'))).toMatchObject({
      sent: { m: 3 },
      skipped: { send_unsubscribed: 1 },
    });
  });

  test('counts where the email itself was stopped', async () => {
    const world = await begin();
    await world.live(said('suppress', SHOP, 21), event('go', SHOP, 20), byBrowser(OTHER, 19));
    expect(await world.simulated({})).toMatchObject({ skipped: { send_suppressed: 2 } });
  });
});

test('a spelling that another automation emailed stops the others from that email on', async () => {
  const world = await begin();
  await world.activate('Beside', emailing('seen'));
  await world.live(
    said('suppress', SHOP, 21),
    byBrowser(OTHER, 20),
    event('seen', SHOP, 19),
    byBrowser(OTHER, 18),
    said('lift', SHOP, 17),
    byBrowser(OTHER, 16),
  );
  expect(await world.simulated({})).toMatchObject({
    sent: { m: 2 },
    skipped: { send_suppressed: 1 },
  });
});

test('the plain address stops every spelling, whether it was emailed or not', async () => {
  const world = await begin();
  await world.live(
    byBrowser(OTHER, 20),
    said('suppress', PLAIN, 19),
    byBrowser(OTHER, 18),
    event('go', OTHER, 17),
  );
  expect(await world.simulated({})).toMatchObject({
    sent: { m: 2 },
    skipped: { send_suppressed: 1 },
  });
});

test('a transactional email passes an unsubscribe of another spelling', async () => {
  const world = await begin();
  await world.live(said('unsubscribe', PLAIN, 19), byBrowser(OTHER, 18));
  const settings = { re_entry: 'every_time' as const, category: 'transactional' as const };
  expect(await world.simulated({ settings })).toMatchObject({ sent: { m: 1 }, skipped: {} });
});
