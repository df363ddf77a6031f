import { beforeEach, expect, test } from 'vitest';
import { holdSending, lookAtSending, readSending, resumeSending } from '../../src/base/sending.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const setHome = (to: string) => database.owner.query(`update base.sending set home = ${to}`);
const isHeld = async () => (await readSending(database.deps.db)).is_held;

beforeEach(() => resumeSending(database.deps.db, { restoredAt: null, countsTimeline: true }));

test('it is not, where nothing was restored and nobody said so', async () => {
  expect(await isHeld()).toBe(false);
});

test('it is from when somebody says so', async () => {
  const heldAt = await holdSending(database.deps.db);
  expect(await readSending(database.deps.db)).toEqual({
    is_held: true,
    is_elsewhere: false,
    held_at: heldAt,
  });
  expect(await holdSending(database.deps.db)).toEqual(heldAt);
});

test.each([
  ['another server', `regexp_replace(home, '^[0-9]+', '1')`],
  ['another database of it', `regexp_replace(home, '/[0-9]+', '/1')`],
  ['another table in the place of this one', `regexp_replace(home, '/([0-9]+)/[0-9]+', '/\\1/1')`],
  ['a moment before the end of its log', `regexp_replace(home, '[0-9A-F]{8}$', '00000000')`],
])('it is in a backup of %s, and since when is kept once', async (_what, home) => {
  await setHome(home);
  expect(await isHeld()).toBe(true);
  expect(await lookAtSending(database.deps)).toBe(true);
  const { held_at: heldAt } = await readSending(database.deps.db);
  expect(heldAt).toBeInstanceOf(Date);
  await lookAtSending(database.deps);
  expect(await readSending(database.deps.db)).toMatchObject({ held_at: heldAt });
});

test('it is where the row is lost', async () => {
  await database.owner.query('begin');
  await database.owner.query('delete from base.sending');
  const { rows } = await database.owner.query('select base.is_sending_held() as held');
  await database.owner.query('rollback');
  expect(rows).toEqual([{ held: true }]);
});
