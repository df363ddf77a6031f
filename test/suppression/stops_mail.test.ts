import type pg from 'pg';
import { describe, expect, test } from 'vitest';
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
  const change = (client: pg.Client, what: 'unsubscribed' | 'resubscribed') =>
    client.query(
      "select suppression.change_subscription($1, $2, 'ann@example.com', $3, $4, 'test', null)",
      [projectId, KEY, newId(), what],
    );
  const ask = async (client: pg.Client, category = 'marketing'): Promise<string | null> =>
    (
      await client.query('select suppression.stops_mail($1, $2, $3) as answer', [
        projectId,
        KEY,
        category,
      ])
    ).rows[0].answer;
  return { projectId, one, other, suppress, change, ask };
};

test('nothing stops mail, until a suppression stops all of it', async () => {
  const { one, suppress, ask } = await opened();
  expect(await ask(one)).toBeNull();
  await suppress(one);
  expect(await ask(one)).toBe('suppressed');
  expect(await ask(one, 'transactional')).toBe('suppressed');
});

test('an unsubscribe stops marketing mail only, until its owner comes back', async () => {
  const { one, change, ask } = await opened();
  await change(one, 'unsubscribed');
  expect(await ask(one)).toBe('unsubscribed');
  expect(await ask(one, 'transactional')).toBeNull();
  await change(one, 'resubscribed');
  expect(await ask(one)).toBeNull();
});

test('who is suppressed and unsubscribed is called suppressed, and coming back changes nothing', async () => {
  const { one, suppress, change, ask } = await opened();
  await suppress(one);
  await change(one, 'unsubscribed');
  expect(await ask(one)).toBe('suppressed');
  await change(one, 'resubscribed');
  expect(await ask(one)).toBe('suppressed');
});

test('an address without a row is a bug of the caller, never a silent no', async () => {
  const { one, projectId } = await opened();
  await expect(
    one.query("select suppression.stops_mail($1, $2, 'marketing')", [
      projectId,
      Buffer.alloc(32, 8),
    ]),
  ).rejects.toThrow();
});

describe.each(['suppressed', 'unsubscribed'] as const)('%s', (said) => {
  const openedFor = async () => {
    const { suppress, change, ...rest } = await opened();
    const say = (client: pg.Client) =>
      said === 'suppressed' ? suppress(client) : change(client, said);
    return { ...rest, say };
  };

  test('an answer stays true until its transaction ends: whoever says so waits', async () => {
    const { one, other, say, ask } = await openedFor();
    await one.query('begin');
    expect(await ask(one)).toBeNull();
    const saying = say(other);
    await untilWaiting(database);
    expect(await isSettled(saying)).toBe(false);
    expect(await ask(one)).toBeNull();
    await one.query('commit');
    await saying;
    expect(await ask(one)).toBe(said);
  });

  test('an answer waits for who is saying so, and knows how it ended', async () => {
    for (const end of ['commit', 'rollback']) {
      const { one, other, say, ask } = await openedFor();
      await other.query('begin');
      await say(other);
      const asking = ask(one);
      await untilWaiting(database);
      await other.query(end);
      expect(await asking).toBe(end === 'commit' ? said : null);
    }
  });
});

test('answers do not wait for each other', async () => {
  const { one, other, ask } = await opened();
  await one.query('begin');
  await ask(one);
  expect(await ask(other)).toBeNull();
  await one.query('rollback');
});
