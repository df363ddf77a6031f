import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { inProject, sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listSpellingsSent, SPELLING_SENDS_READ_MAX } from '../../src/delivery/spelling_queries.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import { limitedSends } from './limited.ts';
import { addressKeyOf } from './one_send.ts';

const database = testDatabase();
const PLAIN = addressKeyOf('ann@example.com');
/** As many as `delivery.list_spellings` reads of each of its two lists. */
const SPELLING_SENDS_MAX = 100;

const Listed = z.strictObject({ keys: z.array(z.instanceof(Buffer)) });

/** A project whose sends to one mailbox are inserted oldest first. */
const oneMailbox = () => {
  const sent = limitedSends(database);
  const list = (mode: (typeof PLAN_MODES)[number] = 'force_generic_plan') =>
    withRowsRead(
      database,
      { projectId: sent.projectId, table: 'delivery.sends', mode },
      async ({ tx, projectId }) => {
        const { keys } = await tx.one(sql.type(Listed)`
          select delivery.list_spellings(${projectId}, ${sql.binary(PLAIN)}) as keys
        `);
        return keys.map((key) => key.toString('hex'));
      },
    );
  const isListed = async (email: string) =>
    (await list()).answer.includes(addressKeyOf(email).toString('hex'));
  const planned = async (recipient: string) =>
    sent.plan(await sent.person(), { recipient, mailboxKey: PLAIN });
  const handedOver = async (recipient: string) =>
    sent.handedOver(await sent.person(), '0', { recipient, mailboxKey: PLAIN });
  /** Copies of a send, each newer than all before. */
  const copy = (sendId: string, count: number) =>
    database.owner.query(
      `insert into delivery.sends
       select copied.* from generate_series(1, $2::int) as at
       cross join lateral (
         select (jsonb_populate_record(original, jsonb_build_object(
           'send_id', '7' || substr(gen_random_uuid()::text, 2), 'run_id', gen_random_uuid(),
           'handed_off_at', original.handed_off_at + at * interval '1 second'))).*
         from delivery.sends as original where original.send_id = $1
       ) as copied`,
      [sendId, count],
    );
  return { ...sent, list, isListed, planned, handedOver, copy };
};

test('the plainest address is listed, and each spelling that an email was planned to, once', async () => {
  const { list, planned, plan, person } = oneMailbox();
  const plain = PLAIN.toString('hex');
  expect((await list()).answer).toEqual([plain]);
  for (const spelling of ['ann+a@example.com', 'ann+b@example.com', 'ann+a@example.com'])
    await planned(spelling);
  await plan(await person(), { recipient: 'ben+a@example.com', mailboxKey: addressKeyOf('ben') });
  const { answer } = await list();
  const [first, ...others] = answer;
  expect(first).toBe(plain);
  expect(others.toSorted()).toEqual(
    ['ann+a@example.com', 'ann+b@example.com']
      .map((email) => addressKeyOf(email).toString('hex'))
      .toSorted(),
  );
});

test('of sends that were never handed over the newest 100 count, at the bound and one past it', async () => {
  const { isListed, planned, copy } = oneMailbox();
  await planned('ann+old@example.com');
  const newer = await planned('ann+new@example.com');
  await copy(newer.sendId, SPELLING_SENDS_MAX - 2);
  expect(await isListed('ann+old@example.com')).toBe(true);
  await copy(newer.sendId, 1);
  expect(await isListed('ann+old@example.com')).toBe(false);
});

test('attack: emails that are stopped do not displace a spelling that received one', async () => {
  const { isListed, planned, handedOver, copy } = oneMailbox();
  await handedOver('ann+shop@example.com');
  const stopped = await planned('ann+a@example.com');
  await copy(stopped.sendId, 3 * SPELLING_SENDS_MAX);
  expect(await isListed('ann+shop@example.com')).toBe(true);
});

test('of sends that were handed over the newest 100 count, at the bound and one past it', async () => {
  const { isListed, handedOver, copy } = oneMailbox();
  await handedOver('ann+old@example.com');
  const newer = await handedOver('ann+new@example.com');
  await copy(newer.sendId, SPELLING_SENDS_MAX - 2);
  expect(await isListed('ann+old@example.com')).toBe(true);
  await copy(newer.sendId, 1);
  expect(await isListed('ann+old@example.com')).toBe(false);
});

describe.each(PLAN_MODES)('%s', (mode) => {
  test(`${mode}: a mailbox with a long history costs no more than a new one`, async () => {
    const { list, planned, handedOver, copy } = oneMailbox();
    for (const make of [planned, handedOver])
      await copy((await make('ann+a@example.com')).sendId, 2_000);
    await database.owner.query('analyze delivery.sends');
    const { read } = await list(mode);
    expect(read).toBe(2 * SPELLING_SENDS_MAX);
  });
});

describe('what a simulation reads', () => {
  const readIn = async (projectId: string, automationId = newId()) => {
    const rows = await inProject(database.deps, projectId, (scope) =>
      listSpellingsSent(scope, [PLAIN, addressKeyOf('ben@example.com')], automationId),
    );
    return rows.map(({ address_key }) => address_key.toString('hex'));
  };
  const keyOf = (email: string): string => addressKeyOf(email).toString('hex');

  test('is each spelling once, since its first email, without those of the automation itself', async () => {
    const { projectId, planned, copy } = oneMailbox();
    const own = await planned('ann+own@example.com');
    const other = await planned('ann+other@example.com');
    await copy(other.sendId, 2);
    expect(await readIn(projectId, own.automationId)).toEqual([keyOf('ann+other@example.com')]);
    expect(await readIn(projectId)).toHaveLength(2);
  });

  test(`is of the newest ${SPELLING_SENDS_READ_MAX} sends, at the bound and one past it`, async () => {
    const { projectId, planned, copy } = oneMailbox();
    await planned('ann+old@example.com');
    const newer = await planned('ann+new@example.com');
    await copy(newer.sendId, SPELLING_SENDS_READ_MAX - 2);
    expect(await readIn(projectId)).toContain(keyOf('ann+old@example.com'));
    await copy(newer.sendId, 1);
    expect(await readIn(projectId)).toEqual([keyOf('ann+new@example.com')]);
  });
});
