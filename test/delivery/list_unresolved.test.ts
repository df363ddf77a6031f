import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { sendsOf } from './one_send.ts';

const database = testDatabase();

/** Sends of one project whose first hand-off came to that, and those that are unresolved. */
const ended = async (outcomes: readonly ('accepted' | 'deferred' | 'unknown')[]) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const ids: string[] = [];
  for (const outcome of outcomes) {
    const { sendId } = await sends.handingOff();
    await sends.end(sendId, outcome);
    ids.push(sendId);
  }
  const list = async () => {
    const { rows } = await database.owner.query<{ found: string[] | null }>(
      'select delivery.list_unresolved($1, $2) as found',
      [projectId, ids],
    );
    return rows[0]?.found ?? null;
  };
  return { ids, list };
};

test('a hand-off of unknown outcome is unresolved, no other is', async () => {
  const { ids, list } = await ended(['accepted', 'unknown', 'deferred', 'unknown']);
  expect(new Set(await list())).toEqual(new Set([ids[1], ids[3]]));
});

test('what somebody has said is resolved', async () => {
  const { ids, list } = await ended(['unknown']);
  await database.owner.query(
    "update delivery.attempts set reason = 'resolved' where send_id = $1",
    [ids[0]],
  );
  expect(await list()).toBeNull();
});

test('null when there is none', async () => {
  expect(await (await ended(['accepted', 'deferred'])).list()).toBeNull();
  expect(await (await ended([])).list()).toBeNull();
});
