// Where a send stands is said by all its hand-offs together, whenever their owners find out.
import { describe, expect, test } from 'vitest';
import { settleLost } from '../../src/delivery/delivery.ts';
import { resolve } from '../../src/delivery/resolve.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { testDatabase } from '../support/database.ts';
import { OWNER, unresolved } from './one_send.ts';

const database = testDatabase();
const OUTCOMES = ['accepted', 'rejected', 'deferred', 'not_started', 'unknown'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** A send of which the first hand-off may have been taken, while the second is in flight. */
const inFlight = async (given: Partial<NewSend> = {}) => {
  const one = await unresolved(database, given);
  const { sends, send } = one;
  await sends.claim(send.providerId);
  await sends.begin(send, OWNER, 2);
  const learn = (attempt: number, outcome: Outcome) =>
    sends.end(send.sendId, outcome, {
      attempt,
      reason: outcome === 'accepted' ? null : `${outcome}_${attempt}`,
      providerMessageId: outcome === 'accepted' ? `relay-${attempt}` : null,
      retryAfterSeconds: 600,
    });
  const lose = () => sends.within((scope) => settleLost(scope, [OWNER], 3_600));
  return { ...one, learn, lose };
};

const pairs = OUTCOMES.flatMap((first) => OUTCOMES.map((second) => [first, second] as const));

describe.each(['hold', 'resend'] as const)('on_unknown is %s', (onUnknown) => {
  test.each(pairs)(
    'the first hand-off was %s and the second %s: in either order the send stands the same',
    async (first, second) => {
      const ends: unknown[] = [];
      for (const order of [
        [1, 2],
        [2, 1],
      ]) {
        const { sends, send, learn, lose } = await inFlight();
        await lose();
        await sends.update(send.sendId, `on_unknown = '${onUnknown}'`);
        for (const attempt of order) await learn(attempt, attempt === 1 ? first : second);
        const { status, status_reason, accepted_at, lease_owner } = await sends.read(send.sendId);
        ends.push({ status, status_reason, isAccepted: accepted_at !== null, lease_owner });
      }
      expect(ends[1]).toEqual(ends[0]);
      const isTaken = first === 'accepted' || second === 'accepted';
      expect(ends[0]).toMatchObject({ isAccepted: isTaken });
      if (isTaken) expect(ends[0]).toMatchObject({ status: 'accepted' });
    },
  );
});

test.each(OUTCOMES)(
  'the first was taken after all while the second was in flight, which was %s: accepted',
  async (outcome) => {
    const { sends, send, learn } = await inFlight();
    await learn(1, 'accepted');
    const { accepted_at } = await sends.read(send.sendId);
    await learn(2, outcome);
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'accepted',
      status_reason: null,
      provider_message_id: outcome === 'accepted' ? 'relay-2' : 'relay-1',
      lease_owner: null,
    });
    if (outcome !== 'accepted')
      expect(await sends.read(send.sendId)).toMatchObject({ accepted_at });
  },
);

test('the first was taken after all, and the second is lost: accepted', async () => {
  const { sends, send, learn, lose } = await inFlight();
  await learn(1, 'accepted');
  const { accepted_at } = await sends.read(send.sendId);
  expect(accepted_at).toBeInstanceOf(Date);
  await lose();
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'accepted',
    status_reason: null,
    accepted_at,
    provider_message_id: 'relay-1',
  });
});

test.each(['deferred', 'not_started', 'rejected'] as const)(
  'the second was refused, and the first turns out to be %s: not sent, for what the second was told',
  async (outcome) => {
    const { sends, send, learn } = await inFlight();
    await learn(2, 'rejected');
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'unknown' });
    await learn(1, outcome);
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'not_sent',
      status_reason: 'rejected_2',
    });
  },
);

test('what an earlier owner learns does not bring forward when a lost one is sent again', async () => {
  const { sends, send, learn, lose } = await inFlight();
  await lose();
  const dueOf = async () =>
    (
      await database.owner.query('select due_at from delivery.sends where send_id = $1', [
        send.sendId,
      ])
    ).rows;
  const before = await dueOf();
  await learn(1, 'deferred');
  expect(await dueOf()).toEqual(before);
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'unknown' });
});

test('what somebody has said is final, whatever an owner learns later', async () => {
  const { sends, send, learn, lose } = await inFlight();
  await lose();
  await sends.within((scope) => resolve(scope, send.sendId, 'not_sent'));
  await learn(1, 'accepted');
  await learn(2, 'accepted');
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'not_sent',
    status_reason: 'resolved',
    accepted_at: null,
  });
});
