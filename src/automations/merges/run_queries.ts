import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { RUN_STATUSES } from '../erase_queries.ts';
import { AUTOMATION_STATUSES, DELETING } from '../queries.ts';

const ComparedRow = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  version: z.int(),
  identity_id: z.uuid(),
  started_at: z.date(),
  entry_key: z.string(),
  status: z.enum(RUN_STATUSES),
  outcome: z.string().nullable(),
  automation_status: z.enum([...AUTOMATION_STATUSES, DELETING]),
  /** The run that it was merged into and may be restored from; null where there is none. */
  merged_into: z.uuid().nullable(),
});
/** A run that is compared with the other runs of its person. */
export type ComparedRow = z.output<typeof ComparedRow>;

/** Lists the next runs of some identities, the oldest first, without tests. */
export const listRunsAfter = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  { afterId, limit }: { afterId: string; limit: number },
) =>
  tx.any(sql.type(ComparedRow)`
    select run.run_id, run.automation_id, run.version, run.identity_id, run.started_at, run.entry_key, run.status,
      run.outcome, automation.status as automation_status,
      (
        select merge.into_run_id from automations.run_merges as merge
        where merge.project_id = ${projectId} and merge.run_id = run.run_id and merge.undone_at is null
        order by merge.merged_at desc
        limit 1
      ) as merged_into
    from automations.runs as run
    join automations.automations as automation
      on automation.project_id = run.project_id and automation.automation_id = run.automation_id
    where run.project_id = ${projectId} and automation.project_id = ${projectId}
    and run.identity_id = any (${sql.array([...identityIds], 'uuid')})
    and run.run_id > ${afterId} and not run.is_test
    order by run.run_id
    limit ${limit}
  `);

const OtherRow = z.strictObject({
  of_run_id: z.uuid(),
  run_id: z.uuid(),
  identity_id: z.uuid(),
  started_at: z.date(),
  entry_key: z.string(),
  outcome: z.string().nullable(),
});
/** A run of the same person as another run, in the same automation and by another identity. */
export type OtherRow = z.output<typeof OtherRow>;

/** How many runs of one identity are compared with a run, before it and after it. */
const OTHERS_PER_IDENTITY_MAX = 5;

export type RunOfPerson = {
  run_id: string;
  automation_id: string;
  identity_id: string;
  profile_id: string;
  /** The digest of the property value that it was enrolled by; null where the rule is another one. */
  digest: string | null;
};
/** An identity, and the profile that it belongs to. */
export type Belonging = { identity_id: string; profile_id: string };

const toColumns = (members: readonly Belonging[]) => sql.fragment`
  ${sql.array(
    members.map(({ profile_id }) => profile_id),
    'uuid',
  )}, ${sql.array(
    members.map(({ identity_id }) => identity_id),
    'uuid',
  )}
`;

const runColumns = sql.fragment`run.run_id, run.identity_id, run.started_at, run.entry_key, run.outcome`;

/** The first and the last run that retention removed, of an identity, an automation and a value. */
const enrolledBefore = (projectId: string) => sql.fragment`(
  select told.run_id, past.identity_id, told.started_at,
    'property/' || past.identity_id::text || '/' || past.digest as entry_key, null as outcome
  from automations.enrollments as past
  cross join lateral (
    values (past.first_run_id, past.first_started_at), (past.run_id, past.started_at)
  ) as told (run_id, started_at)
  where past.project_id = ${projectId} and past.automation_id = asked.automation_id
  and past.identity_id = known.identity_id and past.digest = coalesce(asked.digest, '')
)`;

/**
 * Lists the other runs of the person of each of some runs, in the same automation and by other identities: those
 * enrolled by the same value, or those next to the run in time. Tests do not count.
 */
export const listOtherRuns = (
  { tx, projectId }: Scope,
  asked: readonly RunOfPerson[],
  members: readonly Belonging[],
) => {
  const column = (read: (one: RunOfPerson) => string | null, type: string) =>
    sql.array(asked.map(read), type);
  const isOther = sql.fragment`run.project_id = ${projectId} and run.automation_id = asked.automation_id
    and not run.is_test`;
  const beside = (isNext: ReturnType<typeof sql.fragment>) => sql.fragment`(
    select ${runColumns} from automations.runs as run
    where ${isOther} and asked.digest is null and run.identity_id = known.identity_id and ${isNext}
    limit ${OTHERS_PER_IDENTITY_MAX}
  )`;
  return tx.any(sql.type(OtherRow)`
    select asked.run_id as of_run_id, other.*
    from unnest(
      ${column(({ run_id }) => run_id, 'uuid')}, ${column(({ automation_id }) => automation_id, 'uuid')},
      ${column(({ identity_id }) => identity_id, 'uuid')}, ${column(({ profile_id }) => profile_id, 'uuid')},
      ${column(({ digest }) => digest, 'text')}
    ) as asked (run_id, automation_id, identity_id, profile_id, digest)
    join unnest(${toColumns(members)}) as known (profile_id, identity_id)
      on known.profile_id = asked.profile_id and known.identity_id <> asked.identity_id
    cross join lateral (
      (
        select ${runColumns} from automations.runs as run
        where ${isOther} and run.entry_key = 'property/' || known.identity_id::text || '/' || asked.digest
      )
      union all ${enrolledBefore(projectId)}
      union all ${beside(sql.fragment`run.run_id < asked.run_id order by run.run_id desc`)}
      union all ${beside(sql.fragment`run.run_id > asked.run_id order by run.run_id`)}
    ) as other
  `);
};

const UndoneMerge = z.strictObject({
  of_run_id: z.uuid(),
  run_id: z.uuid(),
  merged_at: z.date(),
  undone_at: z.date(),
});
/** A run that another run was merged into before an undo, and between which moments. */
export type UndoneMerge = z.output<typeof UndoneMerge>;

/** Lists the runs that each of some runs was merged into, where an undo has ended that. */
export const listUndoneMerges = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(UndoneMerge)`
    select run_id as of_run_id, into_run_id as run_id, merged_at, undone_at from automations.run_merges
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')}) and undone_at is not null
  `);

/** How many runs of a person are read for the arms of splits, the oldest. */
const ARM_RUNS_MAX = 20;

const SplitRow = z.strictObject({
  of_run_id: z.uuid(),
  identity_id: z.uuid(),
  /** A split that the run passed, and the profile that its arm was chosen by, where the log says it. */
  step_id: z.string().nullable(),
  profile_id: z.string().nullable(),
});
export type SplitRow = z.output<typeof SplitRow>;

/**
 * Lists the oldest runs of the person of each of some runs, in the same automation, each with the splits that it
 * passed, also of runs and logs that retention removed. Tests do not count.
 */
export const listSplits = (
  { tx, projectId }: Scope,
  asked: readonly RunOfPerson[],
  members: readonly Belonging[],
) => {
  const column = (read: (one: RunOfPerson) => string) => sql.array(asked.map(read), 'uuid');
  return tx.any(sql.type(SplitRow)`
    select asked.run_id as of_run_id, first.identity_id, passed.step_id, passed.profile_id
    from unnest(
      ${column(({ run_id }) => run_id)}, ${column(({ automation_id }) => automation_id)},
      ${column(({ profile_id }) => profile_id)}
    ) as asked (run_id, automation_id, profile_id)
    cross join lateral (
      select run.run_id, run.identity_id, run.started_at
      from unnest(${toColumns(members)}) as known (profile_id, identity_id)
      cross join lateral (
        select run_id, identity_id, started_at from automations.runs
        where project_id = ${projectId} and identity_id = known.identity_id
        and automation_id = asked.automation_id and not is_test
        union all
        select first_run_id, identity_id, first_started_at from automations.enrollments
        where project_id = ${projectId} and automation_id = asked.automation_id
        and identity_id = known.identity_id and digest = ''
        union
        select run_id, identity_id, started_at from automations.arms
        where project_id = ${projectId} and automation_id = asked.automation_id
        and identity_id = known.identity_id
      ) as run
      where known.profile_id = asked.profile_id
      order by run.started_at, run.run_id
      limit ${ARM_RUNS_MAX}
    ) as first
    left join lateral (
      select log.entry, log.step_id, log.detail ->> 'profile_id' as profile_id from automations.run_log as log
      where log.project_id = ${projectId} and log.run_id = first.run_id and log.decision in ('split', 'held_out')
      union all
      select 0, arm.step_id, arm.profile_id::text from automations.arms as arm
      where arm.project_id = ${projectId} and arm.automation_id = asked.automation_id
      and arm.identity_id = first.identity_id and arm.run_id = first.run_id
    ) as passed on true
    order by asked.run_id, first.started_at, first.run_id, passed.entry
  `);
};
