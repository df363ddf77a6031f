import { beforeEach, expect, test } from 'vitest';
import { resumeSending } from '../../src/base/sending.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const RESTORED_AT = new Date('2026-03-01T10:00:00Z');

const ask = async (dueAt: string) => {
  const { rows } = await database.owner.query(
    `select base.restored_before(resumed_at ${dueAt}) as at from base.sending`,
  );
  return rows[0].at as Date | null;
};

beforeEach(() =>
  resumeSending(database.deps.db, { restoredAt: RESTORED_AT, countsTimeline: true }),
);

test('what was due before sending went on is told when the backup was restored', async () => {
  expect(await ask(`- interval '1 millisecond'`)).toEqual(RESTORED_AT);
});

test('what is due from then on is told of nothing', async () => {
  expect(await ask('')).toBeNull();
});

test('nothing is told of anything where nothing was restored', async () => {
  await resumeSending(database.deps.db, { restoredAt: null, countsTimeline: true });
  const { rows } = await database.owner.query(`select base.restored_before('-infinity') as at`);
  expect(rows).toEqual([{ at: null }]);
});
