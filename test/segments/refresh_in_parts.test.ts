// A person who cannot be evaluated waits alone: other people, and other segments, go on.
import { beforeEach, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { openLog } from '../../src/base/log.ts';
import { identify } from '../../src/profiles/identify.ts';
import { listProfiles } from '../../src/profiles/profiles.ts';
import { FAILURES_MAX, RETRY_MS } from '../../src/segments/refresh_in_parts.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { create, listKept } from './recount.ts';

const database = testDatabase();
const PLAN = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'vip' } } as const;

let projectId = '';
let logged: Record<string, unknown>[] = [];
const log = openLog('warn', { write: (line: string) => void logged.push(JSON.parse(line)) });
beforeEach(() => {
  projectId = newId();
  logged = [];
});

const refresh = (now = new Date()) =>
  refreshSegments({ ...database.deps, log }, projectId, { signal: NEVER, now: () => now });
const identifyAll = (names: readonly string[], traits: Record<string, string>) =>
  Promise.all(
    names.map((external_id) =>
      identify(database.deps, { projectId, kind: 'server' }, { external_id, traits }),
    ),
  );
const tell = (names: readonly string[]) => identifyAll(names, { plan: 'vip' });
const exist = (names: readonly string[]) => identifyAll(names, {});
const idsOf = async (names: readonly string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const value of names) {
    const found = await inProject(database.deps, projectId, (scope) =>
      listProfiles(scope, { by: 'external', value }),
    );
    ids.push(...found.map(({ id }) => id));
  }
  return ids.toSorted();
};

/** Makes Postgres refuse members whose ids are these; returns what cures it. */
const poison = async (names: readonly string[]): Promise<() => Promise<unknown>> => {
  const ids = await idsOf(names);
  const constraint = `no_${projectId.replaceAll('-', '')}`;
  await database.owner.query(
    `alter table segments.members add constraint ${constraint}
      check (profile_id not in (${ids.map((id) => `'${id}'`).join(', ')})) not valid`,
  );
  return () => database.owner.query(`alter table segments.members drop constraint ${constraint}`);
};
const named = (of: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${of}-${at}`);
const isDone = async (): Promise<void> => expect(await refresh()).toBe(false);

test('who changed beside a person who cannot be evaluated enters; that one is tried an hour later', async () => {
  const { segment_id } = await create(database, projectId, PLAN);
  await refresh();
  const good = named('good', 30);
  await exist(['poison']);
  const cure = await poison(['poison']);
  await tell([...good.slice(0, 11), 'poison', ...good.slice(11)]);
  await isDone();
  expect(await listKept(database, segment_id)).toEqual(await idsOf(good));
  expect(logged).toMatchObject([{ project_id: projectId, err: { code: '23514' } }]);
  const { rows } = await database.owner.query(
    'select profile_id from segments.wakeups where project_id = $1 and wake_at = $2',
    [projectId, logged[0]?.['retry_at']],
  );
  expect(rows.map((row) => row.profile_id)).toEqual(await idsOf(['poison']));

  await cure();
  await isDone();
  expect(await listKept(database, segment_id)).toEqual(await idsOf(good));
  await refresh(new Date(Date.now() + RETRY_MS + 1_000));
  expect(await listKept(database, segment_id)).toEqual(await idsOf([...good, 'poison']));
});

test('while its cause lasts it is tried each hour, and a change of the person is tried at once', async () => {
  const { segment_id } = await create(database, projectId, PLAN);
  await refresh();
  await exist(['poison']);
  const cure = await poison(['poison']);
  await tell(['poison']);
  await isDone();
  const later = new Date(Date.now() + RETRY_MS + 1_000);
  expect(await refresh(later)).toBe(false);
  expect(logged).toHaveLength(2);
  expect(await refresh(later)).toBe(false);
  expect(logged).toHaveLength(2);
  await cure();
  const changed = { external_id: 'poison', traits: { city: 'Rome' } };
  await identify(database.deps, { projectId, kind: 'server' }, changed);
  await refresh();
  expect(await listKept(database, segment_id)).toEqual(await idsOf(['poison']));
});

test('a segment fills with others, and ends', async () => {
  const good = named('good', 30);
  await tell([...good, 'poison']);
  await poison(['poison']);
  const { segment_id } = await create(database, projectId, PLAN);
  await isDone();
  expect(await listKept(database, segment_id)).toEqual(await idsOf(good));
  const { rows } = await database.owner.query(
    'select status, examined_count::integer as examined from segments.segments where segment_id = $1',
    [segment_id],
  );
  expect(rows).toEqual([{ status: 'ready', examined: 31 }]);
});

test.each([FAILURES_MAX, FAILURES_MAX + 1, 3 * FAILURES_MAX])(
  '%s people who cannot be evaluated stop no other, of a change or of a fill',
  async (count) => {
    const [bad, good, filled] = [named('bad', count), named('good', 20), named('filled', 20)];
    await exist([...bad, ...good]);
    await tell(filled);
    await poison(bad);
    const { segment_id } = await create(database, projectId, PLAN);
    await isDone();
    expect(await listKept(database, segment_id)).toEqual(await idsOf(filled));
    await tell([...good, ...bad]);
    await isDone();
    expect(await listKept(database, segment_id)).toEqual(await idsOf([...filled, ...good]));
    expect(logged).toHaveLength(count);
    const { rows } = await database.owner.query(
      `select cause, source, count(*)::integer as count from segments.history
      where segment_id = $1 group by cause, source order by cause`,
      [segment_id],
    );
    expect(rows).toEqual([
      { cause: 'change', source: 'server', count: good.length },
      { cause: 'fill', source: null, count: filled.length },
    ]);
  },
);
