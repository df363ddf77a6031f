import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { newPerson } from './people.ts';

const database = testDatabase();

const asserting = async () => {
  const { projectId, identityId } = await newPerson(database);
  const say = (traits: object, at: string, { keys = 256, bytes = 32_768 } = {}) =>
    database.owner.query('select profiles.set_browser_traits($1, $2, $3, $4, now(), $5, $6, $7)', [
      projectId,
      identityId,
      traits,
      `2026-01-31T${at}:00Z`,
      Buffer.from('browser'),
      keys,
      bytes,
    ]);
  const read = async () => {
    const { rows } = await database.owner.query<{ key: string; value: unknown }>(
      'select key, value from profiles.browser_traits where project_id = $1 and identity_id = $2 order by key',
      [projectId, identityId],
    );
    return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
  };
  return { say, read };
};

test('the later word wins, in whatever order they arrive; of one moment the greater', async () => {
  for (const order of [
    ['12:00', '12:01'],
    ['12:01', '12:00'],
  ]) {
    const { say, read } = await asserting();
    for (const at of order) await say({ a: at }, at);
    expect(await read()).toEqual({ a: '12:01' });
    await say({ a: '0' }, '12:01');
    expect(await read()).toEqual({ a: '12:01' });
  }
});

test('at the bound all stay; one past it the oldest goes, the address last', async () => {
  const { say, read } = await asserting();
  await say({ email: 'ann@example.com' }, '12:00', { keys: 3 });
  await say({ a: 1 }, '12:01', { keys: 3 });
  await say({ b: 2 }, '12:02', { keys: 3 });
  expect(Object.keys(await read())).toEqual(['a', 'b', 'email']);
  await say({ c: 3 }, '12:03', { keys: 3 });
  expect(Object.keys(await read())).toEqual(['b', 'c', 'email']);
});

test('no more bytes stay than the bound', async () => {
  const { say, read } = await asserting();
  await say({ a: 'x'.repeat(50) }, '12:00', { bytes: 100 });
  await say({ b: 'y'.repeat(60) }, '12:01', { bytes: 100 });
  expect(Object.keys(await read())).toEqual(['b']);
});
