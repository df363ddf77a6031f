// Each process writes what it counted in cycles. A slow or lost database does not pile them up.
import { expect, onTestFinished, test } from 'vitest';
import type { Interceptor } from 'slonik';
import { openDb } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { CLOSE_WITHIN_MS, Meter } from '../../src/quotas/meter.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { countedOf } from './api_with_quotas.ts';

const database = testDatabase();

/** A meter over connections of its own: which statements it made, and whether they fail as if Postgres were gone. */
const openMeter = async () => {
  const statements: string[] = [];
  const state = { isDown: false };
  const recording: Interceptor = {
    name: 'recording',
    beforeQueryExecution: (_context, { sql }) => {
      statements.push(sql);
      if (state.isDown && sql.includes('count_use'))
        throw Object.assign(new Error('the connection is gone'), { code: '57P01' });
      return null;
    },
  };
  const { deps } = database;
  const db = await openDb(runtimeUrl(database.url, deps.keys), undefined, [recording]);
  onTestFinished(() => db.end());
  const own = { ...deps, db };
  const meter = new Meter(own);
  onTestFinished(() => meter.close());
  /** Stores bytes with a key, as an accepted request does. */
  const store = async (projectId: string, keyId: string, bytes: number): Promise<void> => {
    const use = await meter.useOf(own, projectId, keyId);
    use.reserveBytes(bytes)(bytes);
  };
  const countWrites = () => statements.filter((sql) => sql.includes('count_use')).length;
  return { meter, store, statements, state, countWrites, deps: own };
};

/** Locks the counters of a project, so that requests that count there wait. Returns a function that unlocks them. */
const lockCounters = async (projectId: string, keyId: string): Promise<() => Promise<unknown>> => {
  const holder = await connectTo(database, projectId);
  await holder.query('begin');
  await holder.query(
    `select quotas.count_use($1, 'accept', array[$2::uuid], array[0], array[0]::bigint[])`,
    [projectId, keyId],
  );
  return () => holder.query('commit');
};

test('a tick while a cycle runs starts no other: the next one begins afterwards', async () => {
  const { meter, store, countWrites } = await openMeter();
  const [projectId, keyId] = [newId(), newId()];
  const unlock = await lockCounters(projectId, keyId);
  await store(projectId, keyId, 100);
  const cycles = [meter.runCycle(), meter.runCycle(), meter.runCycle()];
  await untilWaiting(database);
  expect(await isSettled(Promise.all(cycles))).toBe(false);
  await store(projectId, keyId, 10);
  cycles.push(meter.runCycle());
  await unlock();
  await Promise.all(cycles);
  expect(countWrites()).toBe(1);
  expect(await countedOf(database, projectId)).toMatchObject({ bytes: 100 });
  await meter.runCycle();
  expect(countWrites()).toBe(2);
  expect(await countedOf(database, projectId)).toMatchObject({ bytes: 110 });
});

test('a key without requests since costs no statement, and a used one is read once more', async () => {
  const { meter, store, statements, deps } = await openMeter();
  const [projectId, keyId] = [newId(), newId()];
  await store(projectId, keyId, 100);
  await meter.runCycle();
  const before = statements.length;
  for (let time = 0; time < 3; time += 1) await meter.runCycle();
  expect(statements).toHaveLength(before);
  await meter.useOf(deps, projectId, keyId);
  await meter.runCycle();
  expect(statements.slice(before).filter((sql) => sql.includes('read_use'))).toHaveLength(1);
  expect(statements.slice(before).filter((sql) => sql.includes('count_use'))).toHaveLength(0);
});

test('a lost database ends a cycle at the first project, and nothing is lost', async () => {
  const { meter, store, state, statements, countWrites } = await openMeter();
  const projects = Array.from({ length: 3 }, () => ({ projectId: newId(), keyId: newId() }));
  for (const { projectId, keyId } of projects) await store(projectId, keyId, 100);
  state.isDown = true;
  statements.length = 0;
  for (let cycle = 1; cycle <= 3; cycle += 1) {
    await meter.runCycle();
    expect(countWrites()).toBe(cycle);
  }
  state.isDown = false;
  await meter.runCycle();
  expect(countWrites()).toBe(6);
  for (const { projectId } of projects)
    expect(await countedOf(database, projectId)).toMatchObject({ bytes: 100 });
});

test('a stop waits for a cycle that hangs no longer than CLOSE_WITHIN_MS, also with more to write', async () => {
  const { meter, store } = await openMeter();
  const [projectId, keyId] = [newId(), newId()];
  const unlock = await lockCounters(projectId, keyId);
  await store(projectId, keyId, 100);
  const hanging = meter.runCycle();
  await untilWaiting(database);
  for (let at = 0; at < 5; at += 1) await store(newId(), newId(), 1);
  const startedAt = performance.now();
  await meter.close();
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeGreaterThan(CLOSE_WITHIN_MS - 50);
  expect(tookMs).toBeLessThan(CLOSE_WITHIN_MS + 3_000);
  await unlock();
  await hanging;
});

test('a stop writes what is left at once where nothing hangs', async () => {
  const { meter, store } = await openMeter();
  const [projectId, keyId] = [newId(), newId()];
  await store(projectId, keyId, 100);
  const startedAt = performance.now();
  await meter.close();
  expect(performance.now() - startedAt).toBeLessThan(CLOSE_WITHIN_MS);
  expect(await countedOf(database, projectId)).toMatchObject({ bytes: 100 });
});
