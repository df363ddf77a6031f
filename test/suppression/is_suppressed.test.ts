import type pg from 'pg';
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const KEY = Buffer.alloc(32, 7);

/** Two connections of a project that knows one address. */
const opened = async () => {
  const projectId = newId();
  const [one, other] = [await connectTo(database, projectId), await connectTo(database, projectId)];
  await one.query("select suppression.know_address($1, $2, 'ann@example.com')", [projectId, KEY]);
  const suppress = (client: pg.Client) =>
    client.query(
      "select suppression.suppress_address($1, $2, 'ann@example.com', $3, 'manual', 'test', now())",
      [projectId, KEY, newId()],
    );
  const ask = async (client: pg.Client): Promise<boolean> =>
    (await client.query('select suppression.is_suppressed($1, $2) as answer', [projectId, KEY]))
      .rows[0].answer;
  return { projectId, one, other, suppress, ask };
};

test('it says no, and yes after a suppression', async () => {
  const { one, suppress, ask } = await opened();
  expect(await ask(one)).toBe(false);
  await suppress(one);
  expect(await ask(one)).toBe(true);
});

test('an address without a row is a bug of the caller, never a silent no', async () => {
  const { one, projectId } = await opened();
  await expect(
    one.query('select suppression.is_suppressed($1, $2)', [projectId, Buffer.alloc(32, 8)]),
  ).rejects.toThrow();
});

test('an answer stays true until its transaction ends: a suppression waits', async () => {
  const { one, other, suppress, ask } = await opened();
  await one.query('begin');
  expect(await ask(one)).toBe(false);
  const suppressing = suppress(other);
  await untilWaiting(database);
  expect(await isSettled(suppressing)).toBe(false);
  expect(await ask(one)).toBe(false);
  await one.query('commit');
  await suppressing;
  expect(await ask(one)).toBe(true);
});

test('an answer waits for a suppression in flight, and knows how it ended', async () => {
  for (const end of ['commit', 'rollback']) {
    const { one, other, suppress, ask } = await opened();
    await other.query('begin');
    await suppress(other);
    const asking = ask(one);
    await untilWaiting(database);
    await other.query(end);
    expect(await asking).toBe(end === 'commit');
  }
});

test('answers do not wait for each other', async () => {
  const { one, other, ask } = await opened();
  await one.query('begin');
  await ask(one);
  expect(await ask(other)).toBe(false);
  await one.query('rollback');
});
