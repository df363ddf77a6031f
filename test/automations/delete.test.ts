// Deletion of automations with more rows than one piece deletes.
import { expect, test } from 'vitest';
import { advance } from '../../src/automations/advance.ts';
import { startRuns } from '../../src/automations/automations.ts';
import { PIECE_ROWS_MAX } from '../../src/automations/commands/commands.ts';
import {
  activate,
  addVersion,
  archive,
  deleteAutomation,
  moveInside,
  pause,
  resume,
} from '../../src/automations/life.ts';
import { findAutomation } from '../../src/automations/queries.ts';
import { Definition } from '../../src/automations/schema.ts';
import { listWork } from '../../src/worker/work.ts';
import continueCommands from '../../tasks/automations/continue_commands.ts';
import { connectAs, connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { asWorker } from '../support/work_on.ts';
import { activation, doors } from './doors.ts';
import { waiting, withPeople as openPeople } from './with_people.ts';
import { note } from './with_segments.ts';

const database = testDatabase();
const sink = httpsSink({ usually: () => ({ status: 204 }) });
const MORE_THAN_A_PIECE = PIECE_ROWS_MAX + 1;
const withPeople = async (people: number) => {
  const world = await openPeople(database, sink, people);
  const { id, projectId, within, proceed } = world;
  const rowsOf = async (table: string): Promise<number> => {
    const { rowCount } = await database.owner.query(
      `select from automations.${table} where project_id = $1`,
      [projectId],
    );
    return rowCount ?? 0;
  };
  const remove = () => within((scope) => deleteAutomation(scope, id));
  /** Continues until nothing is left; returns how many pieces that took. */
  const finish = async (): Promise<number> => {
    let pieces = 1;
    while ((await proceed('delete')).isMore) pieces += 1;
    return pieces;
  };
  return { ...world, rowsOf, remove, finish };
};
type World = Awaited<ReturnType<typeof withPeople>>;

const TABLES = [
  'automations',
  'versions',
  'triggers',
  'segment_triggers',
  'segment_starts',
  'refusals',
  'runs',
  'run_log',
  'waits',
  'calls',
  'commands',
  'schedules',
];
const listLeft = async ({ rowsOf }: World): Promise<string[]> => {
  const left: string[] = [];
  for (const table of TABLES) if ((await rowsOf(table)) > 0) left.push(table);
  return left;
};

/** Gives each run two entries of its log, a wait and a call, and the automation a refusal of each run and a start. */
const fillTables = async ({ id, projectId }: World): Promise<void> => {
  const ask = (text: string) => database.owner.query(text, [projectId, id]);
  const runs = 'from automations.runs where project_id = $1 and automation_id = $2';
  await ask(`insert into automations.run_log (project_id, run_id, entry, step_id, decision, decided_at)
    select project_id, run_id, entry + 10, 'at', 'noted', now()
    from (select * ${runs}) as run cross join generate_series(1, 2) as entry`);
  await ask(`insert into automations.waits (project_id, run_id, for_what, event_name, identity_id)
    select project_id, run_id, 'goal', 'order_placed', identity_id ${runs}`);
  await ask(`insert into automations.calls (project_id, call_id, run_id, step_id, endpoint_id, status, queued_at,
    expires_at) select project_id, gen_random_uuid(), run_id, 'at', run_id, 'delivered', now(), now() ${runs}`);
  await ask(`insert into automations.refusals (project_id, automation_id, identity_id, reason, event_id, event_at,
    refused_at) select project_id, automation_id, gen_random_uuid(), 'late', run_id, now(), now() ${runs}`);
  await ask(`insert into automations.segment_starts (project_id, start_id, automation_id, segment_id, status, walked_to,
    requested_at) values ($1, gen_random_uuid(), $2, gen_random_uuid(), 'running', gen_random_uuid(), now())`);
  await ask(`insert into automations.schedules (project_id, automation_id, version, status, occurrence, next_at)
    values ($1, $2, 1, 'active', '2040-01-10T09:00', now() + interval '1 day')`);
};

test('a delete takes effect at once, and jobs delete each kind of row in pieces', async () => {
  const world = await withPeople(MORE_THAN_A_PIECE);
  const { id, within, rowsOf, remove, commands, proceed } = world;
  await fillTables(world);
  await remove();
  expect(await within((scope) => findAutomation(scope, id))).toBeNull();
  expect(await rowsOf('segment_starts')).toBe(1);
  expect(await rowsOf('schedules')).toBe(0);
  await proceed('delete');
  expect(await commands()).toMatchObject([{ kind: 'delete', changed: 1 }]);
  const left = { segment_starts: 0, refusals: MORE_THAN_A_PIECE, runs: MORE_THAN_A_PIECE };
  const read = async () => ({
    segment_starts: await rowsOf('segment_starts'),
    refusals: await rowsOf('refusals'),
    runs: await rowsOf('runs'),
  });
  expect(await read()).toEqual(left);
  await proceed('delete');
  expect(await read()).toEqual({ ...left, refusals: 1 });
  await proceed('delete');
  const logged = await rowsOf('run_log');
  await proceed('delete');
  expect(await rowsOf('run_log')).toBe(logged - PIECE_ROWS_MAX);
  expect(await read()).toMatchObject({ refusals: 0, runs: expect.any(Number) });
  expect(await rowsOf('runs')).toBeGreaterThanOrEqual(PIECE_ROWS_MAX / 2);
  for (let isMore = true; isMore;) ({ isMore } = await proceed('delete'));
  expect(await listLeft(world)).toEqual([]);
  expect(await proceed('delete')).toEqual({ isMore: false });
});

test('what is kept of runs that retention removed goes in pieces, too', async () => {
  const { id, projectId, rowsOf, remove, finish } = await withPeople(MORE_THAN_A_PIECE);
  const ask = (text: string) => database.owner.query(text, [projectId, id]);
  const runs = 'from automations.runs where project_id = $1 and automation_id = $2';
  await ask(`insert into automations.enrollments
    select project_id, automation_id, identity_id, run_id::text, run_id, started_at, run_id,
      started_at ${runs}`);
  await ask(`insert into automations.arms
    select project_id, automation_id, identity_id, run_id::text, null, run_id, started_at ${runs}`);
  await ask(`insert into automations.run_totals values ($1, $2, 1, 'completed', 7)`);
  await ask(
    `update automations.runs set status = 'ended' where project_id = $1 and automation_id = $2`,
  );
  await remove();
  expect(await finish()).toBeGreaterThan(6);
  for (const table of ['enrollments', 'arms', 'run_totals', 'automations'])
    expect([table, await rowsOf(table)]).toEqual([table, 0]);
});

test('a delete does not wait for a worker that walks a run, and its pieces do', async () => {
  const world = await withPeople(1);
  const { projectId, remove, proceed, finish } = world;
  const walking = await connectTo(database, projectId);
  await walking.query('begin');
  await walking.query('select from automations.runs where project_id = $1 for no key update', [
    projectId,
  ]);
  await remove();
  const piece = proceed('delete');
  await untilWaiting(database);
  expect(await isSettled(piece)).toBe(false);
  await walking.query('commit');
  expect(await piece).toEqual({ isMore: true });
  await finish();
  expect(await listLeft(world)).toEqual([]);
});

test('a delete replaces a resume, a move or an archive that is under way', async () => {
  for (const kind of ['resume', 'move', 'archive'] as const) {
    const world = await withPeople(MORE_THAN_A_PIECE);
    const { id, within, remove, proceed, commands, finish } = world;
    const next = Definition.parse(waiting({ told: note('more'), more: note() }));
    await within((scope) => addVersion(scope, id, { definition: next, after: 1 }, doors));
    await within((scope) => activate(scope, id, 2, activation));
    if (kind === 'resume') {
      await within((scope) => pause(scope, id));
      await database.owner.query(
        "update automations.runs set status = 'paused' where automation_id = $1",
        [id],
      );
      await within((scope) => resume(scope, id, activation));
    }
    if (kind === 'move') await within((scope) => moveInside(scope, id));
    if (kind === 'archive') await within((scope) => archive(scope, id));
    expect(await commands()).toMatchObject([{ kind }]);
    await remove();
    expect(await commands()).toMatchObject([{ kind: 'delete' }]);
    expect(await proceed(kind)).toEqual({ isMore: false });
    await finish();
    expect(await listLeft(world)).toEqual([]);
  }
});

test('no run of a deleted automation goes on, and nothing starts one', async () => {
  const world = await withPeople(2 * PIECE_ROWS_MAX);
  const { rowsOf, remove, pass, within, happen, finish, flushOf } = world;
  await remove();
  const before = await rowsOf('runs');
  expect(before).toBeGreaterThan(0);
  await pass('1 day');
  for (let isMore = true; isMore;) ({ isMore } = await within(advance));
  await happen('trial_started');
  const { rows } = await database.owner.query(
    'select distinct status, outcome from automations.runs where project_id = $1',
    [world.projectId],
  );
  expect(rows).toEqual([{ status: 'ended', outcome: 'archived' }]);
  expect(await rowsOf('runs')).toBe(before);
  const logged = await database.owner.query(
    "select from automations.run_log where project_id = $1 and step_id = 'told'",
    [world.projectId],
  );
  expect(logged.rowCount).toBe(0);
  await finish();
  const flushId = await flushOf('trial_started');
  expect(await within((scope) => startRuns(scope, [flushId]))).toMatchObject({ started: [] });
  expect(await listLeft(world)).toEqual([]);
});

test('a run that starts in a transaction from before the delete goes with it', async () => {
  const world = await withPeople(1);
  const { id, projectId, remove, rowsOf, finish, proceed } = world;
  const starting = await connectTo(database, projectId);
  await starting.query('begin');
  await starting.query(
    `select from automations.automations where project_id = $1 and automation_id = $2 for key share`,
    [projectId, id],
  );
  await starting.query(
    `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status, step_id,
      wake_at, started_at)
    values ($1, gen_random_uuid(), $2, 1, gen_random_uuid(), 'in flight', 'active', 'at', now(), now())`,
    [projectId, id],
  );
  await remove();
  expect(await proceed('delete')).toEqual({ isMore: true });
  const last = proceed('delete');
  await untilWaiting(database);
  expect(await isSettled(last)).toBe(false);
  await starting.query('commit');
  expect(await last).toMatchObject({ isMore: true });
  expect([await rowsOf('automations'), await rowsOf('runs')]).toEqual([1, 1]);
  await finish();
  expect(await listLeft(world)).toEqual([]);
});

test('what a transaction from before the delete starts after the last piece is left out', async () => {
  const world = await withPeople(1);
  const { projectId, within, remove, finish, flushOf } = world;
  // It reads the trigger, and writes its runs after the automation is gone.
  const held = await connectTo(database, projectId);
  await held.query('begin');
  await held.query('select from identity.identities where project_id = $1 for update', [projectId]);
  const flushId = await flushOf('trial_started');
  const starting = within((scope) => startRuns(scope, [flushId]));
  await untilWaiting(database);
  await remove();
  await finish();
  await held.query('commit');
  expect(await starting).toMatchObject({ started: [] });
  expect(await listLeft(world)).toEqual([]);
});

test('a job continues a delete, and the sweeper finds one whose job was lost', async () => {
  const world = await withPeople(MORE_THAN_A_PIECE);
  const { id, projectId, remove } = world;
  await remove();
  await database.owner.query(
    "update automations.commands set requested_at = now() - interval '1 minute' where automation_id = $1",
    [id],
  );
  const client = await connectAs(database, 'trunkline_queue');
  const found = async () =>
    (await listWork(client, 2)).commands.filter(({ automation_id }) => automation_id === id);
  expect(await found()).toEqual([{ project_id: projectId, automation_id: id }]);
  const payload = { project_id: projectId, automation_id: id };
  for (let pieces = 0; (await found()).length > 0 && pieces < 10; pieces += 1)
    await continueCommands(asWorker(database))(payload, undefined as never);
  expect(await listLeft(world)).toEqual([]);
  await continueCommands(asWorker(database))(payload, undefined as never);
});
