import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();

const flushes = async (projectId: string, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, newId);
  for (const id of ids) await acceptEvents(database.deps.db, projectId, id, [newEvent()]);
  return ids;
};
type Client = Awaited<ReturnType<typeof connectTo>>;
const hold = async (client: Client, projectId: string, after: string | null, max: number) =>
  (
    await client.query<{ held: string[] | null }>(
      'select ingest.hold_flushes(project_id => $1, after => $2, flushes_max => $3) as held',
      [projectId, after, max],
    )
  ).rows[0]?.held;
const claim = async (client: Client, projectId: string) =>
  (
    await client.query<{ id: string }>(
      'select claim_flushes as id from ingest.claim_flushes(project_id => $1, flushes_max => 10)',
      [projectId],
    )
  ).rows.map(({ id }) => id);

test('flushes are held in the order of their ids, so many at a time, and nobody claims them meanwhile', async () => {
  const projectId = newId();
  const [first, second, third] = (await flushes(projectId, 3)) as [string, string, string];
  const [eraser, worker] = [
    await connectTo(database, projectId),
    await connectTo(database, projectId),
  ];
  await eraser.query('begin');
  expect(await hold(eraser, projectId, null, 2)).toEqual([first, second]);
  expect(await claim(worker, projectId)).toEqual([third]);
  await eraser.query('commit');
  expect(await hold(eraser, projectId, second, 2)).toEqual([third]);
  expect(await hold(eraser, projectId, third, 2)).toBeNull();
  expect(await hold(eraser, newId(), null, 2)).toBeNull();
});

test('whoever works on one is waited for; a flush that is done by then is named all the same', async () => {
  const projectId = newId();
  const ids = await flushes(projectId, 2);
  const [eraser, worker] = [
    await connectTo(database, projectId),
    await connectTo(database, projectId),
  ];
  await worker.query('begin');
  expect(await claim(worker, projectId)).toEqual(ids);
  const holding = hold(eraser, projectId, null, 1);
  await untilWaiting(database);
  expect(await isSettled(holding)).toBe(false);
  await worker.query('delete from ingest.pending where project_id = $1', [projectId]);
  await worker.query('commit');
  expect(await holding).toEqual(ids.slice(0, 1));
});
