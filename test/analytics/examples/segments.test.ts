import { expect, test } from 'vitest';
import { accept } from '../../../src/ingest/ingest.ts';
import { dayOf } from '../../../src/segments/moments.ts';
import { create, ordered, refreshOn } from '../../segments/recount.ts';
import { testDatabase } from '../../support/database.ts';
import { workOn } from '../../support/work_on.ts';
import { connectAnalyst, newProject } from '../connect_analyst.ts';
import { runExample } from './run_example.ts';

const database = testDatabase();

test('segment_flow: who comes and goes, without those that a new definition moves', async () => {
  const projectId = await newProject(database);
  const order = async (external_id: string) => {
    const events = [{ event: 'order_completed', external_id }];
    await accept(database.deps, { projectId, kind: 'server' }, { events });
    await workOn(database, projectId);
  };
  await order('ann');
  await create(database, projectId, ordered(1));
  await refreshOn(database, projectId);
  await order('bob');
  await refreshOn(database, projectId);
  await refreshOn(database, projectId, dayOf(Date.now()) + 1);
  const analyst = await connectAnalyst(database, projectId);
  expect(await runExample(analyst, 'segment_flow')).toEqual([
    { segment: 'a', day: expect.anything() as unknown, entered: 1, left_it: 2 },
  ]);
});
