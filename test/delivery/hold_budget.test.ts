import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
type Held = { window_at: Date | null; used: number | null };

const hold = async (projectId: string, at: string, canWait = true): Promise<Held | undefined> => {
  const { rows } = await database.owner.query<Held>(
    'select window_at, used from delivery.hold_budget($1, $2, $3)',
    [projectId, at, canWait],
  );
  return rows[0];
};
const use = (projectId: string, used: number) =>
  database.owner.query('update delivery.unconfirmed_budgets set used = $2 where project_id = $1', [
    projectId,
    used,
  ]);

test('the first email opens a window of an hour, the next one follows without a gap', async () => {
  const projectId = newId();
  const startedAt = new Date('2026-01-31T12:00:00Z');
  expect(await hold(projectId, '2026-01-31T12:00:00Z')).toEqual({ window_at: startedAt, used: 0 });
  await use(projectId, 5);
  expect(await hold(projectId, '2026-01-31T12:59:59.999Z')).toEqual({
    window_at: startedAt,
    used: 5,
  });
  const next = { window_at: new Date('2026-01-31T13:00:00Z'), used: 0 };
  expect(await hold(projectId, '2026-01-31T13:00:00Z')).toEqual(next);
  expect(await hold(projectId, '2026-01-31T13:40:00Z')).toEqual(next);
  const late = { window_at: new Date('2026-01-31T14:20:00Z'), used: 0 };
  expect(await hold(projectId, '2026-01-31T14:20:00Z')).toEqual(late);
});

test('a caller that cannot wait gets nothing while another transaction holds it, and makes none', async () => {
  const projectId = newId();
  const at = '2026-01-31T12:00:00Z';
  expect((await hold(projectId, at, false))?.window_at ?? null).toBeNull();
  await hold(projectId, at);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query('select delivery.hold_budget($1, $2, true)', [projectId, at]);
  expect((await hold(projectId, at, false))?.window_at ?? null).toBeNull();
  await client.query('commit');
  expect((await hold(projectId, at, false))?.window_at).toEqual(new Date(at));
});
