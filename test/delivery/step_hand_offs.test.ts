import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { stepHandOffs } from '../../src/delivery/hand_off_queries.ts';
import type { HandOff, OutcomeRow } from '../../src/delivery/hand_off_queries.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { connectTo, rowsRead, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { beginOver, newSend, OWNER, sendsOf, suppressUncommitted } from './one_send.ts';

const database = testDatabase();

/** Sends of one provider, leased, and how to begin and end them together. */
const leasedSends = async (count: number) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const providerId = newId();
  const all = Array.from({ length: count }, () => newSend({ providerId }));
  for (const send of all) await sends.plan(send);
  await sends.claim(providerId);
  const begun = all.map(({ sendId, addressKey }): HandOff => {
    const messageId = `<${sendId}.1@x.test>`;
    return {
      sendId,
      addressKey,
      owner: OWNER,
      attempt: 1,
      messageId,
      subject: 'Welcome',
      sentThrough: 'other' as const,
    };
  });
  const step = (outcomes: OutcomeRow[], begins: HandOff[]) =>
    stepHandOffs(database.deps.db, projectId, outcomes, begins);
  return { projectId, sends, all, begun, step };
};

const accepted = (sendId: string): OutcomeRow => ({
  sendId,
  attempt: 1,
  outcome: 'accepted',
  reason: null,
  providerMessageId: `relay-${sendId}`,
  retryAfterSeconds: null,
});

test('ends some and begins others, and says of each of these what it may', async () => {
  const { begun, step, sends, all } = await leasedSends(4);
  const [first, second, third, last] = begun as [HandOff, HandOff, HandOff, HandOff];
  await step([], [first]);
  await sends.update(third.sendId, "status = 'cancelled'");
  const decisions = await step([accepted(first.sendId)], [second, third, last]);
  expect(decisions).toEqual(
    new Map([
      [second.sendId, 'handing_off'],
      [third.sendId, 'lost'],
      [last.sendId, 'handing_off'],
    ]),
  );
  const states = await Promise.all(all.map(({ sendId }) => sends.read(sendId)));
  expect(states.map(({ status }) => status)).toEqual([
    'accepted',
    'handing_off',
    'cancelled',
    'handing_off',
  ]);
  expect(states[0]?.provider_message_id).toBe(`relay-${first.sendId}`);
});

test('nothing to end and nothing to begin is nothing', async () => {
  const { step } = await leasedSends(1);
  expect((await step([], [])).size).toBe(0);
});

test('of several that begin together, one whose address was suppressed meanwhile does not', async () => {
  const { projectId, begun, step, all } = await leasedSends(3);
  const suppressing = await suppressUncommitted(database, projectId, all[1]?.addressKey as Buffer);
  const stepping = step([], begun);
  await suppressing.query('commit');
  const decisions = await stepping;
  expect(begun.map(({ sendId }) => decisions.get(sendId))).toEqual([
    'handing_off',
    'suppressed',
    'handing_off',
  ]);
});

test('many that begin and end at once, in any order of theirs, stop nobody for good', async () => {
  const { begun, step, sends, all } = await leasedSends(40);
  const groups = Array.from({ length: 8 }, (_, at) => begun.filter((_one, n) => n % 8 === at));
  await Promise.all(groups.map((group) => step([], group.toReversed())));
  await Promise.all(
    groups.map((group) =>
      step(
        group.map(({ sendId }) => accepted(sendId)),
        [],
      ),
    ),
  );
  const states = await Promise.all(all.map(({ sendId }) => sends.read(sendId)));
  expect(new Set(states.map(({ status }) => status))).toEqual(new Set(['accepted']));
});

test('one that cannot be written leaves none written', async () => {
  const { begun, step, sends, all } = await leasedSends(2);
  const wrong = { ...(begun[1] as HandOff), messageId: null as unknown as string };
  await expect(step([], [begun[0] as HandOff, wrong])).rejects.toThrow();
  const states = await Promise.all(all.map(({ sendId }) => sends.read(sendId)));
  expect(states.map(({ status }) => status)).toEqual(['queued', 'queued']);
});

test('of several that begin together, each is asked whether its person is erased and wants its category', async () => {
  const { projectId, begun, step, all, sends } = await leasedSends(4);
  const [erased, left, needed] = all as [NewSend, NewSend, NewSend, NewSend];
  await sends.update(needed.sendId, "category = 'transactional'");
  await database.owner.query(
    'update profiles.profiles set erasure_id = $1 where project_id = $2 and profile_id = $3',
    [newId(), projectId, erased.profileId],
  );
  await database.owner.query(
    `update suppression.addresses set unsubscribed_at = now() where project_id = $1 and address_key in ($2, $3)`,
    [projectId, left.addressKey, needed.addressKey],
  );
  const decisions = await step([], begun);
  expect(begun.map(({ sendId }) => decisions.get(sendId))).toEqual([
    'cancelled',
    'suppressed',
    'handing_off',
    'handing_off',
  ]);
  expect(await sends.read(left.sendId)).toMatchObject({ status_reason: 'unsubscribed' });
});

test('a step does not wait in a circle for whoever ends the same sends in their order', async () => {
  const { projectId, begun, step, sends, all } = await leasedSends(2);
  const [first, second] = all.toSorted((a, b) => (a.sendId < b.sendId ? -1 : 1)) as [
    NewSend,
    NewSend,
  ];
  const client = await connectTo(database, projectId);
  const end =
    "update delivery.sends set status = 'cancelled' where project_id = $1 and send_id = $2";
  await client.query('begin');
  await client.query(end, [projectId, first.sendId]);
  const byId = begun.toSorted((a, b) => (a.sendId < b.sendId ? 1 : -1));
  const stepping = step([], byId);
  await untilWaiting(database);
  await client.query(end, [projectId, second.sendId]);
  await client.query('commit');
  expect([...(await stepping).values()]).toEqual(['lost', 'lost']);
  expect((await sends.read(first.sendId)).status).toBe('cancelled');
});

test('a step reads its own rows only, however many sends its project has had', async () => {
  const { projectId, begun, step } = await leasedSends(6);
  const others = 1_000;
  await database.owner.query(
    `insert into delivery.sends (project_id, send_id, run_id, step_id, profile_id, provider_id, template_id,
      template_version, status, due_at, queued_at, expires_at)
    select $1, gen_random_uuid(), gen_random_uuid(), 'other', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
      1, 'cancelled', now(), now(), now() from generate_series(1, $2::int)`,
    [projectId, others],
  );
  await database.owner.query(
    `insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at)
    select project_id, send_id, 1, send_id::text, 'other', now() from delivery.sends
    where project_id = $1 and step_id = 'other'`,
    [projectId],
  );
  await database.owner.query('analyze delivery.sends, delivery.attempts');
  const [first, ...rest] = begun as [HandOff, ...HandOff[]];
  await step([], [first]);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  for (const send of rest) expect(await beginOver(client, projectId, send)).toBe('handing_off');
  await client.query("select from delivery.step_hand_offs($1, $2, $3::jsonb, '[]')", [
    projectId,
    newId(),
    JSON.stringify([{ send_id: first.sendId, attempt: 1, outcome: 'accepted' }]),
  ]);
  expect(await rowsRead(client, 'delivery.sends')).toBeLessThan(others / 10);
  expect(await rowsRead(client, 'delivery.attempts')).toBeLessThan(others / 10);
});
