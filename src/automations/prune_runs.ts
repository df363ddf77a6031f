import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import { mayBeRestored } from './merges/merge_queries.ts';
import { MERGED, valueDigestOf } from './merges/rule.ts';
import { lockUndeleted } from './queries.ts';

/** How many runs one transaction of the daily job checks. */
export const PRUNED_RUNS_MAX = 500;

const Candidate = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  identity_id: z.uuid(),
});
type Candidate = z.output<typeof Candidate>;

/** The next runs, by their ids: those of a while ago come first. */
const listPast = ({ tx, projectId }: Scope, after: string, before: Date) =>
  tx.any(sql.type(Candidate)`
    select run_id, automation_id, identity_id from automations.runs
    where project_id = ${projectId} and run_id > ${after} and run_id < ${firstIdAt(before)}
    order by run_id
    limit ${PRUNED_RUNS_MAX}
  `);

const Spent = Candidate.extend({
  version: z.int(),
  entry_key: z.string(),
  started_at: z.date(),
  outcome: z.string(),
  is_test: z.boolean(),
});
type Spent = z.output<typeof Spent>;

/**
 * Locks those of some runs that ended before a moment, whose log is gone, and that no undo may restore. Runs of a start
 * that goes on stay: by them it starts a person once. Others that are being changed are left for the next day.
 */
const lockSpent = ({ tx, projectId }: Scope, runIds: readonly string[], before: Date) =>
  tx.any(sql.type(Spent)`
    select run.run_id, run.automation_id, run.identity_id, run.version, run.entry_key, run.started_at,
      coalesce(run.outcome, '') as outcome, run.is_test
    from automations.runs as run
    where run.project_id = ${projectId} and run.run_id = any (${sql.array([...runIds], 'uuid')})
    and run.status = 'ended' and run.ended_at < ${before.toISOString()}::timestamptz
    and not exists (
      select from automations.run_log as logged
      where logged.project_id = ${projectId} and logged.run_id = run.run_id
    )
    and not ${mayBeRestored(projectId)}
    and not exists (
      select from automations.segment_starts as start
      where start.project_id = ${projectId} and start.start_id = run.start_id and start.status = 'running'
    )
    order by run.run_id
    for update of run skip locked
  `);

type Enrollment = Pick<Spent, 'automation_id' | 'identity_id' | 'run_id' | 'started_at'> & {
  digest: string;
};

/** Returns what re-entry needs of a run: that it was there, and the value of the property that let it in. */
const toEnrollments = (run: Spent): Enrollment[] => {
  const digest = valueDigestOf(run);
  return ['', ...(digest === null ? [] : [digest])].map((one) => ({ ...run, digest: one }));
};

const insertEnrollments = async (
  { tx, projectId }: Scope,
  enrolled: readonly Enrollment[],
): Promise<void> => {
  if (enrolled.length === 0) return;
  const column = (read: (one: Enrollment) => string, type: string) =>
    sql.array(enrolled.map(read), type);
  await tx.query(sql.unsafe`
    insert into automations.enrollments as known (project_id, automation_id, identity_id, digest, run_id, started_at,
      first_run_id, first_started_at)
    select ${projectId}, past.automation_id, past.identity_id, past.digest,
      (array_agg(past.run_id order by past.started_at desc, past.run_id desc))[1], max(past.started_at),
      (array_agg(past.run_id order by past.started_at, past.run_id))[1], min(past.started_at)
    from unnest(
      ${column((one) => one.automation_id, 'uuid')}, ${column((one) => one.identity_id, 'uuid')},
      ${column((one) => one.digest, 'text')}, ${column((one) => one.run_id, 'uuid')},
      ${column((one) => one.started_at.toISOString(), 'timestamptz')}
    ) as past (automation_id, identity_id, digest, run_id, started_at)
    group by past.automation_id, past.identity_id, past.digest
    order by past.automation_id, past.identity_id, past.digest
    on conflict (project_id, automation_id, identity_id, digest) do update
    set run_id = case when excluded.started_at > known.started_at then excluded.run_id else known.run_id end,
      started_at = greatest(excluded.started_at, known.started_at),
      first_run_id = case when excluded.first_started_at < known.first_started_at then excluded.first_run_id
        else known.first_run_id end,
      first_started_at = least(excluded.first_started_at, known.first_started_at)
  `);
};

/** Adds runs to the totals of their automations. */
const addTotals = async ({ tx, projectId }: Scope, runs: readonly Spent[]): Promise<void> => {
  if (runs.length === 0) return;
  const column = (read: (one: Spent) => string | number, type: string) =>
    sql.array(runs.map(read), type);
  await tx.query(sql.unsafe`
    insert into automations.run_totals as total (project_id, automation_id, version, outcome, runs)
    select ${projectId}, past.automation_id, past.version, past.outcome, count(*)
    from unnest(
      ${column((one) => one.automation_id, 'uuid')}, ${column((one) => one.version, 'int4')},
      ${column((one) => one.outcome, 'text')}
    ) as past (automation_id, version, outcome)
    group by past.automation_id, past.version, past.outcome
    order by past.automation_id, past.version, past.outcome
    on conflict (project_id, automation_id, version, outcome) do update set runs = total.runs + excluded.runs
  `);
};

const deleteRuns = async ({ tx, projectId }: Scope, runs: readonly Spent[]): Promise<void> => {
  const ids = runs.map(({ run_id }) => run_id);
  await tx.query(sql.unsafe`
    delete from automations.runs
    where project_id = ${projectId} and run_id = any (${sql.array(ids, 'uuid')})
  `);
};

/**
 * Deletes the next old runs that ended: a run goes after its log and its emails. Keeps who was enrolled, so that no
 * person goes through again, and the totals of the automation. A run whose person is erased leaves its count only.
 * Holds the people first: what is kept of an enrollment goes with its identity.
 */
export const pruneRuns = async (
  scope: Scope,
  before: Date,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const page = await listPast(scope, after, before);
  const next = page.length < PRUNED_RUNS_MAX ? null : (page.at(-1)?.run_id ?? null);
  const column = (name: keyof Candidate) => [...new Set(page.map((one) => one[name]))];
  const mailed = await delivery.listRunsWithSends(scope, column('run_id'));
  const living = await profiles.holdProfiles(scope, column('identity_id'));
  const undeleted = await lockUndeleted(scope, column('automation_id'));
  const able = page.filter(
    ({ run_id, automation_id }) => undeleted.has(automation_id) && !mailed.has(run_id),
  );
  if (able.length === 0) return { pruned: 0, after: next };
  const spent = await lockSpent(
    scope,
    able.map(({ run_id }) => run_id),
    before,
  );
  const real = spent.filter(({ is_test }) => !is_test);
  const enrolled = real.filter(
    ({ identity_id, outcome }) => living.has(identity_id) && outcome !== MERGED,
  );
  await insertEnrollments(scope, enrolled.flatMap(toEnrollments));
  await addTotals(scope, real);
  await deleteRuns(scope, spent);
  return { pruned: spent.length, after: next };
};
