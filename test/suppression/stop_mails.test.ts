import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const STOP =
  'select suppression.stop_mails(project_id => $1, address_keys => $2, categories => $3) as stopped';

/** A project that knows some addresses: one free, one suppressed, one unsubscribed. */
const opened = async () => {
  const projectId = newId();
  const client = await connectTo(database, projectId);
  const [free, bounced, left] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  for (const key of [free, bounced, left])
    await client.query('select suppression.know_address($1, $2, $3)', [
      projectId,
      key,
      `${key[0]}@example.com`,
    ]);
  await client.query(
    "select suppression.suppress_address($1, $2, '2@example.com', $3, 'manual', 'test', now())",
    [projectId, bounced, newId()],
  );
  await client.query(
    "select suppression.change_subscription($1, $2, '3@example.com', $3, 'unsubscribed', 'test', null)",
    [projectId, left, newId()],
  );
  const stop = async (asked: [Buffer, string][]): Promise<(string | null)[]> =>
    (
      await client.query(STOP, [
        projectId,
        asked.map(([key]) => key),
        asked.map(([, category]) => category),
      ])
    ).rows[0].stopped;
  return { projectId, client, free, bounced, left, stop };
};

test('each of many is answered for itself, in the order asked, also asked for twice', async () => {
  const { free, bounced, left, stop } = await opened();
  const asked: [Buffer, string][] = [
    [left, 'marketing'],
    [left, 'transactional'],
    [free, 'marketing'],
    [bounced, 'transactional'],
    [bounced, 'marketing'],
    [free, 'marketing'],
  ];
  expect(await stop(asked)).toEqual(['unsubscribed', null, null, 'suppressed', 'suppressed', null]);
  expect(await stop([])).toEqual([]);
});

test('one address without a row among them is a bug of the caller, never a silent no', async () => {
  const { free, stop } = await opened();
  const unknown = Buffer.alloc(32, 9);
  await expect(
    stop([
      [free, 'marketing'],
      [unknown, 'marketing'],
    ]),
  ).rejects.toThrow('not known');
});

test('the answers stay true until the transaction ends: whoever suppresses one of them waits', async () => {
  const { projectId, client, free, bounced, stop } = await opened();
  await client.query('begin');
  await stop([
    [bounced, 'marketing'],
    [free, 'marketing'],
  ]);
  const other = await connectTo(database, projectId);
  const suppressing = other.query(
    "select suppression.suppress_address($1, $2, '1@example.com', $3, 'manual', 'test', now())",
    [projectId, free, newId()],
  );
  await untilWaiting(database);
  expect(await isSettled(suppressing)).toBe(false);
  await client.query('commit');
  await suppressing;
});
