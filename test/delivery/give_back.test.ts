import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { giveBackLost } from '../../src/delivery/delivery.ts';
import { release } from '../../src/delivery/lane_context.ts';
import type { LaneContext } from '../../src/delivery/lane_context.ts';
import { connectTo } from '../base/connections.ts';
import { insertBareProvider } from '../support/bare_provider.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();

/** A provider on the first day of a warm-up, and sends of it that an owner has leased. */
const leased = async (count: number) => {
  const [projectId, providerId] = [newId(), newId()];
  await insertBareProvider(database, projectId, providerId);
  await database.owner.query(
    `insert into providers.paces (project_id, provider_id, ramp_day, ramp_count)
    values ($1, $2, (now() at time zone 'UTC')::date, 10)`,
    [projectId, providerId],
  );
  const sends = sendsOf(database, projectId);
  const made = Array.from({ length: count }, () => newSend({ providerId }));
  for (const send of made) await sends.plan(send);
  await sends.claim(providerId);
  const giveBack = (dead: string[]) =>
    sends.within((scope) => giveBackLost(scope, providerId, dead));
  const used = async (): Promise<number> =>
    (
      await database.owner.query('select ramp_count from providers.paces where provider_id = $1', [
        providerId,
      ])
    ).rows[0]?.ramp_count;
  return { projectId, providerId, sends, made, giveBack, used };
};

test('what a dead owner leased and did not begin is free, and its share of the day as well', async () => {
  const { giveBack, used, sends, providerId } = await leased(3);
  await giveBack([OWNER]);
  expect(await used()).toBe(7);
  expect(await sends.claim(providerId)).toHaveLength(3);
});

test('twice is as once, and of two at once each lease is given back by one', async () => {
  const { giveBack, used } = await leased(3);
  await Promise.all([giveBack([OWNER]), giveBack([OWNER]), giveBack([OWNER])]);
  await giveBack([OWNER]);
  expect(await used()).toBe(7);
});

test('who was taken for dead gives nothing back a second time', async () => {
  const { projectId, providerId, giveBack, used, sends, made } = await leased(3);
  const context = { deps: database.deps, projectId, providerId, owner: OWNER } as LaneContext;
  const items = made.map(({ sendId }) => ({ send: { send_id: sendId }, isProbe: false }));
  const [first, ...others] = items as Parameters<typeof release>[1][number][];
  if (!first) throw new Error('three were made');
  await release(context, [first]);
  expect(await used()).toBe(9);
  await giveBack([OWNER]);
  expect(await used()).toBe(7);
  await release(context, others);
  expect(await used()).toBe(7);
  expect(await sends.claim(providerId)).toHaveLength(3);
});

test('what was begun is the provider’s, and what a living owner has is theirs', async () => {
  const { giveBack, used, sends, made } = await leased(2);
  const [begun, waiting] = made;
  if (!begun || !waiting) throw new Error('two were made');
  await sends.begin(begun);
  await giveBack(['worker-2']);
  expect(await used()).toBe(10);
  await giveBack([OWNER]);
  expect(await used()).toBe(9);
  expect(await sends.read(begun.sendId)).toMatchObject({ status: 'handing_off' });
  expect(await sends.read(waiting.sendId)).toMatchObject({ status: 'queued', lease_owner: null });
});

test('a send that somebody holds is left for the next time', async () => {
  const { projectId, giveBack, used, made } = await leased(2);
  const other = await connectTo(database, projectId);
  await other.query('begin');
  await other.query('select /* trial */ from delivery.sends where send_id = $1 for update', [
    made[0]?.sendId,
  ]);
  await giveBack([OWNER]);
  expect(await used()).toBe(9);
  await other.query('rollback');
  await giveBack([OWNER]);
  expect(await used()).toBe(8);
});

test('what waits for tomorrow goes in place of what was given back', async () => {
  const { giveBack, sends, made } = await leased(1);
  const waiting = newSend({ providerId: made[0]?.providerId ?? '' });
  await sends.plan(waiting);
  await sends.update(waiting.sendId, "status_reason = 'ramp', due_at = now() + interval '1 day'");
  await giveBack([OWNER]);
  const { status_reason, due_at } = await sends.read(waiting.sendId);
  expect(status_reason).toBeNull();
  expect(due_at.getTime()).toBeLessThanOrEqual(Date.now());
});
