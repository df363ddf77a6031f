import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { identify } from '../../src/profiles/identify.ts';
import { awaitUnwatched, changeAddresses, unwatch, watch } from '../../src/profiles/profiles.ts';
import { unsubscribe } from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const NOTE = 'select from profiles.note_changes(project_id => $1, profile_ids => $2)';
const countNoted = async (projectId: string): Promise<number> => {
  const { rows } = await database.owner.query<{ noted: number }>(
    'select count(*)::integer as noted from profiles.changes where project_id = $1',
    [projectId],
  );
  return rows[0]?.noted ?? -1;
};
const inScope = <T>(projectId: string, work: Parameters<typeof inProject<T>>[2]) =>
  inProject(database.deps, projectId, work);
const tell = (projectId: string, traits: object) =>
  identify(
    database.deps,
    { projectId, kind: 'server' },
    { external_id: 'ann', traits: { ...traits } },
  );

test('nobody is noted where nobody watches, nor once they stopped', async () => {
  const projectId = newId();
  await tell(projectId, { plan: 'pro' });
  expect(await countNoted(projectId)).toBe(0);
  await inScope(projectId, watch);
  await inScope(projectId, unwatch);
  await tell(projectId, { plan: 'free' });
  expect(await countNoted(projectId)).toBe(0);
});

test('whoever is new, is told something else or is tagged is noted; who stays the same is not', async () => {
  const projectId = newId();
  await inScope(projectId, watch);
  await tell(projectId, { email: 'ann@example.com' });
  const afterFirst = await countNoted(projectId);
  expect(afterFirst).toBeGreaterThan(0);
  await tell(projectId, { email: 'ann@example.com' });
  expect(await countNoted(projectId)).toBe(afterFirst);
  await inScope(projectId, (scope) =>
    changeAddresses(scope, ['ann@example.com'], (inner) =>
      unsubscribe(inner, { email: 'ann@example.com', source: 'test' }),
    ),
  );
  expect(await countNoted(projectId)).toBe(afterFirst + 1);
});

test('whoever begins to watch can wait for those who change people and did not know', async () => {
  const projectId = newId();
  await inScope(projectId, watch);
  await inScope(projectId, unwatch);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(NOTE, [projectId, [newId()]]);
  await inScope(projectId, watch);
  const waiting = inScope(projectId, awaitUnwatched);
  await untilWaiting(database);
  await tell(projectId, { plan: 'pro' });
  expect(await countNoted(projectId)).toBeGreaterThan(0);
  expect(await isSettled(waiting)).toBe(false);
  await client.query('commit');
  await waiting;
});
