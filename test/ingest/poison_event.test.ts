// An event that processing cannot take waits alone: nothing beside it is lost, late, or done twice.
import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { openLog } from '../../src/base/log.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { POSTPONE_MAX_SECONDS } from '../../src/ingest/flush_queries.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { definition } from '../automations/journeys.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';
import { workOn } from '../support/work_on.ts';

const database = testDatabase();

/** Long enough for any number of halvings, short enough to end. */
const RUNS_MAX = 200;

let logged: Record<string, unknown>[] = [];
const log = openLog('warn', { write: (line: string) => void logged.push(JSON.parse(line)) });

const run = (projectId: string): Promise<void> => workOn(database, projectId, { log });
const select = async (columns: string, table: string, projectId: string) =>
  (await database.owner.query(`select ${columns} from ${table} where project_id = $1`, [projectId]))
    .rows;
const count = async (table: string, projectId: string): Promise<number> =>
  (await select('count(*)::integer as count', table, projectId))[0].count;
const waiting = (projectId: string) =>
  select(
    'event_ids, failure_count, retry_at, extract(epoch from retry_at - now())::float8 as seconds',
    'ingest.pending',
    projectId,
  );
const isDue = async (projectId: string): Promise<boolean> =>
  (await waiting(projectId)).some(({ retry_at }) => retry_at === null);
const drain = async (projectId: string, workers = 1): Promise<void> => {
  for (let runs = 0; runs < RUNS_MAX && (await isDue(projectId)); runs += 1)
    await Promise.all(Array.from({ length: workers }, () => run(projectId)));
};
const makeDue = (projectId: string) =>
  database.owner.query(
    `update ingest.pending set retry_at = now() where project_id = $1 and retry_at is not null`,
    [projectId],
  );

const jobsOf = async (projectId: string): Promise<string[]> =>
  (
    await database.owner.query(
      `select identifier from graphile_worker._private_jobs as job
      join graphile_worker._private_tasks as task on task.id = job.task_id
      where payload ->> 'project_id' = $1`,
      [projectId],
    )
  ).rows.map(({ identifier }) => identifier);

const signUp = (person: string): EventRow =>
  newEvent({ external_id: person, properties: JSON.stringify({ email: `${person}@example.com` }) });
const flush = (projectId: string, events: EventRow[]) =>
  acceptEvents(database.deps.db, projectId, newId(), events);
const peopleOf = async (projectId: string): Promise<string[]> => {
  const rows: { value: string }[] = await select('value', 'identity.identities', projectId);
  return rows.map(({ value }) => value).toSorted();
};

/** A project with an automation, where people whose id starts with "poison" cannot be stored. */
const poisoned = async (): Promise<string> => {
  const projectId = newId();
  logged = [];
  await inProject(database.deps, projectId, (scope) =>
    automations.createActive(scope, 'welcome', definition()),
  );
  await database.owner.query(
    `alter table identity.identities add constraint no_${projectId.replaceAll('-', '')}
      check (project_id <> '${projectId}' or value not like 'poison%')`,
  );
  return projectId;
};
const cure = (projectId: string) =>
  database.owner.query(
    `alter table identity.identities drop constraint no_${projectId.replaceAll('-', '')}`,
  );
const names = (of: string, size: number) => Array.from({ length: size }, (_, at) => `${of}-${at}`);

/** Each of them known, once, with one run and one mail. */
const expectDone = async (projectId: string, people: string[]): Promise<void> => {
  expect(await peopleOf(projectId)).toEqual(people.toSorted());
  for (const table of ['profiles.profiles', 'automations.runs', 'delivery.sends'])
    expect([table, await count(table, projectId)]).toEqual([table, people.length]);
};

test('what came with it, in its flush and in others, is processed; it alone stays', async () => {
  const projectId = await poisoned();
  const poison = signUp('poison');
  const [before, beside, after] = [names('before', 5), names('beside', 30), names('after', 5)];
  await flush(projectId, before.map(signUp));
  await flush(projectId, [
    ...beside.slice(0, 11).map(signUp),
    poison,
    ...beside.slice(11).map(signUp),
  ]);
  await flush(projectId, after.map(signUp));
  await drain(projectId);
  await expectDone(projectId, [...before, ...beside, ...after]);
  expect(await waiting(projectId)).toMatchObject([
    { event_ids: [poison.event_id], retry_at: expect.any(Date) },
  ]);
});

test('while it waits nothing tries it; when its time has come it is tried, and waits longer', async () => {
  const projectId = await poisoned();
  await flush(projectId, [signUp('poison')]);
  await run(projectId);
  await database.owner.query(
    `update ingest.pending set retry_at = now() + interval '1 hour' where project_id = $1`,
    [projectId],
  );
  await run(projectId);
  expect(await waiting(projectId)).toMatchObject([{ failure_count: 1 }]);
  const waits: number[] = [];
  for (let failures = 2; failures <= 6; failures += 1) {
    await makeDue(projectId);
    await run(projectId);
    const [postponed] = await waiting(projectId);
    expect(postponed.failure_count).toBe(failures);
    waits.push(postponed.seconds);
  }
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits.at(-1)).toBeGreaterThan(25);
});

test('it waits an hour at most, and is never given up', async () => {
  const projectId = await poisoned();
  await flush(projectId, [signUp('poison')]);
  await run(projectId);
  for (const failures of [11, 12, 100_000]) {
    await database.owner.query(
      'update ingest.pending set failure_count = $2 where project_id = $1',
      [projectId, failures],
    );
    await makeDue(projectId);
    await run(projectId);
    const [postponed] = await waiting(projectId);
    expect(postponed.failure_count).toBe(failures + 1);
    // Times are kept to the millisecond.
    expect(Math.floor(postponed.seconds)).toBeLessThanOrEqual(POSTPONE_MAX_SECONDS);
    expect(postponed.seconds).toBeGreaterThan(POSTPONE_MAX_SECONDS / 2);
  }
});

test('once its cause is gone it is processed, beside what came meanwhile', async () => {
  const projectId = await poisoned();
  await flush(projectId, [signUp('poison'), signUp('ann')]);
  await drain(projectId);
  await cure(projectId);
  await flush(projectId, [signUp('bob')]);
  await makeDue(projectId);
  await run(projectId);
  expect(await count('ingest.pending', projectId)).toBe(0);
  await expectDone(projectId, ['ann', 'bob', 'poison']);
});

test('workers at once: everybody once, each run and mail once, and only the poison stays', async () => {
  const projectId = await poisoned();
  const people = names('person', 24);
  const poison = names('poison', 3);
  for (let round = 0; round < 12; round += 1) {
    const events = (round % 2 === 0 ? people : people.toReversed()).map(signUp);
    await flush(projectId, round % 4 === 0 ? [...events, signUp(poison[round / 4] ?? '')] : events);
  }
  await drain(projectId, 4);
  await expectDone(projectId, people);
  const stays = await waiting(projectId);
  expect(stays.map(({ event_ids }) => event_ids.length)).toEqual([1, 1, 1]);

  await cure(projectId);
  await makeDue(projectId);
  await Promise.all(Array.from({ length: 4 }, () => run(projectId)));
  expect(await count('ingest.pending', projectId)).toBe(0);
  await expectDone(projectId, [...people, ...poison]);
});

test('halves are hinted at, so that they wait for no sweep', async () => {
  const projectId = await poisoned();
  await flush(projectId, [signUp('poison'), signUp('ann')]);
  expect(await jobsOf(projectId)).toEqual([]);
  await run(projectId);
  expect(await jobsOf(projectId)).toEqual(['ingest/process_events']);
});

test('it is told once as an error, then as warnings: by its id, and nothing of the person', async () => {
  const projectId = await poisoned();
  const poison = signUp('poison');
  await flush(projectId, [poison]);
  await run(projectId);
  await makeDue(projectId);
  await run(projectId);
  const ERROR = 50;
  const WARNING = 40;
  const told = { project_id: projectId, event_id: poison.event_id, err: { code: '23514' } };
  expect(logged).toMatchObject([
    { level: ERROR, failure_count: 1, ...told },
    { level: WARNING, failure_count: 2, ...told },
  ]);
  expect(JSON.stringify(logged)).not.toMatch(/poison@|"poison/);
});

test('a run that cannot be advanced does not hold up the events that started others', async () => {
  const projectId = newId();
  for (const name of ['broken', 'good'])
    await inProject(database.deps, projectId, (scope) =>
      automations.createActive(scope, name, {
        ...definition(),
        trigger: { kind: 'event', event: name, where: [] },
      }),
    );
  await flush(projectId, [newEvent({ name: 'broken' })]);
  await run(projectId);
  await database.owner.query(
    `update automations.runs
    set status = 'active', step_id = 'address', wake_at = now() - interval '1 ms', ended_at = null
    where project_id = $1`,
    [projectId],
  );
  await database.owner.query(
    `with broken as (
      insert into automations.versions (project_id, automation_id, version, definition, created_at)
      select project_id, automation_id, 2, '{}', now() from automations.automations
      where project_id = $1 and name = 'broken'
      returning automation_id
    )
    update automations.runs as run set version = 2 from broken where run.automation_id = broken.automation_id`,
    [projectId],
  );
  await flush(projectId, [newEvent({ name: 'good' })]);
  await run(projectId);
  const { rows: waiting } = await database.owner.query(
    `select event.name from ingest.pending cross join unnest(event_ids) as waiting (event_id)
    join ingest.events as event using (project_id, event_id) where pending.project_id = $1 and event.name = 'good'`,
    [projectId],
  );
  expect(waiting).toEqual([]);
  const runs = async () =>
    (
      await database.owner.query(
        `select automation.name, run.status, run.failure_count from automations.runs as run
        join automations.automations as automation using (project_id, automation_id)
        where project_id = $1 order by automation.name`,
        [projectId],
      )
    ).rows;
  const good = { name: 'good', status: 'ended', failure_count: 0 };
  // The flush leaves it to the job that advances the runs.
  expect(await runs()).toEqual([{ name: 'broken', status: 'active', failure_count: 0 }, good]);
  await inProject(database.deps, projectId, automations.advance);
  expect(await runs()).toEqual([{ name: 'broken', status: 'active', failure_count: 1 }, good]);
});
