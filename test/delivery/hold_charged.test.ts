import { expect, test } from 'vitest';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

const isHeld = async (projectId: string): Promise<boolean> => {
  const { rowCount } = await database.owner.query(
    'select from delivery.unconfirmed_budgets where project_id = $1 for update skip locked',
    [projectId],
  );
  return rowCount === 0;
};

test('the budget is locked where one of the sends was charged to it, else it is not', async () => {
  const { projectId, sends, leased, person, unconfirmed } = budgeted(database);
  const [charged, free] = [await unconfirmed(), await leased(await person())];
  for (const send of [charged, free]) await sends.begin(send);
  const client = await connectTo(database, projectId);
  for (const [send, held] of [
    [free, false],
    [charged, true],
  ] as const) {
    await client.query('begin');
    await client.query('select delivery.hold_charged($1, $2)', [projectId, [send.sendId]]);
    expect(await isHeld(projectId)).toBe(held);
    await client.query('rollback');
  }
});
