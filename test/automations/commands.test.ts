// Commands on automations with more people inside than one piece changes.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { changeLife } from '../../src/automations/acts.ts';
import { advance } from '../../src/automations/advance.ts';
import { PIECE_ROWS_MAX } from '../../src/automations/commands/commands.ts';
import { insertCommand } from '../../src/automations/commands/queries.ts';
import {
  activate,
  addVersion,
  archive,
  moveInside,
  pause,
  resume,
} from '../../src/automations/life.ts';
import { Definition } from '../../src/automations/schema.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { sql } from '../../src/base/db.ts';
import { listWork } from '../../src/worker/work.ts';
import continueCommands from '../../tasks/automations/continue_commands.ts';
import { connectAs, connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { asWorker } from '../support/work_on.ts';
import { activation, doors } from './doors.ts';
import { waiting, withPeople as openPeople } from './with_people.ts';
import { note } from './with_segments.ts';

const database = testDatabase();
const sink = httpsSink({ usually: () => ({ status: 204 }) });
const MORE_THAN_A_PIECE = PIECE_ROWS_MAX + 1;
const withPeople = (people: number) => openPeople(database, sink, people);
type World = Awaited<ReturnType<typeof withPeople>>;

const freezeAll = (id: string) =>
  database.owner.query(`update automations.runs set status = 'paused' where automation_id = $1`, [
    id,
  ]);

const follow = async ({ id, within }: World, next: NewDefinition): Promise<void> => {
  await within((scope) =>
    addVersion(scope, id, { definition: Definition.parse(next), after: 1 }, doors),
  );
  await within((scope) => activate(scope, id, 2, activation));
};

test('archive ends a piece at once and the rest in the next; repeating it changes nothing', async () => {
  const world = await withPeople(MORE_THAN_A_PIECE);
  const { id, within, count, proceed, commands } = world;
  expect(await within((scope) => archive(scope, id))).toMatchObject({ status: 'archived' });
  expect(await count('status')).toEqual({ active: 1, ended: PIECE_ROWS_MAX });
  expect(await commands()).toMatchObject([{ kind: 'archive', changed: PIECE_ROWS_MAX }]);
  expect(await proceed('archive')).toEqual({ isMore: false });
  expect(await count('status')).toEqual({ ended: MORE_THAN_A_PIECE });
  expect(await commands()).toEqual([]);
  expect(await proceed('archive')).toEqual({ isMore: false });
  await within((scope) => archive(scope, id));
  expect(await count('status')).toEqual({ ended: MORE_THAN_A_PIECE });
});

test('an automation with one piece of people is done at once', async () => {
  const { id, within, count, proceed, commands } = await withPeople(PIECE_ROWS_MAX);
  await within((scope) => archive(scope, id));
  expect(await count('status')).toEqual({ ended: PIECE_ROWS_MAX });
  // A full piece may be the last one: only the next piece shows it.
  expect(await proceed('archive')).toEqual({ isMore: false });
  expect(await commands()).toEqual([]);
});

test('resume makes frozen people active in pieces, and a pause in between ends that', async () => {
  const { id, within, count, proceed, commands } = await withPeople(MORE_THAN_A_PIECE);
  await within((scope) => pause(scope, id));
  await freezeAll(id);
  await within((scope) => resume(scope, id, activation));
  expect(await count('status')).toEqual({ active: PIECE_ROWS_MAX, paused: 1 });
  await within((scope) => pause(scope, id));
  expect(await commands()).toEqual([]);
  expect(await proceed('resume')).toEqual({ isMore: false });
  expect(await count('status')).toEqual({ active: PIECE_ROWS_MAX, paused: 1 });
  await within((scope) => resume(scope, id, activation));
  expect(await count('status')).toEqual({ active: MORE_THAN_A_PIECE });
});

test('archive in the middle of resume and move replaces both', async () => {
  const world = await withPeople(MORE_THAN_A_PIECE);
  const { id, within, proceed, commands, count } = world;
  await follow(world, waiting({ told: note('more'), more: note() }));
  await within((scope) => moveInside(scope, id));
  await within((scope) => archive(scope, id));
  expect(await commands()).toMatchObject([{ kind: 'archive' }]);
  expect(await proceed('move')).toEqual({ isMore: false });
  await proceed('archive');
  expect(await count('status')).toEqual({ ended: MORE_THAN_A_PIECE });
});

test('move counts for everyone at once: a run that is due before its piece follows the new version', async () => {
  const world = await withPeople(MORE_THAN_A_PIECE);
  const { id, within, count, proceed, commands, pass } = world;
  await follow(world, waiting({ told: note('more'), more: note() }));
  const moved = await within((scope) => moveInside(scope, id));
  expect(moved).toEqual({ on_it: PIECE_ROWS_MAX, stayed: 0, left: 1 });
  expect(await commands()).toMatchObject([
    { kind: 'move', to_version: 2, changed: PIECE_ROWS_MAX },
  ]);
  await pass('1 day');
  for (let isMore = true; isMore;) ({ isMore } = await within(advance));
  expect(await count('version')).toEqual({ 2: MORE_THAN_A_PIECE });
  const { rows } = await database.owner.query<{ runs: number }>(
    `select count(*)::integer as runs from automations.run_log join automations.runs using (project_id, run_id)
    where automation_id = $1 and run_log.step_id = 'more'`,
    [id],
  );
  expect(rows).toEqual([{ runs: MORE_THAN_A_PIECE }]);
  expect(await proceed('move')).toEqual({ isMore: false });
  expect(await commands()).toEqual([]);
});

test('who starts on another version while a move is under way is not moved', async () => {
  const world = await withPeople(MORE_THAN_A_PIECE);
  const { id, within, count, proceed, happen } = world;
  await follow(world, waiting({ told: note('more'), more: note() }));
  await within((scope) => moveInside(scope, id));
  await within((scope) => activate(scope, id, 1, activation));
  await happen('trial_started');
  await proceed('move');
  expect(await count('version')).toEqual({ 1: 1, 2: MORE_THAN_A_PIECE });
});

test('a command that is not done is shown and has a job, and the job continues it', async () => {
  const { id, projectId, count, commands } = await withPeople(2 * PIECE_ROWS_MAX + 1);
  const payload = { project_id: projectId, automation_id: id };
  const isQueued = async (): Promise<boolean> => {
    const { rowCount } = await database.owner.query(
      `delete from graphile_worker._private_jobs where payload::jsonb = $1::jsonb`,
      [payload],
    );
    return rowCount === 1;
  };
  const work = () => continueCommands(asWorker(database))(payload, undefined as never);
  const shown = await changeLife({ deps: database.deps, projectId }, (scope) => archive(scope, id));
  expect(shown.commands).toEqual([
    {
      kind: 'archive',
      to_version: null,
      requested_at: expect.any(String),
      changed: PIECE_ROWS_MAX,
    },
  ]);
  expect(await isQueued()).toBe(true);
  await work();
  expect(await commands()).toMatchObject([{ changed: 2 * PIECE_ROWS_MAX }]);
  expect(await isQueued()).toBe(true);
  await work();
  expect(await count('status')).toEqual({ ended: 2 * PIECE_ROWS_MAX + 1 });
  expect(await isQueued()).toBe(false);
  const again = await changeLife({ deps: database.deps, projectId }, (scope) => archive(scope, id));
  expect([again.commands, await isQueued()]).toEqual([[], false]);
});

test('the sweeper finds a command whose job was lost, until it is done', async () => {
  const { id, projectId, within, proceed } = await withPeople(MORE_THAN_A_PIECE);
  await within((scope) => archive(scope, id));
  const client = await connectAs(database, 'trunkline_queue');
  const found = async () =>
    (await listWork(client, 2)).commands.filter(({ automation_id }) => automation_id === id);
  await database.owner.query(
    "update automations.commands set requested_at = now() - interval '1 minute' where automation_id = $1",
    [id],
  );
  expect(await found()).toEqual([{ project_id: projectId, automation_id: id }]);
  await proceed('archive');
  expect(await found()).toEqual([]);
});

test('a command answers while a worker has a run, and its job does the first piece', async () => {
  const { id, within, count, proceed, commands, projectId } = await withPeople(3);
  const walker = await connectTo(database, projectId);
  await walker.query('begin');
  await walker.query(
    `select from automations.runs where project_id = $1 and automation_id = $2
    order by run_id limit 1 for update`,
    [projectId, id],
  );
  await within((scope) => pause(scope, id));
  await within((scope) => resume(scope, id, activation));
  await within((scope) => archive(scope, id));
  expect(await count('status')).toEqual({ active: 3 });
  expect(await commands()).toMatchObject([{ kind: 'archive', changed: 0 }]);
  await walker.query('commit');
  expect(await proceed('archive')).toEqual({ isMore: false });
  expect(await count('status')).toEqual({ ended: 3 });
});

const Compared = z.strictObject({ is_before: z.boolean() });

test('a move concerns everyone who started before it, also in the same millisecond', async () => {
  const { id, within } = await withPeople(1);
  const isBefore = () =>
    within(async (scope) => {
      await scope.tx.query(sql.unsafe`
        update automations.runs set started_at = statement_timestamp()
        where project_id = ${scope.projectId} and automation_id = ${id}
      `);
      await insertCommand(scope, id, { kind: 'move', toVersion: 1 });
      const { is_before } = await scope.tx.one(sql.type(Compared)`
        select run.started_at <= command.requested_at as is_before from automations.runs as run
        join automations.commands as command
          on command.project_id = run.project_id and command.automation_id = run.automation_id
        where run.project_id = ${scope.projectId} and command.project_id = ${scope.projectId}
        and run.automation_id = ${id}
      `);
      return is_before;
    });
  const tries: boolean[] = [];
  while (tries.length < 50) tries.push(await isBefore());
  expect(new Set(tries)).toEqual(new Set([true]));
});
