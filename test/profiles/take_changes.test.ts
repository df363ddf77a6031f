import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { noteChanges, takeChanges, watch } from '../../src/profiles/profiles.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const [ann, bob, cid] = [newId(), newId(), newId()];
const note = (projectId: string, ...ids: string[]) =>
  inProject(database.deps, projectId, (scope) => noteChanges(scope, ids));
const take = (projectId: string, changesMax: number) =>
  inProject(database.deps, projectId, async (scope) => [
    ...(await takeChanges(scope, changesMax)).keys(),
  ]);

test('the oldest notes come first, each person once, and are gone then', async () => {
  const [projectId, other] = [newId(), newId()];
  for (const project of [projectId, other])
    await inProject(database.deps, project, (scope) => watch(scope));
  await note(projectId, ann, bob);
  await note(projectId, ann);
  await note(projectId, cid);
  await note(other, bob);
  expect((await take(projectId, 3)).toSorted()).toEqual([ann, bob].toSorted());
  expect(await take(projectId, 3)).toEqual([cid]);
  expect(await take(projectId, 3)).toEqual([]);
  expect(await take(other, 3)).toEqual([bob]);
});

test('what is noted while others are taken is not lost, also of the same person', async () => {
  const projectId = newId();
  await inProject(database.deps, projectId, (scope) => watch(scope));
  await note(projectId, ann);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query('select from profiles.take_changes(project_id => $1, changes_max => 9)', [
    projectId,
  ]);
  await note(projectId, ann);
  await client.query('commit');
  expect(await take(projectId, 9)).toEqual([ann]);
});

test('each person comes with the reason of each note, and with who caused all of them', async () => {
  const projectId = newId();
  await inProject(database.deps, projectId, (scope) => watch(scope));
  await inProject(database.deps, projectId, async (scope) => {
    await noteChanges(scope, [ann, bob], { source: 'server', reasons: [{ kind: 'undo' }] });
    await noteChanges(scope, [ann], { source: 'browser' });
  });
  const taken = await inProject(database.deps, projectId, (scope) => takeChanges(scope, 9));
  expect(taken.get(ann)?.source).toBe('browser');
  expect(taken.get(ann)?.reasons).toHaveLength(2);
  expect(taken.get(ann)?.reasons).toEqual(expect.arrayContaining([{ kind: 'undo' }, null]));
  expect(taken.get(bob)).toEqual({ source: 'server', reasons: [null], aspects: null });
});
