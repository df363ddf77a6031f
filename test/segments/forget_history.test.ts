// The history of segments goes with the months of the timeline, but for what somebody still needs of it.
import { beforeEach, expect, test } from 'vitest';
import forgetHistory from '../../tasks/segments/forget_history.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { FORGET_ENTRIES_MAX } from '../../src/segments/forget.ts';
import { testDatabase } from '../support/database.ts';
import { DEFAULTS } from '../support/defaults.ts';
import { asWorker } from '../support/work_on.ts';

const database = testDatabase();
let projectId = '';
let segmentId = '';
let profileId = '';

const now = new Date();
const monthStart = (monthsAgo: number) =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1));
const BOUND = monthStart(DEFAULTS.retentionMonths);
const before = (ms: number): Date => new Date(BOUND.getTime() - ms);
const ask = (text: string, values: unknown[]) => database.owner.query(text, values);

beforeEach(async () => {
  projectId = (await createProject(database.deps, 'test')).project_id;
  [segmentId, profileId] = [newId(), newId()];
  await ask("select set_config('trunkline.project_id', $1, false)", [projectId]);
  await ask('insert into segments.projects (project_id, last_entry) values ($1, 100)', [projectId]);
  await ask(
    `insert into segments.segments (project_id, segment_id, name, kind, status, version, created_at, updated_at)
     values ($1, $2, 'a', 'static', 'ready', 1, now(), now())`,
    [projectId, segmentId],
  );
  await ask(
    `insert into profiles.profiles (project_id, profile_id, created_at, updated_at) values ($1, $2, now(), now())`,
    [projectId, profileId],
  );
});

const tell = (entry: number, change: 'entered' | 'left', at: Date) =>
  ask(
    `insert into segments.history (project_id, entry, segment_id, version, profile_id, change, cause, changed_at)
     values ($1, $2, $3, 1, $4, $5, 'change', $6)`,
    [projectId, entry, segmentId, profileId, change, at],
  );
const run = (given = {}) => {
  const config = { ...database.deps.config, ...given };
  return forgetHistory(asWorker(database, { config }))({}, undefined as never);
};
const listEntries = async (): Promise<number[]> => {
  const { rows } = await ask(
    'select entry::integer from segments.history where project_id = $1 order by entry',
    [projectId],
  );
  return rows.map(({ entry }) => entry as number);
};

test('what is of months before the timeline goes, to the millisecond; what is of its first stays', async () => {
  await tell(1, 'entered', before(1));
  await tell(2, 'left', before(1));
  await tell(3, 'entered', before(0));
  await tell(4, 'left', before(-1));
  await tell(5, 'entered', now);
  await run();
  expect(await listEntries()).toEqual([3, 4, 5]);
  await run();
  expect(await listEntries()).toEqual([3, 4, 5]);
});

test('an installation that keeps less forgets more', async () => {
  const start = monthStart(3).getTime();
  await tell(1, 'entered', new Date(start - 1));
  await tell(2, 'entered', new Date(start));
  await tell(3, 'entered', now);
  await run();
  expect(await listEntries()).toEqual([1, 2, 3]);
  await run({ retentionMonths: 3 });
  expect(await listEntries()).toEqual([2, 3]);
});

test('when somebody last came in, and last left, stays for ever: it says who is in, and since when', async () => {
  for (const [at, change] of (['entered', 'left', 'entered', 'left'] as const).entries())
    await tell(at + 1, change, before(1_000 - at));
  await run();
  expect(await listEntries()).toEqual([3, 4]);
});

test('what nobody has read yet stays', async () => {
  await ask('insert into automations.segment_readers (project_id, seen_entry) values ($1, 2)', [
    projectId,
  ]);
  for (let entry = 1; entry <= 4; entry += 1) await tell(entry, 'entered', before(1_000 - entry));
  await run();
  expect(await listEntries()).toEqual([3, 4]);
});

test('what a run that waits for the segment may be asked about stays, however long it is frozen', async () => {
  const [automationId, runId, identityId] = [newId(), newId(), newId()];
  await ask(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
     values ($1, $2, 'external', 'ann', $3, $3)`,
    [projectId, identityId, profileId],
  );
  await ask(
    `insert into automations.automations (project_id, automation_id, name, status, created_at, updated_at)
     values ($1, $2, 'a', 'paused', now(), now())`,
    [projectId, automationId],
  );
  await ask(
    `insert into automations.versions (project_id, automation_id, version, definition, created_at)
     values ($1, $2, 1, '{}', now())`,
    [projectId, automationId],
  );
  await ask(
    `insert into automations.runs (project_id, run_id, automation_id, version, entry_key, identity_id, step_id, status,
       wake_at, started_at)
     values ($1, $2, $3, 1, 'a', $4, 'a', 'paused', now(), $5)`,
    [projectId, runId, automationId, identityId, before(500)],
  );
  await ask(
    `insert into automations.waits (project_id, run_id, for_what, segment_id, identity_id)
     values ($1, $2, 'goal', $3, $4)`,
    [projectId, runId, segmentId, identityId],
  );
  await tell(1, 'entered', before(501));
  await tell(2, 'entered', before(500));
  await tell(3, 'entered', before(499));
  await tell(4, 'entered', now);
  await run();
  expect(await listEntries()).toEqual([2, 3, 4]);
  await ask(
    "update automations.runs set status = 'ended', outcome = 'archived', ended_at = now() where run_id = $1",
    [runId],
  );
  await run();
  expect(await listEntries()).toEqual([4]);
});

test('more than one transaction looks at goes piece by piece, and none of another project', async () => {
  const entries = 2 * FORGET_ENTRIES_MAX + 1;
  await ask(
    `insert into segments.history (project_id, entry, segment_id, version, profile_id, change, cause, changed_at)
     select $1, entry, $2, 1, $3, 'entered', 'change', $4::timestamptz from generate_series(1, $5::integer) as entry`,
    [projectId, segmentId, profileId, before(1), entries],
  );
  await run();
  expect(await listEntries()).toEqual([entries]);
});
