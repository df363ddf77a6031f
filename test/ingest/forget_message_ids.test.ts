import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { forgetIdsAfter } from '../../src/ingest/retention_queries.ts';
import { testDatabase } from '../support/database.ts';
import { keyOf, newEvent } from './some_events.ts';

const database = testDatabase();
const NOW = new Date();
const BEFORE = new Date(NOW.getTime() - 30 * 86_400_000);
const FIRST_KEY = '00000000-0000-0000-0000-000000000000';
/** Message ids in the order of their keys. */
const IDS = ['a', 'b', 'c', 'd', 'e'].toSorted((one, other) =>
  keyOf(one) < keyOf(other) ? -1 : 1,
);
const keys = (...places: number[]): string[] => places.map((at) => keyOf(IDS[at] ?? ''));

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
  const { rows } = await database.owner.query<{ message_key: string }>(
    'select message_key from ingest.message_ids where project_id = $1 order by 1',
    [projectId],
  );
  return rows.map(({ message_key }) => message_key);
};

test('it looks at so many ids and forgets the old ones of them, until there are no more', async () => {
  const projectId = newId();
  for (const [at, days] of [1, -1, 0, 5, -5].entries())
    await accept(projectId, IDS[at] ?? '', days);
  const [, second, , fourth, fifth] = IDS.map(keyOf) as [string, string, string, string, string];
  expect(await forget(projectId, FIRST_KEY, 2)).toBe(second);
  expect(await kept(projectId)).toEqual(keys(1, 2, 3, 4));
  expect(await forget(projectId, second, 2)).toBe(fourth);
  expect(await kept(projectId)).toEqual(keys(1, 2, 4));
  expect(await forget(projectId, fourth, 2)).toBe(fifth);
  expect(await forget(projectId, fifth, 2)).toBeNull();
  expect(await kept(projectId)).toEqual(keys(1, 2, 4));
});

test('again it forgets nothing more, and another project’s ids never', async () => {
  const [ours, theirs] = [newId(), newId()];
  await accept(ours, 'a', 1);
  await accept(theirs, 'a', 1);
  expect(await forget(ours, FIRST_KEY, 10)).toBe(keyOf('a'));
  expect(await forget(ours, FIRST_KEY, 10)).toBeNull();
  expect(await kept(ours)).toEqual([]);
  expect(await kept(theirs)).toEqual([keyOf('a')]);
});
