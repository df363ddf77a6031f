// Starts of segments go after the runs that they began.
import { expect, test } from 'vitest';
import pruneStartsJob from '../../tasks/automations/prune_starts.ts';
import { PRUNED_STARTS_MAX, pruneStarts } from '../../src/automations/prune_starts.ts';
import { FIRST_ID, firstIdAt, newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';
import { asWorker } from '../support/work_on.ts';
import { copy, journeysOf } from './journeys.ts';

const database = testDatabase();
const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
/** An id of so many hours ago. */
const idAt = (hours: number) => `${firstIdAt(at(hours)).slice(0, 14)}${newId().slice(14)}`;

const opened = async () => {
  const { project_id: projectId } = await createProject(database.deps, 'test');
  const journeys = journeysOf(database, projectId);
  const automationId = await journeys.activate({ entry: 'a', steps: { a: copy({ x: 'x' }) } });
  const ask = (text: string, ...values: unknown[]) =>
    database.owner.query(text, [journeys.projectId, ...values]);
  const start = async (status: string, requested: number, ended: number | null) => {
    const startId = idAt(requested);
    await ask(
      `insert into automations.segment_starts (project_id, start_id, automation_id, segment_id, status, walked_to,
        requested_at, ended_at) values ($1, $2, $3, $3, $4, $3, $5, $6)`,
      startId,
      automationId,
      status,
      at(requested),
      ended === null ? null : at(ended),
    );
    return startId;
  };
  const runOf = (startId: string, hours: number) =>
    ask(
      `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
        started_at, ended_at, start_id) values ($1, $2::uuid, $3, 1, $3, $2::uuid::text, 'ended', now(), now(), $4)`,
      idAt(hours),
      automationId,
      startId,
    );
  const listed = async () =>
    (await journeys.select('start_id', 'automations.segment_starts')).map(
      ({ start_id }) => start_id,
    );
  const prune = (before = at(-10), after = FIRST_ID) =>
    journeys.within((scope) => pruneStarts(scope, before, after));
  return { ...journeys, ask, start, runOf, listed, prune };
};

test('starts that ended before a moment go; one that ended since, or goes on, stays', async () => {
  const { start, listed, prune } = await opened();
  await start('done', -30, -11);
  await start('cancelled', -30, -11);
  const kept = [
    await start('done', -30, -9),
    await start('running', -30, null),
    await start('done', -9, -8),
  ];
  expect(await prune()).toEqual({ pruned: 2, after: null });
  expect(new Set(await listed())).toEqual(new Set(kept));
});

test('a start stays while a run is left that it began, whenever that ended', async () => {
  const { start, runOf, ask, listed, prune } = await opened();
  const [first, last, other] = [
    await start('done', -30, -20),
    await start('done', -60, -50),
    await start('done', -90, -80),
  ];
  await runOf(first, -30);
  await runOf(last, -50);
  expect(await prune()).toEqual({ pruned: 1, after: null });
  expect(await listed()).not.toContain(other);
  await ask('delete from automations.runs where project_id = $1');
  expect(await prune()).toEqual({ pruned: 2, after: null });
});

test('the job goes by the months of events', async () => {
  const { start, listed } = await opened();
  const { retentionMonths } = database.deps.config;
  const month = (hours: number) => {
    const now = new Date();
    const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - retentionMonths, 1);
    return (first - now.getTime()) / HOUR_MS + hours;
  };
  await start('done', month(-30), month(-1));
  const kept = await start('done', month(-30), month(1));
  await pruneStartsJob(asWorker(database))({}, undefined as never);
  expect(await listed()).toEqual([kept]);
});

test('one batch takes a bounded number, and goes on behind it; a locked one is left', async () => {
  const { start, ask, listed, prune } = await opened();
  const ids: string[] = [];
  for (let n = 0; n < PRUNED_STARTS_MAX + 1; n += 1) ids.push(await start('done', -30, -20));
  const [held] = ids.toSorted();
  await database.owner.query('begin');
  await ask(
    'select from automations.segment_starts where project_id = $1 and start_id = $2 for update',
    held,
  );
  const first = await prune();
  expect(first.pruned).toBe(PRUNED_STARTS_MAX - 1);
  expect(await prune(at(-10), first.after ?? '')).toEqual({ pruned: 1, after: null });
  await database.owner.query('rollback');
  expect(await listed()).toEqual([held]);
  expect(await prune()).toEqual({ pruned: 1, after: null });
});
