import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { listBrought } from '../../src/quotas/queries.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';

const database = testDatabase();

type Given = { keyId?: string; external?: string; anonymous?: string };
const flush = async (projectId: string, given: readonly Given[]): Promise<string> => {
  const flushId = newId();
  const events = given.map(({ keyId, external = null, anonymous = null }) => ({
    ...newEvent(),
    external_id: external,
    anonymous_id: anonymous,
    ...(keyId === undefined
      ? { key_kind: 'server', source: 'server' as const }
      : { key_kind: 'publishable', source: 'browser' as const, key_id: keyId }),
  }));
  await acceptEvents(database.deps.db, projectId, flushId, events);
  return flushId;
};
const person = (value: string) => ({ kind: 'external', value });
const device = (value: string) => ({ kind: 'anonymous', value });
const list = (projectId: string, flushIds: string[], made: ReturnType<typeof person>[]) =>
  inProject(database.deps, projectId, (scope) => listBrought(scope, flushIds, made));

test('counts the identifiers that browser events name, once each, for the key that brought them', async () => {
  const [projectId, one, two] = [newId(), newId(), newId()];
  const flushes = [
    await flush(projectId, [
      { keyId: one, external: 'ann', anonymous: 'd1' },
      { keyId: one, anonymous: 'd1' },
      { external: 'ben' },
      { keyId: one, external: 'known' },
    ]),
    await flush(projectId, [{ keyId: two, anonymous: 'd2' }]),
    await flush(projectId, [{ external: 'carl' }]),
  ];
  const made = [person('ann'), person('ben'), person('carl'), device('d1'), device('d2')];
  const brought = await list(projectId, flushes, made);
  expect(new Map(brought.map(({ key_id, brought: count }) => [key_id, count]))).toEqual(
    new Map([
      [one, 2],
      [two, 1],
    ]),
  );
  expect(await list(projectId, flushes.slice(2), made)).toEqual([]);
  expect(await list(newId(), flushes, made)).toEqual([]);
});

test('several keys of one flush are each charged for their own people', async () => {
  const [projectId, one, two] = [newId(), newId(), newId()];
  const flushId = await flush(projectId, [
    { keyId: one, anonymous: 'd1' },
    { keyId: two, anonymous: 'd2' },
    { anonymous: 'of a server' },
    { keyId: two, anonymous: 'd3' },
    { keyId: one, anonymous: 'd2' },
  ]);
  const made = ['d1', 'd2', 'd3', 'of a server'].map(device);
  const brought = await list(projectId, [flushId], made);
  expect(new Map(brought.map(({ key_id, brought: count }) => [key_id, count]))).toEqual(
    new Map([
      [one, 1],
      [two, 2],
    ]),
  );
});

test('a note of an older version charges its one key for the events of browsers', async () => {
  const [projectId, key] = [newId(), newId()];
  const flushId = await flush(projectId, [
    { keyId: newId(), anonymous: 'd1' },
    { anonymous: 'of a server' },
  ]);
  await database.owner.query(
    'update ingest.pending set key_id = $2, key_ids = null where project_id = $1',
    [projectId, key],
  );
  const made = ['d1', 'of a server'].map(device);
  expect(await list(projectId, [flushId], made)).toEqual([{ key_id: key, brought: 1 }]);
});

test.each(PLAN_MODES)(
  'reads the events of its flushes alone, and none of a server, with %s',
  async (mode) => {
    const projectId = newId();
    const keyId = newId();
    const many = (count: number, given: Given) => Array.from({ length: count }, () => given);
    for (let at = 0; at < 20; at += 1) await flush(projectId, many(200, { keyId, anonymous: 'd' }));
    const own = await flush(projectId, many(10, { keyId, anonymous: 'own' }));
    const ofServer = await flush(projectId, many(200, { external: 'ann' }));
    await database.owner.query('analyze ingest.events');
    const about = { projectId, table: 'ingest.events', mode };
    const partitions = await database.owner.query(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'ingest.events'::regclass`,
    );
    let read = 0;
    for (const { name } of partitions.rows) {
      const { answer, read: here } = await withRowsRead(
        database,
        { ...about, table: name },
        (scope) => listBrought(scope, [own, ofServer], [device('own')]),
      );
      expect(answer).toEqual([{ key_id: keyId, brought: 1 }]);
      read += here;
    }
    expect(read).toBeLessThanOrEqual(20);
  },
);
