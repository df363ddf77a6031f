import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { expireSends } from '../../src/delivery/delivery.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();
const SENDS_MAX = 3;

/** A project with so many sends whose time is over, the one that was so first coming first. */
const expired = async (count: number) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const ids: string[] = [];
  for (let minutes = count; minutes > 0; minutes -= 1) {
    const send = newSend();
    await sends.plan(send);
    await sends.update(send.sendId, `expires_at = now() - interval '${minutes} minutes'`);
    ids.push(send.sendId);
  }
  const sweep = async (): Promise<string[]> => {
    await sends.within((scope) => expireSends(scope, SENDS_MAX));
    const { rows } = await database.owner.query(
      `select send_id from delivery.sends where project_id = $1 and status = 'expired' order by expires_at`,
      [projectId],
    );
    return rows.map(({ send_id }) => send_id as string);
  };
  return { projectId, ids, sweep };
};

test('one sweep ends so many at most, the longest past first; the next one the rest', async () => {
  const atTheBound = await expired(SENDS_MAX);
  expect(await atTheBound.sweep()).toEqual(atTheBound.ids);
  const onePast = await expired(SENDS_MAX + 1);
  expect(await onePast.sweep()).toEqual(onePast.ids.slice(0, SENDS_MAX));
  expect(await onePast.sweep()).toEqual(onePast.ids);
});

test('a send that somebody holds is left to the next sweep, and nobody waits for it', async () => {
  const { projectId, ids, sweep } = await expired(2);
  const other = await connectTo(database, projectId);
  await other.query('begin');
  await other.query(
    'select from delivery.sends where project_id = $1 and send_id = $2 for update',
    [projectId, ids[0]],
  );
  expect(await sweep()).toEqual(ids.slice(1));
  await other.query('rollback');
  expect(await sweep()).toEqual(ids);
});
