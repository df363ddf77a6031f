import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { forgetIdsAfter } from '../../src/ingest/retention_queries.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();
const NOW = new Date();
const BEFORE = new Date(NOW.getTime() - 30 * 86_400_000);

const accept = (projectId: string, messageId: string, daysBefore: number) =>
  acceptEvents(database.deps.db, projectId, newId(), [
    newEvent({
      message_id: messageId,
      occurred_at: new Date(BEFORE.getTime() - daysBefore * 86_400_000).toISOString(),
    }),
  ]);
const forget = (projectId: string, after: string, idsMax: number) =>
  inProject(database.deps, projectId, (scope) =>
    forgetIdsAfter(scope, { before: BEFORE, after, idsMax }),
  );
const kept = async (projectId: string): Promise<string[]> => {
  const { rows } = await database.owner.query<{ message_id: string }>(
    'select message_id from ingest.message_ids where project_id = $1 order by 1',
    [projectId],
  );
  return rows.map(({ message_id }) => message_id);
};

test('it looks at so many ids and forgets the old ones of them, until there are no more', async () => {
  const projectId = newId();
  for (const [id, days] of [
    ['a', 1],
    ['b', -1],
    ['c', 0],
    ['d', 5],
    ['e', -5],
  ] as const)
    await accept(projectId, id, days);
  expect(await forget(projectId, '', 2)).toBe('b');
  expect(await kept(projectId)).toEqual(['b', 'c', 'd', 'e']);
  expect(await forget(projectId, 'b', 2)).toBe('d');
  expect(await kept(projectId)).toEqual(['b', 'c', 'e']);
  expect(await forget(projectId, 'd', 2)).toBe('e');
  expect(await forget(projectId, 'e', 2)).toBeNull();
  expect(await kept(projectId)).toEqual(['b', 'c', 'e']);
});

test('again it forgets nothing more, and another project’s ids never', async () => {
  const [ours, theirs] = [newId(), newId()];
  await accept(ours, 'a', 1);
  await accept(theirs, 'a', 1);
  expect(await forget(ours, '', 10)).toBe('a');
  expect(await forget(ours, '', 10)).toBeNull();
  expect(await kept(ours)).toEqual([]);
  expect(await kept(theirs)).toEqual(['a']);
});
