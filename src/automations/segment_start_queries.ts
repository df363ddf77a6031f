import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';
import { ZONES } from './schedule_schema.ts';
import { DELETING } from './queries.ts';
import { isRunOfPage } from './due_queries.ts';

export const START_STATUSES = ['running', 'done', 'cancelled'] as const;
/** Why a start ended before it began. */
export const START_REASONS = ['late'] as const;

const Start = z.strictObject({
  start_id: z.uuid(),
  automation_id: z.uuid(),
  segment_id: z.uuid(),
  status: z.enum(START_STATUSES),
  walked_to: z.uuid(),
  examined: z.int(),
  started: z.int(),
  kept_out: z.int(),
  requested_at: z.date(),
  ended_at: z.date().nullable(),
  /** The local time of the occurrence that made it, and when that was; null of a start by hand. */
  occurrence: z.string().nullable(),
  occurs_at: z.date().nullable(),
  reason: z.enum(START_REASONS).nullable(),
  /** How many people it starts in an hour at most, and when it may start the next. */
  per_hour: z.int().nullable(),
  /** Whose clock the occurrence goes by. */
  zone: z.enum(ZONES).nullable(),
  due_at: z.date().nullable(),
});
export type SegmentStart = z.output<typeof Start>;

const columns = sql.fragment`start_id, automation_id, segment_id, status, walked_to, examined, started, kept_out,
  requested_at, ended_at, occurrence, occurs_at, reason,
  per_hour, zone, due_at`;

/** Notes that everybody in a segment is to be started; the same id again changes nothing. */
export const insertSegmentStart = (
  { tx, projectId }: Scope,
  given: { startId: string; automationId: string; segmentId: string },
) =>
  tx.query(sql.unsafe`
    insert into automations.segment_starts
      (project_id, start_id, automation_id, segment_id, status, walked_to, requested_at)
    values (${projectId}, ${given.startId}, ${given.automationId}, ${given.segmentId}, 'running', ${FIRST_ID}, now())
    on conflict do nothing
  `);

/** Finds a start whose automation is not deleted. */
export const findSegmentStart = ({ tx, projectId }: Scope, startId: string) =>
  tx.maybeOne(sql.type(Start)`
    select ${columns} from automations.segment_starts as start
    where project_id = ${projectId} and start_id = ${startId}
    and exists (
      select from automations.automations as automation
      where automation.project_id = ${projectId} and automation.automation_id = start.automation_id
      and automation.status <> ${DELETING}
    )
  `);

/** The same, and nobody else goes on with it until the transaction ends. */
export const holdSegmentStart = ({ tx, projectId }: Scope, startId: string) =>
  tx.maybeOne(sql.type(Start)`
    select ${columns} from automations.segment_starts
    where project_id = ${projectId} and start_id = ${startId}
    for update
  `);

const Crowded = z.strictObject({ is_crowded: z.boolean() });

/** Returns whether at least so many runs of the project are due that do not go first. */
export const isCrowded = async ({ tx, projectId }: Scope, runsMax: number): Promise<boolean> => {
  const listDue = (isOfPage: boolean) => sql.fragment`(
    select from automations.runs
    where project_id = ${projectId} and status = 'active' and goes_first = false and ${isRunOfPage} = ${isOfPage}
    and wake_at <= statement_timestamp()
    order by wake_at
    limit ${runsMax}
  )`;
  const { is_crowded } = await tx.one(sql.type(Crowded)`
    select count(*) >= ${runsMax} as is_crowded
    from (${listDue(false)} union all ${listDue(true)}) as due
  `);
  return is_crowded;
};

type Piece = { examined: number; started: number; walkedTo: string; dueAt: Date | null };

/** Notes how far a start has come. */
export const moveSegmentStart = (
  { tx, projectId }: Scope,
  startId: string,
  { examined, started, walkedTo, dueAt }: Piece,
) =>
  tx.query(sql.unsafe`
    update automations.segment_starts
    set walked_to = ${walkedTo}, examined = examined + ${examined}, started = started + ${started},
      kept_out = kept_out + ${examined - started}, due_at = ${dueAt?.toISOString() ?? null}
    where project_id = ${projectId} and start_id = ${startId}
  `);

export const endSegmentStart = (
  { tx, projectId }: Scope,
  startId: string,
  status: 'done' | 'cancelled',
) =>
  tx.query(sql.unsafe`
    update automations.segment_starts set status = ${status}, ended_at = now()
    where project_id = ${projectId} and start_id = ${startId} and status = 'running'
  `);

export const listSegmentStarts = (
  { tx, projectId }: Scope,
  automationId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier =
    beforeId === null ? sql.fragment`` : sql.fragment`and start_id < ${beforeId}::uuid`;
  return tx.any(sql.type(Start)`
    select ${columns} from automations.segment_starts
    where project_id = ${projectId} and automation_id = ${automationId} ${earlier}
    order by start_id desc
    limit ${limit}
  `);
};
