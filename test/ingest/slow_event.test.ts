// Work that takes too long is put off like work that fails; whoever cancels it or cuts it off puts nothing off.
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { isTimeout } from '../../src/base/database_errors.ts';
import { inProject, sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { PIECE_FLUSHES, takeFlushes } from '../../src/ingest/flushes.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();
/** What a statement may take here, and how long whoever is slow takes: for ever, as far as that goes. */
const TIMEOUT_MS = 300;
const SLOW_SECONDS = 3_600;
/** What is heavy takes so long that one is in time, and a piece of them is not. */
const HEAVY_SECONDS = 0.05;
const TAKES_MAX = 60;

beforeAll(async () => {
  await database.owner.query(`
    create function public.sleep() returns trigger language plpgsql as $$
    begin perform pg_sleep(tg_argv[0]::float8); return new; end $$;
    create trigger sleep before insert on identity.identities
      for each row when (new.value like 'slow%') execute function public.sleep(${SLOW_SECONDS});
    create trigger rest before insert on identity.identities
      for each row when (new.value like 'heavy%') execute function public.sleep(${HEAVY_SECONDS});`);
});

const flush = (projectId: string, people: string[]) =>
  acceptEvents(
    database.deps.db,
    projectId,
    newId(),
    people.map((person) => newEvent({ external_id: person })),
  );

type Taking = {
  timeoutMs?: number;
  /** Hears the process id of each session of the worker. */
  onBegun?: (pid: number) => void;
  /** Runs before the events of some flushes are processed. */
  before?: (flushIds: string[]) => Promise<unknown>;
};

/** What a worker does for one job. */
const take = (
  projectId: string,
  { timeoutMs = TIMEOUT_MS, onBegun = () => {}, before = () => Promise.resolve() }: Taking = {},
) =>
  takeFlushes(
    (work) =>
      inProject(database.deps, projectId, async (scope: Scope) => {
        const { pid } = await scope.tx.one(sql.type(z.object({ pid: z.int() }))`
          select pg_backend_pid() as pid, set_config('statement_timeout', ${String(timeoutMs)}, true) as was
        `);
        onBegun(pid);
        return work(scope);
      }),
    {
      process: async (scope, flushIds) => {
        await before(flushIds);
        await profiles.seeEvents(scope, flushIds, null);
        return automations.startRuns(scope, flushIds);
      },
      finish: (_scope, started) => Promise.resolve(started),
    },
  );

const waiting = async (projectId: string) =>
  (
    await database.owner.query(
      `select cardinality(event_ids) as events, failure_count from ingest.pending where project_id = $1
      order by flush_id`,
      [projectId],
    )
  ).rows;
const peopleOf = async (projectId: string): Promise<string[]> =>
  (
    await database.owner.query(
      'select value from identity.identities where project_id = $1 order by value',
      [projectId],
    )
  ).rows.map(({ value }) => value);
const drain = async (projectId: string): Promise<void> => {
  for (let takes = 0; takes < TAKES_MAX; takes += 1) {
    const { isMore } = await take(projectId);
    if (!isMore) return;
  }
  throw new Error('never done');
};

test('a single event that takes too long is put off, and tried again later', async () => {
  const projectId = newId();
  await flush(projectId, ['slow']);
  const { failed, done, isMore } = await take(projectId);
  expect({ done, isMore }).toEqual({ done: [], isMore: false });
  expect(failed).toHaveLength(1);
  expect(isTimeout(failed[0]?.error)).toBe(true);
  expect(await waiting(projectId)).toEqual([{ events: 1, failure_count: 1 }]);
});

test('the events beside it are done, in its flush and in the others of the claim; it alone stays', async () => {
  const projectId = newId();
  const others = Array.from({ length: PIECE_FLUSHES - 1 }, (_, at) => `other-${at}`);
  await flush(projectId, [others[0] ?? '']);
  await flush(projectId, ['ann', 'slow', 'bob', 'cid']);
  for (const person of others.slice(1)) await flush(projectId, [person]);
  await drain(projectId);
  expect(await peopleOf(projectId)).toEqual(['ann', 'bob', 'cid', ...others].toSorted());
  expect(await waiting(projectId)).toEqual([{ events: 1, failure_count: 1 }]);
}, 60_000);

test.each([
  ['twice', PIECE_FLUSHES],
  ['three times', PIECE_FLUSHES + 1],
])('one job waits for it %s at most, and leaves the rest to the next', async (_times, count) => {
  const projectId = newId();
  for (let at = 0; at < count; at += 1) await flush(projectId, [`slow-${at}`]);
  const { failed, isMore } = await take(projectId);
  expect(failed).toHaveLength(1);
  expect(isMore).toBe(true);
  const tried = (await waiting(projectId)).filter(({ failure_count }) => failure_count > 0);
  expect(tried).toHaveLength(1);
});

test('of flushes that are too slow together and not alone one piece is done, the rest are left', async () => {
  const projectId = newId();
  for (let at = 0; at < 3 * PIECE_FLUSHES; at += 1) await flush(projectId, [`heavy-${at}`]);
  const { done, failed, isMore } = await take(projectId);
  expect([done.length, failed, isMore]).toEqual([PIECE_FLUSHES, [], true]);
  await drain(projectId);
  expect(await waiting(projectId)).toEqual([]);
});

test('of many flushes those before it are done, a piece at a time, each in a transaction of its own', async () => {
  const projectId = newId();
  const before = Array.from({ length: 2 * PIECE_FLUSHES }, (_, at) => `before-${at + 10}`);
  const after = Array.from({ length: PIECE_FLUSHES }, (_, at) => `later-${at + 10}`);
  for (const person of [...before, 'slow', ...after]) await flush(projectId, [person]);
  const { done, failed, isMore } = await take(projectId);
  expect([done.length, failed.length, isMore]).toEqual([2, 1, true]);
  expect(await peopleOf(projectId)).toEqual(before);
  await drain(projectId);
  expect(await peopleOf(projectId)).toEqual([...before, ...after]);
  expect(await waiting(projectId)).toEqual([{ events: 1, failure_count: 1 }]);
});

test('attack: a slow event makes a worker hold the people of one piece only, so that no two deadlock', async () => {
  const projectId = newId();
  for (let at = 0; at < 2 * PIECE_FLUSHES; at += 1) await flush(projectId, [`person-${at + 10}`]);
  await flush(projectId, ['slow']);
  const free: (number | null)[] = [];
  await take(projectId, {
    before: async (flushIds) => {
      if (flushIds.length > PIECE_FLUSHES) return;
      // The people of the pieces before are free: no other worker waits for them.
      const { rowCount } = await database.owner.query(
        'select from identity.identities where project_id = $1 for update nowait',
        [projectId],
      );
      free.push(rowCount);
    },
  });
  expect(free.slice(0, 3)).toEqual([0, PIECE_FLUSHES, 2 * PIECE_FLUSHES]);
});

test.each([
  ['cancels it', 'pg_cancel_backend'],
  ['cuts it off', 'pg_terminate_backend'],
])('whoever %s puts nothing off: the flush waits as it was', async (_does, end) => {
  const projectId = newId();
  await flush(projectId, ['slow', 'ann']);
  const before = await waiting(projectId);
  let pid = 0;
  const failing = expect(
    take(projectId, { timeoutMs: 60_000, onBegun: (begun) => (pid = begun) }),
  ).rejects.toThrow();
  await until('the worker sleeps', async () => {
    const { rowCount } = await database.owner.query(
      `select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`,
      [pid],
    );
    return rowCount === 1;
  });
  await database.owner.query(`select ${end}($1)`, [pid]);
  await failing;
  expect(await waiting(projectId)).toEqual(before);
});

test('who waits too long for a lock is put off too, and is done once it is free', async () => {
  const projectId = newId();
  await flush(projectId, ['ann']);
  await drain(projectId);
  await flush(projectId, ['ann', 'bob']);
  await database.owner.query('begin');
  await database.owner.query('select from identity.identities where project_id = $1 for update', [
    projectId,
  ]);
  await drain(projectId);
  await database.owner.query('commit');
  expect(await peopleOf(projectId)).toEqual(['ann', 'bob']);
  expect(await waiting(projectId)).toEqual([{ events: 1, failure_count: 1 }]);
  await database.owner.query('update ingest.pending set retry_at = now() where project_id = $1', [
    projectId,
  ]);
  await drain(projectId);
  expect(await waiting(projectId)).toEqual([]);
});
