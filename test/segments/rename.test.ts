// Another name is a segment's next version: of two who save one the second is refused, and nobody is looked at again.
import { beforeEach, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { changeSegment, createSegment, findSegment } from '../../src/segments/segments.ts';
import { testDatabase } from '../support/database.ts';
import { refusalOf } from '../support/refusal_of.ts';
import { takeTurn } from '../support/refresh_segments.ts';
import { workOn } from '../support/work_on.ts';
import { TODAY } from './arbitrary.ts';
import { dayAt, create, listKept, ordered, refreshOn } from './recount.ts';
import { perform } from './steps.ts';

const database = testDatabase();

let projectId: string;
const buy = async (external_id: 'ann' | 'bob' | 'cid'): Promise<void> => {
  await perform(database, projectId, {
    kind: 'track',
    who: { external_id },
    event: 'order_completed',
    isObserved: false,
    properties: {},
    daysAgo: 0,
    times: 1,
    messageId: null,
  });
  await workOn(database, projectId);
};
beforeEach(async () => {
  projectId = newId();
  await buy('ann');
  await buy('bob');
});

const change = (id: string, version: number, given: { name?: string; definition?: object }) =>
  inProject(database.deps, projectId, (scope) =>
    changeSegment(scope, id, { version, ...given } as Parameters<typeof changeSegment>[2]),
  );
const read = (id: string) => inProject(database.deps, projectId, (scope) => findSegment(scope, id));
const make = async (where: Condition) => (await create(database, projectId, where)).segment_id;
const tellHistory = async (id: string) =>
  (
    await database.owner.query(
      'select version, change, cause from segments.history where segment_id = $1 order by entry',
      [id],
    )
  ).rows;

test('of two who save a name the second is refused, and sees what the first one saved', async () => {
  const id = await make(ordered());
  await change(id, 1, { name: 'Mine' });
  expect(await refusalOf(change(id, 1, { name: 'Yours' }))).toMatchObject({
    reason: 'segment_changed',
  });
  expect(await read(id)).toMatchObject({ name: 'Mine', version: 2 });
  await change(id, 2, { name: 'Yours' });
  expect(await read(id)).toMatchObject({ name: 'Yours', version: 3 });
});

test('who changes the definition of what was renamed meanwhile is refused, and the other way round', async () => {
  const id = await make(ordered());
  const definition = (await read(id))?.definition ?? {};
  await change(id, 1, { name: 'Renamed' });
  expect((await refusalOf(change(id, 1, { definition }))).reason).toBe('segment_changed');
  await change(id, 2, { definition });
  expect((await refusalOf(change(id, 2, { name: 'Late' }))).reason).toBe('segment_changed');
});

test('the same name again changes nothing, and a name with a definition is one version', async () => {
  const id = await make(ordered());
  expect(await change(id, 1, { name: 'a' })).toMatchObject({ version: 1 });
  const { definition } = (await read(id)) ?? {};
  expect(await change(id, 1, { name: 'b', definition: definition ?? {} })).toMatchObject({
    version: 2,
    name: 'b',
  });
});

test('of one that is ready nobody is looked at again, and who comes later is of the new version', async () => {
  const id = await make(ordered());
  await refreshOn(database, projectId, TODAY);
  const before = [await listKept(database, id), await tellHistory(id)];
  expect(before[0]).toHaveLength(2);
  expect(await change(id, 1, { name: 'Renamed' })).toMatchObject({
    status: 'ready',
    version: 2,
    active_version: 2,
  });
  await refreshOn(database, projectId, TODAY);
  expect([await listKept(database, id), await tellHistory(id)]).toEqual(before);
  await buy('cid');
  await refreshOn(database, projectId, TODAY);
  expect((await tellHistory(id)).at(-1)).toEqual({
    version: 2,
    change: 'entered',
    cause: 'change',
  });
});

test.each(['counting', 'filling'] as const)(
  'one that is %s goes on where it is',
  async (status) => {
    const id = await make(ordered());
    while ((await read(id))?.status !== status)
      await takeTurn(database.deps, projectId, dayAt(TODAY));
    expect(await change(id, 1, { name: 'Renamed' })).toMatchObject({ status, version: 2 });
    await refreshOn(database, projectId, TODAY);
    expect(await read(id)).toMatchObject({ status: 'ready', version: 2, active_version: 2 });
    expect(await listKept(database, id)).toHaveLength(2);
    expect(await tellHistory(id)).toHaveLength(2);
  },
);

test('a new definition that was not looked at yet is not overtaken by its name', async () => {
  const id = await make(ordered());
  await refreshOn(database, projectId, TODAY);
  const none: Condition = { ...ordered(), event: 'never_happened' } as Condition;
  const { definition } = await create(database, projectId, none);
  await change(id, 1, { definition: definition ?? {} });
  expect(await change(id, 2, { name: 'Renamed' })).toMatchObject({
    status: 'counting',
    version: 3,
    active_version: 1,
  });
  await refreshOn(database, projectId, TODAY);
  expect(await read(id)).toMatchObject({ status: 'ready', active_version: 3 });
  expect(await listKept(database, id)).toEqual([]);
});

test('a static one keeps its people', async () => {
  const segmentId = newId();
  await inProject(database.deps, projectId, (scope) =>
    createSegment(scope, { segmentId, name: 'List', definition: null }),
  );
  await refreshOn(database, projectId, TODAY);
  expect(await change(segmentId, 1, { name: 'Renamed' })).toMatchObject({
    kind: 'static',
    status: 'ready',
    version: 2,
  });
});
