import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { settleLost } from '../../src/delivery/delivery.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { permutationsOf } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();
const FACTS = ['delivered', 'bounced', 'complained', 'taken', 'opened', 'clicked'] as const;
const SIGNS: readonly string[] = ['taken', 'opened', 'clicked'];
type Told = { fact: (typeof FACTS)[number]; at: Date };

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 31, 12, 0, second));

describe.each(SEND_STATUSES)('a send that is %s', (from) => {
  test.each(FACTS)('keeps the fact %s and moves only from unknown to accepted', async (fact) => {
    const sends = sendsOf(database, newId());
    const { sendId } = await sends.handingOff();
    await sends.update(sendId, `status = '${from}'`);
    await sends.tell(sendId, fact, at(1));
    expect(await sends.read(sendId)).toMatchObject({
      status: from === 'unknown' ? 'accepted' : from,
      delivered_at: fact === 'delivered' ? at(1) : null,
      bounced_at: fact === 'bounced' ? at(1) : null,
      complained_at: fact === 'complained' ? at(1) : null,
      taken_at: SIGNS.includes(fact) ? at(1) : null,
      opened_at: fact === 'opened' ? at(1) : null,
      clicked_at: fact === 'clicked' ? at(1) : null,
    });
  });
});

test('a fact told twice keeps the earlier time', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  for (const second of [5, 3, 4]) await sends.tell(sendId, 'delivered', at(second));
  expect(await sends.read(sendId)).toMatchObject({ delivered_at: at(3) });
});

test.each(['opened', 'clicked'] as const)(
  'of several times that it was %s, the first stays',
  async (fact) => {
    const sends = sendsOf(database, newId());
    const { sendId } = await sends.handingOff();
    for (const second of [5, 3, 4]) await sends.tell(sendId, fact, at(second));
    expect(await sends.read(sendId)).toMatchObject({ [`${fact}_at`]: at(3), taken_at: at(3) });
  },
);

test('a fact about no send, or another project’s, changes nothing', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  const before = await sends.read(sendId);
  await sends.tell(newId(), 'delivered', at(1));
  await sendsOf(database, newId()).tell(sendId, 'delivered', at(1));
  expect(await sends.read(sendId)).toEqual(before);
});

/** Everything of the send that feedback may change. */
const factsOf = async (sends: ReturnType<typeof sendsOf>, sendId: string) => {
  const row = await sends.read(sendId);
  const { status, status_reason, accepted_at, delivered_at, bounced_at, complained_at } = row;
  const { taken_at } = row;
  return {
    status,
    status_reason,
    accepted_at,
    delivered_at,
    bounced_at,
    complained_at,
    taken_at,
  };
};

const TOLD: Told[] = [
  { fact: 'delivered', at: at(1) },
  { fact: 'delivered', at: at(4) },
  { fact: 'bounced', at: at(3) },
  { fact: 'complained', at: at(2) },
  { fact: 'taken', at: at(0) },
];

/** What the step before leaves as the reason of a state. */
const REASONS: Record<string, string> = { unknown: "'outcome_unknown'" };

/** The end after facts in this order, each of them twice. */
const endAfter = async (from: string, told: Told[]): Promise<unknown> => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await sends.update(sendId, `status = '${from}', status_reason = ${REASONS[from] ?? 'null'}`);
  for (const one of [...told, ...told]) await sends.tell(sendId, one.fact, one.at);
  return factsOf(sends, sendId);
};

test.each(['handing_off', 'accepted', 'rejected', 'unknown'])(
  'facts about a send that is %s end in the same row in any order, with duplicates',
  async (from) => {
    const ends = await Promise.all(permutationsOf(TOLD).map((told) => endAfter(from, told)));
    for (const end of ends) expect(end).toEqual(ends[0]);
  },
);

test('facts before and after the sweep that loses the hand-off end in the same row', async () => {
  const ends: unknown[] = [];
  for (const before of [0, 1, 2, 3, 4, 5]) {
    const sends = sendsOf(database, newId());
    const { sendId } = await sends.handingOff();
    for (const { fact, at: when } of TOLD.slice(0, before)) await sends.tell(sendId, fact, when);
    await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
    for (const { fact, at: when } of TOLD.slice(before)) await sends.tell(sendId, fact, when);
    ends.push(await factsOf(sends, sendId));
  }
  for (const end of ends) expect(end).toEqual(ends[0]);
});

test('facts told at once are all kept', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await Promise.all(TOLD.map((told) => sends.tell(sendId, told.fact, told.at)));
  expect(await sends.read(sendId)).toMatchObject({
    delivered_at: at(1),
    bounced_at: at(3),
    complained_at: at(2),
  });
});

test.each(['unknown', 'deferred', 'not_started'] as const)(
  'a sign that came before the outcome %s was written proves that the provider took it',
  async (outcome) => {
    const sends = sendsOf(database, newId());
    const { sendId } = await sends.handingOff();
    await sends.tell(sendId, 'taken', at(1));
    await sends.end(sendId, outcome, { reason: 'x', retryAfterSeconds: 60 });
    expect(await sends.read(sendId)).toMatchObject({ status: 'accepted', accepted_at: at(1) });
  },
);

test('a sign that came before the hand-off was lost proves that the provider took it', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await sends.tell(sendId, 'taken', at(1));
  await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
  expect(await sends.read(sendId)).toMatchObject({ status: 'accepted', accepted_at: at(1) });
});
