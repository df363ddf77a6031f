import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';
import { nowInMs } from '../base/now_in_ms.ts';
import type { Occurrence } from './schedule.ts';
import type { Schedule } from './schedule_schema.ts';

const Kept = z.strictObject({
  automation_id: z.uuid(),
  version: z.int(),
  occurrence: z.string().nullable(),
  next_at: z.date().nullable(),
});
export type KeptSchedule = z.output<typeof Kept>;
const columns = sql.fragment`automation_id, version, occurrence, next_at`;

/** Locks and returns the schedule of an automation. */
export const holdSchedule = ({ tx, projectId }: Scope, automationId: string) =>
  tx.maybeOne(sql.type(Kept)`
    select ${columns} from automations.schedules
    where project_id = ${projectId} and automation_id = ${automationId}
    for update
  `);

/** Locks and returns the schedule of the project that has been due for longest, of those that are not locked. */
export const holdDueSchedule = ({ tx, projectId }: Scope) =>
  tx.maybeOne(sql.type(Kept)`
    select ${columns} from automations.schedules
    where project_id = ${projectId} and status = 'active' and next_at <= ${nowInMs}
    order by next_at, automation_id
    limit 1
    for update skip locked
  `);

const Next = z.strictObject({ version: z.int(), next_at: z.date().nullable() });

/** Returns the version whose schedule an automation follows, and its next moment. */
export const findNext = ({ tx, projectId }: Scope, automationId: string) =>
  tx.maybeOne(sql.type(Next)`
    select version, next_at from automations.schedules
    where project_id = ${projectId} and automation_id = ${automationId}
  `);

/** Has an automation follow the schedule of a version from an occurrence on. */
export const upsertSchedule = (
  { tx, projectId }: Scope,
  { automationId, version }: { automationId: string; version: number },
  { occurrence, at }: Occurrence,
) =>
  tx.query(sql.unsafe`
    insert into automations.schedules (project_id, automation_id, version, status, occurrence, next_at)
    values (${projectId}, ${automationId}, ${version}, 'active', ${occurrence}, ${at.toISOString()})
    on conflict (project_id, automation_id) do update
    set version = excluded.version, status = 'active', occurrence = excluded.occurrence, next_at = excluded.next_at
  `);

/** Stores the next occurrence, or that there is none. */
export const moveSchedule = (
  { tx, projectId }: Scope,
  automationId: string,
  next: Occurrence | null,
) =>
  tx.query(sql.unsafe`
    update automations.schedules
    set occurrence = ${next?.occurrence ?? null}, next_at = ${next?.at.toISOString() ?? null}
    where project_id = ${projectId} and automation_id = ${automationId}
  `);

/** Pauses a schedule or resumes it, from the commit on. */
export const setScheduleStatus = (
  { tx, projectId }: Scope,
  automationId: string,
  status: 'active' | 'paused',
) =>
  tx.query(sql.unsafe`
    update automations.schedules set status = ${status}
    where project_id = ${projectId} and automation_id = ${automationId}
  `);

export const deleteSchedule = ({ tx, projectId }: Scope, automationId: string) =>
  tx.query(sql.unsafe`
    delete from automations.schedules where project_id = ${projectId} and automation_id = ${automationId}
  `);

type ScheduledStart = Occurrence & {
  startId: string;
  automationId: string;
  segmentId: string;
  zone: Schedule['zone'];
  perHour: number | null;
  isLate: boolean;
};

/** Inserts the start of an occurrence for all members of a segment. A late one has ended already. */
export const insertScheduledStart = (
  { tx, projectId }: Scope,
  { startId, automationId, segmentId, occurrence, at, zone, perHour, isLate }: ScheduledStart,
) => {
  const end = isLate
    ? sql.fragment`'cancelled', 'late', ${nowInMs}`
    : sql.fragment`'running', null, null`;
  return tx.query(sql.unsafe`
    insert into automations.segment_starts
      (project_id, start_id, automation_id, segment_id, occurrence, occurs_at, walked_to, requested_at, status,
        reason, ended_at, zone, per_hour)
    values (${projectId}, ${startId}, ${automationId}, ${segmentId}, ${occurrence}, ${at.toISOString()},
      ${FIRST_ID}, ${nowInMs}, ${end}, ${zone}, ${perHour})
    on conflict do nothing
  `);
};
