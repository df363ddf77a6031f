// Runs go with the months of the timeline. Re-entry, links and counts are as if they were there.
import { describe, expect, test } from 'vitest';
import { enrollmentSection } from '../../src/automations/enrollment_export.ts';
import { pruneRunLogs } from '../../src/automations/prune.ts';
import { PRUNED_RUNS_MAX, pruneRuns } from '../../src/automations/prune_runs.ts';
import { toCounted } from '../../src/automations/overview.ts';
import { listKept } from '../../src/automations/queries.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { FIRST_ID, newId } from '../../src/base/ids.ts';
import { changeRetention } from '../../src/delivery/delivery.ts';
import { deleteSends } from '../../src/delivery/retention_queries.ts';
import { createProject } from '../../src/projects/projects.ts';
import pruneRunsJob from '../../tasks/automations/prune_runs.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { asWorker } from '../support/work_on.ts';
import { copy, journeysOf } from './journeys.ts';
import { SERIES, withMerges } from './with_merges.ts';

const database = testDatabase();
const DAY_MS = 86_400_000;
/** As if everything had been long ago. */
const later = () => new Date(Date.now() + DAY_MS);

const ordered = (id: string, given: object = {}) =>
  newEvent({ properties: JSON.stringify({ order_id: id }), ...given });

const opened = async (
  settings: NewDefinition['settings'] = {},
  given: Partial<NewDefinition> = {},
) => {
  const world = withMerges(database);
  const automationId = await world.activate({
    settings,
    entry: 'a',
    steps: { a: copy({ x: 'x' }) },
    ...given,
  });
  const { within, select } = world;
  const pruneLogs = () => within((scope) => pruneRunLogs(scope, later(), FIRST_ID));
  const pruneAlone = async (before = later()) =>
    (await within((scope) => pruneRuns(scope, before, FIRST_ID))).pruned;
  const prune = async (): Promise<number> => {
    await pruneLogs();
    return pruneAlone();
  };
  const count = async (table: string) => (await select('1', table)).length;
  const runs = () => count('automations.runs');
  const reasons = async () =>
    (await select('reason', 'automations.refusals')).map(({ reason }) => reason);
  return { ...world, automationId, pruneLogs, pruneAlone, prune, count, runs, reasons };
};

describe('after their run has gone', () => {
  test('a person enrolls once and never again', async () => {
    const { tell, prune, runs, reasons } = await opened({ re_entry: 'once' });
    expect(await tell(ordered('a'))).toBe(1);
    expect([await prune(), await runs()]).toEqual([1, 0]);
    expect(await tell(ordered('b'), ordered('c', { external_id: 'bob' }))).toBe(1);
    expect(await reasons()).toEqual(['re_entry']);
  });

  test('a person enrolls again as long after it as once per duration says', async () => {
    const { tell, prune, projectId } = await opened({ re_entry: { once_per: 'P30D' } });
    await tell(ordered('a'));
    await prune();
    expect(await tell(ordered('b'))).toBe(0);
    await database.owner.query(
      `update automations.enrollments set started_at = started_at - interval '31 days' where project_id = $1`,
      [projectId],
    );
    expect(await tell(ordered('c'))).toBe(1);
    expect(await tell(ordered('d'))).toBe(0);
  });

  test('the same value of a property enrolls no person again, another one does', async () => {
    const { tell, prune, runs } = await opened({ re_entry: { by_property: 'order_id' } });
    expect(await tell(ordered('7'), ordered('8'))).toBe(2);
    expect([await prune(), await runs()]).toEqual([2, 0]);
    expect(await tell(ordered('7'), ordered('8'), ordered('9'))).toBe(1);
    expect(await tell(ordered('7', { external_id: 'bob' }))).toBe(1);
  });

  test('every event lets a person in, where the settings say so', async () => {
    const { tell, prune } = await opened({ re_entry: 'every_time' });
    await tell(ordered('a'));
    await prune();
    expect(await tell(ordered('b'))).toBe(1);
  });

  test('a person is kept out under another identifier, too', async () => {
    for (const re_entry of ['once', { by_property: 'order_id' }] as const) {
      const { tell, link, prune, reasons } = await opened({ re_entry });
      expect(await tell(ordered('7', { external_id: null, anonymous_id: 'device' }))).toBe(1);
      await prune();
      await tell(newEvent({ name: 'seen' }));
      await link('device', newEvent().external_id ?? '');
      expect(await tell(ordered('7'))).toBe(0);
      expect(await reasons()).toEqual(['re_entry']);
    }
  });

  test('a link of its identity ends the younger run of the person as merged', async () => {
    const world = await opened({}, SERIES);
    await world.know('Phone', 'ann@example.com');
    await world.enroll('Phone');
    await database.owner.query(
      `update automations.runs set status = 'ended', outcome = 'completed', ended_at = now(), step_id = null,
        wake_at = null, waits_until = null where project_id = $1`,
      [world.projectId],
    );
    expect(await world.prune()).toBe(1);
    await world.know('ann');
    await world.enroll('ann');
    expect(await world.stands()).toEqual(['ann active at wait']);
    await world.link('Phone');
    await world.settle();
    expect(await world.stands()).toEqual(['ann merged']);
    await world.undo('Phone');
    await world.settle();
    expect(await world.stands()).toEqual(['ann active at wait']);
  });
});

/** What the Console shows of the automation. */
const readCounts = (within: ReturnType<typeof withMerges>['within']) =>
  within(async (scope) => {
    const kept = await listKept(scope, { limit: 10, beforeId: null });
    return (await toCounted(scope, kept))[0]?.counts;
  });

test('the counts of an automation stay', async () => {
  const { tell, within, prune, runs, projectId } = await opened({ re_entry: 'every_time' });
  await tell(ordered('a'), ordered('b'), ordered('c', { external_id: 'bob' }));
  await database.owner.query(
    `update automations.runs set outcome = 'converted' where project_id = $1 and run_id = (
      select min(run_id::text)::uuid from automations.runs where project_id = $1)`,
    [projectId],
  );
  const counts = () => readCounts(within);
  const before = await counts();
  expect(before).toMatchObject({ runs: 3, converted: 1, inside: 0, is_capped: false });
  expect([await prune(), await runs()]).toEqual([3, 0]);
  expect(await counts()).toEqual(before);
  await tell(ordered('d'));
  await prune();
  expect(await counts()).toEqual({ ...before, runs: 4 });
});

test('the emails of an automation are counted after they have gone, and their runs as well', async () => {
  const { know, enroll, nextDay, within, select, prune } = await opened({}, SERIES);
  await know('ann');
  await enroll('ann');
  for (const _ of [1, 2]) await nextDay();
  await database.owner.query(
    `update delivery.sends set accepted_at = handed_off_at where status = 'accepted'`,
  );
  const before = await readCounts(within);
  expect(before).toMatchObject({ runs: 1, inside: 0, sent: 2, is_capped: false });
  const sends = await select('send_id', 'delivery.sends');
  const ids = sends.map(({ send_id }) => send_id as string);
  const remove = () => within((scope) => deleteSends(scope, ids, later()));
  expect([await remove(), await remove()]).toEqual([2, 0]);
  expect(await readCounts(within)).toEqual(before);
  expect(await prune()).toBe(1);
  expect(await readCounts(within)).toEqual(before);
});

test('the export of a person tells of their enrollments, page by page', async () => {
  const { tell, prune, within, select } = await opened({ re_entry: { by_property: 'order_id' } });
  await tell(ordered('7'), ordered('8'));
  await prune();
  const [{ identity_id }] = await select('identity_id', 'identity.identities');
  const identities = [{ identity_id, kind: 'external', value: 'ann' } as const];
  const person = { identities, profileIds: [], addressKeys: [] };
  const said: unknown[] = [];
  for await (const page of enrollmentSection.pages(person, within)) said.push(...page);
  const shown = { automation_id: expect.any(String), started_at: expect.any(String) };
  expect(said).toMatchObject([
    { ...shown, digest: '' },
    { ...shown, digest: expect.stringMatching(/^[\w-]{43}$/) },
    { ...shown, digest: expect.stringMatching(/^[\w-]{43}$/) },
  ]);
  expect(said.every((row) => enrollmentSection.item.safeParse(row).success)).toBe(true);
});

describe('a run stays', () => {
  test.each(['active', 'paused', 'failed'])('that is %s', async (status) => {
    const { tell, prune, runs, projectId } = await opened();
    await tell(ordered('a'));
    await database.owner.query('update automations.runs set status = $2 where project_id = $1', [
      projectId,
      status,
    ]);
    expect([await prune(), await runs()]).toEqual([0, 1]);
  });

  test('that ended since, though it started before', async () => {
    const { tell, pruneLogs, pruneAlone, projectId } = await opened();
    await tell(ordered('a'));
    await pruneLogs();
    await database.owner.query(
      `update automations.runs set ended_at = now() + interval '2 days' where project_id = $1`,
      [projectId],
    );
    expect(await pruneAlone()).toBe(0);
  });

  test('until its log has gone', async () => {
    const { tell, pruneLogs, pruneAlone } = await opened();
    await tell(ordered('a'));
    expect(await pruneAlone()).toBe(0);
    await pruneLogs();
    expect(await pruneAlone()).toBe(1);
  });

  test('until its emails have gone', async () => {
    const { know, enroll, prune, nextDay, projectId } = await opened({}, SERIES);
    await know('ann');
    await enroll('ann');
    for (const _ of [1, 2]) await nextDay();
    expect(await prune()).toBe(0);
    await database.owner.query('delete from delivery.sends where project_id = $1', [projectId]);
    expect(await prune()).toBe(1);
  });

  test('that ended as merged, as long as an undo of the link may restore it', async () => {
    const { know, enroll, link, settle, prune, undo, stands, count } = await opened({}, SERIES);
    await know('ann');
    await know('Phone', 'ann@example.com');
    await enroll('Phone');
    await enroll('ann');
    await link('Phone');
    await settle();
    const logged = await count('automations.run_log');
    expect([await prune(), await count('automations.run_log')]).toEqual([0, logged]);
    await undo('Phone');
    await settle();
    expect(await stands()).toEqual(['Phone active at wait', 'ann active at wait']);
  });

  test('as long as the start of its segment goes on', async () => {
    const { tell, prune, automationId, projectId } = await opened();
    await tell(ordered('a'));
    const startId = newId();
    const ask = (text: string, ...values: string[]) =>
      database.owner.query(text, [projectId, startId, ...values]);
    await ask(
      `insert into automations.segment_starts (project_id, start_id, automation_id, segment_id, status, walked_to,
        requested_at) values ($1, $2, $3, $3, 'running', $3, now())`,
      automationId,
    );
    await ask('update automations.runs set start_id = $2 where project_id = $1');
    expect(await prune()).toBe(0);
    await ask(
      `update automations.segment_starts set status = 'done' where project_id = $1 and start_id = $2`,
    );
    expect(await prune()).toBe(1);
  });

  test('of an automation that is deleted: that is the work of its deletion', async () => {
    const { tell, prune, projectId } = await opened();
    await tell(ordered('a'));
    await database.owner.query(
      `update automations.automations set status = 'deleting' where project_id = $1`,
      [projectId],
    );
    expect(await prune()).toBe(0);
  });

  test('that another transaction has locked, until the next time', async () => {
    const { tell, pruneLogs, pruneAlone, projectId } = await opened();
    await tell(ordered('a'));
    await pruneLogs();
    await database.owner.query('begin');
    await database.owner.query('select from automations.runs where project_id = $1 for update', [
      projectId,
    ]);
    expect(await pruneAlone()).toBe(0);
    await database.owner.query('rollback');
    expect(await pruneAlone()).toBe(1);
  });
});

test('a test run leaves nothing', async () => {
  const { tell, prune, count, projectId } = await opened();
  await tell(ordered('a'));
  await database.owner.query('update automations.runs set is_test = true where project_id = $1', [
    projectId,
  ]);
  expect(await prune()).toBe(1);
  expect([await count('automations.enrollments'), await count('automations.run_totals')]).toEqual([
    0, 0,
  ]);
});

test('a run whose person is erased is counted, and nothing else is kept', async () => {
  const { tell, prune, count, projectId } = await opened();
  await tell(ordered('a'));
  await database.owner.query(
    'update automations.runs set identity_id = gen_random_uuid() where project_id = $1',
    [projectId],
  );
  expect(await prune()).toBe(1);
  expect([await count('automations.enrollments'), await count('automations.run_totals')]).toEqual([
    0, 1,
  ]);
});

test('several runs of a person leave one enrollment: the first and the last', async () => {
  const { tell, prune, select } = await opened({ re_entry: 'every_time' });
  await tell(ordered('a'));
  await prune();
  const [first] = await select('*', 'automations.enrollments');
  await tell(ordered('b'));
  await tell(ordered('c'));
  const runs = await select('run_id, started_at', 'automations.runs');
  await prune();
  const last = runs.toSorted((a, b) => b.started_at - a.started_at)[0];
  expect(await select('*', 'automations.enrollments')).toEqual([
    { ...first, run_id: last.run_id, started_at: last.started_at },
  ]);
});

test('one batch takes a bounded number; two workers at once count each run once', async () => {
  const { tell, pruneLogs, within, select, runs, projectId } = await opened({
    re_entry: 'every_time',
  });
  await tell(ordered('a'));
  await pruneLogs();
  await database.owner.query(
    `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, entry_key, status,
      outcome, started_at, ended_at)
    select project_id, overlay($2::text placing lpad(to_hex(copy), 12, '0') from 25)::uuid, automation_id, version,
      identity_id, 'copy ' || copy, status, outcome, started_at, ended_at
    from automations.runs cross join generate_series(1, $3) as copy where project_id = $1`,
    [projectId, newId(), PRUNED_RUNS_MAX],
  );
  const next = (after: string) => within((scope) => pruneRuns(scope, later(), after));
  // The second may find what the first left: one more than a batch is there.
  const both = await Promise.all([next(FIRST_ID), next(FIRST_ID)]);
  const pruned = both.map((batch) => batch.pruned);
  expect(Math.max(...pruned)).toBeLessThanOrEqual(PRUNED_RUNS_MAX);
  const rest = await next(FIRST_ID);
  expect([rest.after, await runs()]).toEqual([null, 0]);
  expect(pruned.reduce((sum, one) => sum + one, rest.pruned)).toBe(PRUNED_RUNS_MAX + 1);
  const totals = await select('runs::int', 'automations.run_totals');
  expect(totals).toEqual([{ runs: PRUNED_RUNS_MAX + 1 }]);
});

test('the job removes nothing until a day after the migration: old processes may run', async () => {
  const { project_id: projectId } = await createProject(database.deps, 'test');
  const journeys = journeysOf(database, projectId);
  await journeys.activate({ entry: 'a', steps: { a: copy({ x: 'x' }) } });
  await journeys.tell(ordered('a'));
  await database.owner.query('delete from automations.run_log where project_id = $1', [projectId]);
  await database.owner.query(
    `update automations.runs set ended_at = now() - interval '3 years',
      run_id = overlay(run_id::text placing '018' from 1 for 3)::uuid where project_id = $1`,
    [projectId],
  );
  const job = () => pruneRunsJob(asWorker(database))({}, undefined as never);
  const left = async () => (await journeys.select('run_id', 'automations.runs')).length;
  await job();
  expect(await left()).toBe(1);
  await database.owner.query(
    "update base.sending set runs_prunable_from = now() - interval '1 second'",
  );
  await job();
  expect(await left()).toBe(0);
});

test('the job goes by the months that the project chose: what ended within them stays', async () => {
  const { project_id: projectId } = await createProject(database.deps, 'test');
  const journeys = journeysOf(database, projectId);
  await journeys.activate({ entry: 'a', steps: { a: copy({ x: 'x' }) } });
  await journeys.tell(ordered('a'), ordered('b', { external_id: 'bob' }));
  const months = { sends_months: 2, runs_months: 6, anonymous_months: null };
  await journeys.within((scope) => changeRetention(scope, { content_days: 90, ...months }));
  await database.owner.query('delete from automations.run_log where project_id = $1', [projectId]);
  await database.owner.query(
    "update base.sending set runs_prunable_from = now() - interval '1 second'",
  );
  const endAt = (shift: string) =>
    database.owner.query(
      `update automations.runs set run_id = overlay(run_id::text placing '018' from 1 for 3)::uuid,
        ended_at = date_trunc('month', now() at time zone 'UTC' - interval '6 months') at time zone 'UTC' ${shift}
      where project_id = $1`,
      [projectId],
    );
  const left = async () => (await journeys.select('run_id', 'automations.runs')).length;
  await endAt('');
  await pruneRunsJob(asWorker(database))({}, undefined as never);
  expect(await left()).toBe(2);
  await endAt("- interval '1 ms'");
  await pruneRunsJob(asWorker(database))({}, undefined as never);
  expect(await left()).toBe(0);
});
