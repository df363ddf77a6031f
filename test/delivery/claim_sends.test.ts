import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { expireSends } from '../../src/delivery/delivery.ts';
import { UNCONFIRMED } from '../../src/delivery/limits.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();

/** Plans some sends of one provider. */
const planMany = async (projectId: string, count: number) => {
  const providerId = newId();
  const automationId = newId();
  const planned = Array.from({ length: count }, () => newSend({ providerId, automationId }));
  for (const send of planned) await sendsOf(database, projectId).plan(send);
  return { providerId, ids: planned.map(({ sendId }) => sendId) };
};

test('a claim answers with everything that preparing a send needs', async () => {
  const sends = sendsOf(database, newId());
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const send = newSend({ traceparent });
  await sends.plan(send);
  expect(await sends.claim(send.providerId)).toEqual([
    {
      send_id: send.sendId,
      identity_id: null,
      profile_id: send.profileId,
      template_id: send.templateId,
      template_version: 1,
      event_id: send.eventId,
      event_occurred_at: send.eventOccurredAt,
      address_key: send.addressKey,
      recipient: send.recipient,
      automation_id: send.automationId,
      category: 'marketing',
      attempt: 1,
      is_test: false,
      may_be_limited: false,
      traceparent,
      is_unconfirmed: false,
      is_of_page: false,
      is_bare: false,
    },
  ]);
});

test('a send that was refused with words of a page is claimed to be rendered without them', async () => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.plan(send);
  await sends.update(send.sendId, "status_reason = 'asserted_refused'");
  expect(await sends.claim(send.providerId)).toMatchObject([{ is_bare: true }]);
});

test.each([
  [null, false, false],
  [{ browser_triggered: true as const, zone: 'UTC' }, false, true],
  [{ unconfirmed: UNCONFIRMED, zone: 'UTC' }, true, true],
])(
  'of limits %j a claim says whether the address is unconfirmed (%s) and whether a page chose it (%s), of all kinds',
  async (limits, is_unconfirmed, is_of_page) => {
    const sends = sendsOf(database, newId());
    const providerId = newId();
    await sends.plan(newSend({ providerId, limits, category: 'transactional' }));
    for (const isBulk of [false, true])
      await sends.plan(newSend({ providerId, limits, category: 'marketing', isBulk }));
    const said = { is_unconfirmed, is_of_page };
    expect(await sends.claim(providerId)).toMatchObject([said, said, said]);
  },
);

test('a leased send is nobody else’s until its lease has run out', async () => {
  const sends = sendsOf(database, newId());
  const { providerId, sendId } = newSend();
  await sends.plan(newSend({ providerId, sendId }));
  expect(await sends.claim(providerId, { owner: 'one' })).toHaveLength(1);
  expect(await sends.claim(providerId, { owner: 'two' })).toEqual([]);
  await sends.update(sendId, "lease_until = now() - interval '1 second'");
  expect(await sends.claim(providerId, { owner: 'two' })).toHaveLength(1);
  expect(await sends.read(sendId)).toMatchObject({ lease_owner: 'two', attempt_count: 0 });
});

test('only what is due, queued and of this provider and project is claimed', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const { providerId, ids } = await planMany(projectId, 3);
  await planMany(projectId, 1);
  await sendsOf(database, newId()).plan(newSend({ providerId }));
  await sends.update(ids[0] as string, "due_at = now() + interval '1 minute'");
  await sends.update(ids[1] as string, "status = 'cancelled'");
  const claimed = await sends.claim(providerId);
  expect(claimed.map(({ send_id }) => send_id)).toEqual([ids[2]]);
});

test('a claim takes the oldest, at most so many', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const { providerId, ids } = await planMany(projectId, 4);
  for (const [at, id] of ids.entries()) {
    await sends.update(id, `due_at = now() - make_interval(mins => ${at + 1})`);
  }
  const claimed = await sends.claim(providerId, { sendsMax: 2 });
  expect(new Set(claimed.map(({ send_id }) => send_id))).toEqual(new Set([ids[3], ids[2]]));
});

test('what waited past its expiry is not claimed, and ends as expired when it is swept', async () => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.plan(send);
  await sends.update(send.sendId, "expires_at = now() - interval '1 second'");
  expect(await sends.claim(send.providerId)).toEqual([]);
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued' });
  await sends.within(expireSends);
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'expired',
    status_reason: 'expired',
  });
});

test('a send is due to the very statement after the one that planned it', async () => {
  const projectId = newId();
  const client = await connectTo(database, projectId);
  const claimedOf: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    const { sendId, providerId, addressKey } = newSend();
    const results = (await client.query(`
      select delivery.plan_send('${projectId}', '${sendId}', '${newId()}', '${newId()}', 'step', null,
        '${newId()}', '${providerId}', '${newId()}', 1, null, null, '\\x${addressKey.toString('hex')}',
        'ann@example.com', interval '1 hour', 'marketing');
      select count(*)::integer as claimed
      from delivery.claim_sends('${projectId}', '${providerId}', 'one', 10, 10, 10, interval '1 minute');
    `)) as unknown as { rows: { claimed: number }[] }[];
    claimedOf.push(results[1]?.rows[0]?.claimed ?? 0);
  }
  expect(claimedOf).toEqual(Array(30).fill(1));
});

test('many claims at once share the sends out without sharing one', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const { providerId, ids } = await planMany(projectId, 60);
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, worker) =>
      sends.claim(providerId, { owner: `worker-${worker}`, sendsMax: 10 }),
    ),
  );
  const claimed = claims.flat().map(({ send_id }) => send_id);
  expect(new Set(claimed).size).toBe(claimed.length);
  const rest = await sends.claim(providerId, { owner: 'rest' });
  expect(new Set([...claimed, ...rest.map(({ send_id }) => send_id)])).toEqual(new Set(ids));
});

test('a claim does not wait for sends that somebody is claiming', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const { providerId } = await planMany(projectId, 3);
  const slow = await connectTo(database, projectId);
  await slow.query('begin');
  await slow.query(
    "select from delivery.claim_sends($1, $2, 'slow', 2, 2, 2, interval '1 minute')",
    [projectId, providerId],
  );
  expect(await sends.claim(providerId)).toHaveLength(1);
  await slow.query('rollback');
  expect(await sends.claim(providerId, { owner: 'two' })).toHaveLength(2);
});
