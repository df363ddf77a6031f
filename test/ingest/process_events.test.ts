import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { CLAIM_FLUSHES_MAX } from '../../src/ingest/ingest.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';
import { workOn } from '../support/work_on.ts';

const database = testDatabase();

const run = (projectId: string): Promise<void> => workOn(database, projectId);
const flush = (projectId: string, events: EventRow[]) =>
  acceptEvents(database.deps.db, projectId, newId(), events);
const select = async (columns: string, table: string, projectId: string) =>
  (await database.owner.query(`select ${columns} from ${table} where project_id = $1`, [projectId]))
    .rows;
const count = async (table: string, projectId: string): Promise<number> =>
  (await select('count(*)::integer as count', table, projectId))[0].count;

/** An automation that copies the event's address and sends a mail. */
const withAutomation = async (projectId: string) => {
  const providerId = newId();
  await inProject(database.deps, projectId, (scope) =>
    automations.createActive(scope, 'welcome', {
      trigger: { kind: 'event', event: 'user_signed_up', where: [] },
      settings: { re_entry: 'once' },
      entry: 'address',
      steps: {
        address: { kind: 'update_profile', traits_from_event: { email: 'email' }, next: 'mail' },
        mail: {
          kind: 'send_email',
          provider_id: providerId,
          template_id: newId(),
          template_version: 1,
          next: null,
        },
      },
    }),
  );
  return providerId;
};
const signUp = (person: string): EventRow =>
  newEvent({ external_id: person, properties: JSON.stringify({ email: `${person}@example.com` }) });
const jobsOf = async (projectId: string) =>
  (
    await database.owner.query(
      `select identifier, payload from graphile_worker._private_jobs as job
      join graphile_worker._private_tasks as task on task.id = job.task_id
      where payload ->> 'project_id' = $1`,
      [projectId],
    )
  ).rows;

test('many events of one person make one identity with one profile, and no note is left', async () => {
  const projectId = newId();
  await flush(
    projectId,
    Array.from({ length: 50 }, () => newEvent({ external_id: 'ann' })),
  );
  await flush(
    projectId,
    Array.from({ length: 50 }, () => newEvent({ external_id: 'ann' })),
  );
  await run(projectId);
  const identities = await select('kind, value, profile_id', 'identity.identities', projectId);
  expect(identities).toMatchObject([{ kind: 'external', value: 'ann' }]);
  expect(await select('profile_id', 'profiles.profiles', projectId)).toEqual([
    { profile_id: identities[0].profile_id },
  ]);
  expect(await count('ingest.pending', projectId)).toBe(0);
  expect(await count('ingest.events', projectId)).toBe(100);
});

test('an event with both identifiers links nothing: two identities, each with a profile of its own', async () => {
  const projectId = newId();
  await flush(projectId, [newEvent({ external_id: 'ann', anonymous_id: 'anon' })]);
  await run(projectId);
  const identities = await select('kind, value, profile_id', 'identity.identities', projectId);
  expect(identities.map(({ kind, value }) => `${kind} ${value}`).toSorted()).toEqual([
    'anonymous anon',
    'external ann',
  ]);
  expect(new Set(identities.map(({ profile_id }) => profile_id)).size).toBe(2);
  expect(await count('profiles.profiles', projectId)).toBe(2);
});

test('a matching event starts a run, which is walked in the same transaction and hints at its mail', async () => {
  const projectId = newId();
  const providerId = await withAutomation(projectId);
  await flush(projectId, [signUp('ann'), newEvent({ name: 'something_else', external_id: 'bob' })]);
  await run(projectId);
  expect(await select('status', 'automations.runs', projectId)).toEqual([{ status: 'ended' }]);
  expect(await select('recipient, status', 'delivery.sends', projectId)).toEqual([
    { recipient: 'ann@example.com', status: 'queued' },
  ]);
  expect(await jobsOf(projectId)).toEqual([
    {
      identifier: 'delivery/send_queued',
      payload: { project_id: projectId, provider_id: providerId },
    },
  ]);
});

test('running again finds nothing to do and changes nothing', async () => {
  const projectId = newId();
  await withAutomation(projectId);
  await flush(projectId, [signUp('ann')]);
  await run(projectId);
  const state = async () => [
    await select('*', 'identity.identities', projectId),
    await select('*', 'profiles.profiles', projectId),
    await select('*', 'automations.runs', projectId),
    await select('*', 'automations.run_log', projectId),
    await select('*', 'delivery.sends', projectId),
  ];
  const before = await state();
  await run(projectId);
  expect(await state()).toEqual(before);
});

test('runs at once share the work: everybody is there once, each run and mail too', async () => {
  const projectId = newId();
  await withAutomation(projectId);
  const people = Array.from({ length: 20 }, (_, at) => `person-${at}`);
  for (let round = 0; round < 8; round += 1)
    await flush(projectId, (round % 2 === 0 ? people : people.toReversed()).map(signUp));
  await Promise.all(Array.from({ length: 5 }, () => run(projectId)));
  await run(projectId);
  expect(await count('ingest.pending', projectId)).toBe(0);
  for (const table of [
    'identity.identities',
    'profiles.profiles',
    'automations.runs',
    'delivery.sends',
  ])
    expect([table, await count(table, projectId)]).toEqual([table, 20]);
});

test('no run that an event starts is left for the sweeper to find', async () => {
  const left: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    const projectId = newId();
    await withAutomation(projectId);
    await flush(projectId, [signUp('ann')]);
    await run(projectId);
    left.push(
      (
        await select(
          "count(*) filter (where status = 'active')::integer as left",
          'automations.runs',
          projectId,
        )
      )[0].left,
    );
  }
  expect(left).toEqual(Array(40).fill(0));
});

test('a full claim hints at itself, because more may wait', async () => {
  const projectId = newId();
  for (let made = 0; made <= CLAIM_FLUSHES_MAX; made += 1) await flush(projectId, [newEvent()]);
  await run(projectId);
  expect(await count('ingest.pending', projectId)).toBe(1);
  expect(await jobsOf(projectId)).toEqual([
    { identifier: 'ingest/process_events', payload: { project_id: projectId } },
  ]);
  await run(projectId);
  expect(await count('ingest.pending', projectId)).toBe(0);
});

test('a project without work is no error and hints at nothing', async () => {
  const projectId = newId();
  await run(projectId);
  expect(await jobsOf(projectId)).toEqual([]);
});

test('another project’s events are not touched', async () => {
  const [ours, theirs] = [newId(), newId()];
  await flush(theirs, [newEvent()]);
  await run(ours);
  expect(await count('ingest.pending', theirs)).toBe(1);
  expect(await count('identity.identities', theirs)).toBe(0);
});

test('what fails is left to be done again, with nothing half done', async () => {
  const projectId = newId();
  await withAutomation(projectId);
  await flush(projectId, [signUp('ann')]);
  await database.owner.query(
    'update automations.versions set definition = $1 where project_id = $2',
    [{}, projectId],
  );
  await run(projectId);
  expect(await select('failure_count', 'ingest.pending', projectId)).toEqual([
    { failure_count: 1 },
  ]);
  expect(await count('identity.identities', projectId)).toBe(0);
});
