import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import type { AlertKind } from './kinds.ts';

/** What is measured of a condition. Which members there are depends on the kind. */
export const AlertDetails = z.strictObject({
  /** The class of the failure. */
  reason: z.string().optional(),
  /** What was answered, without secrets and addresses. */
  answer: z.string().optional(),
  http_status: z.int().optional(),
  /** Names of the findings that got worse. */
  findings: z.array(z.string()).optional(),
  /** How many topics wait. */
  topics: z.int().optional(),
  percent: z.number().optional(),
  threshold_percent: z.number().optional(),
  sent: z.int().optional(),
  reported: z.int().optional(),
});
export type AlertDetails = z.output<typeof AlertDetails>;

export const ALERT_STATUSES = ['open', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

const Alert = z.strictObject({
  alert_id: z.uuid(),
  kind: z.string(),
  subject: z.string(),
  subject_name: z.string(),
  summary: z.string(),
  fix: z.string(),
  // What another release measured is shown without its measures.
  details: AlertDetails.catch({}),
  opened_at: z.date(),
  resolved_at: z.date().nullable(),
});
export type AlertRow = z.output<typeof Alert>;

const columns = sql.fragment`alert_id, kind, subject, subject_name, summary, fix, details, opened_at, resolved_at`;

export type NewAlert = {
  kind: AlertKind;
  /** The id of what it is about. */
  subject: string;
  subjectName: string;
  /** What is wrong. */
  summary: string;
  /** What to do. */
  fix: string;
  details: AlertDetails;
};

const Opened = z.strictObject({ is_new: z.boolean() });

/** Opens an alert, or changes what the open one says. Returns whether it is new. */
export const openAlert = async (
  { tx, projectId }: Scope,
  { kind, subject, subjectName, summary, fix, details }: NewAlert,
): Promise<boolean> => {
  const { is_new } = await tx.one(sql.type(Opened)`
    select is_new from alerts.open_alert(
      project_id => ${projectId},
      alert_id => ${newId()},
      kind => ${kind},
      subject => ${subject},
      subject_name => ${subjectName},
      summary => ${summary},
      fix => ${fix},
      details => ${JSON.stringify(details)}::jsonb
    ) as opened (is_new)
  `);
  return is_new;
};

const Resolved = z.strictObject({ count: z.int() });

/** Resolves the open alerts of some kinds about a subject, of all kinds without any. Returns how many. */
export const resolveAlerts = async (
  { tx, projectId }: Scope,
  subject: string,
  kinds: readonly AlertKind[] | null,
): Promise<number> => {
  const { count } = await tx.one(sql.type(Resolved)`
    select count from alerts.resolve_alerts(
      project_id => ${projectId},
      kinds => ${kinds === null ? null : sql.array([...kinds], 'text')},
      subject => ${subject}
    ) as resolved (count)
  `);
  return count;
};

export const findAlert = ({ tx, projectId }: Scope, alertId: string) =>
  tx.maybeOne(sql.type(Alert)`
    select ${columns} from alerts.alerts where project_id = ${projectId} and alert_id = ${alertId}
  `);

type Page = { status: 'open' | 'all'; limit: number; beforeId: string | null };

/** Lists alerts, the newest first: ids are time-ordered. */
export const listAlerts = ({ tx, projectId }: Scope, { status, limit, beforeId }: Page) => {
  const isOpen = status === 'open' ? sql.fragment`and resolved_at is null` : sql.fragment``;
  return tx.any(sql.type(Alert)`
    select ${columns} from alerts.alerts
    where project_id = ${projectId} and (${beforeId}::uuid is null or alert_id < ${beforeId}) ${isOpen}
    order by alert_id desc
    limit ${limit}
  `);
};

const Subject = z.strictObject({ subject: z.string() });

/** Lists the subjects of the open alerts of a kind. */
export const listOpenSubjects = async (
  { tx, projectId }: Scope,
  kind: AlertKind,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Subject)`
    select subject from alerts.alerts
    where project_id = ${projectId} and kind = ${kind} and resolved_at is null
    order by subject
  `);
  return rows.map(({ subject }) => subject);
};

/** Deletes alerts that were resolved before a number of days, and the oldest resolved ones beyond a number. */
export const pruneAlerts = async (
  { tx, projectId }: Scope,
  { days, keptMax }: { days: number; keptMax: number },
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from alerts.alerts
    where project_id = ${projectId} and resolved_at is not null and (
      resolved_at < now() - make_interval(days => ${days})
      or alert_id in (
        select old.alert_id from alerts.alerts as old
        where old.project_id = ${projectId} and old.resolved_at is not null
        order by old.resolved_at desc, old.alert_id desc
        offset ${keptMax}
      )
    )
  `);
  return rowCount;
};

const Announcement = z.strictObject({
  alert_id: z.uuid(),
  status: z.enum(ALERT_STATUSES),
  kind: z.string(),
});
export type Announcement = z.output<typeof Announcement>;

/** Claims what has to be announced, the oldest first, until the transaction ends. */
export const claimAnnouncements = ({ tx, projectId }: Scope, claimMax: number) =>
  tx.any(sql.type(Announcement)`
    select announced.alert_id, announced.status, alert.kind
    from alerts.announcements as announced
    join alerts.alerts as alert on alert.project_id = ${projectId} and alert.alert_id = announced.alert_id
    where announced.project_id = ${projectId}
    order by announced.announced_at, announced.alert_id, announced.status
    limit ${claimMax}
    for update of announced skip locked
  `);

export const deleteAnnouncements = (
  { tx, projectId }: Scope,
  announcements: readonly Announcement[],
) =>
  tx.query(sql.unsafe`
    delete from alerts.announcements as announced
    using unnest(
      ${sql.array(
        announcements.map(({ alert_id }) => alert_id),
        'uuid',
      )},
      ${sql.array(
        announcements.map(({ status }) => status),
        'text',
      )}
    ) as done (alert_id, status)
    where announced.project_id = ${projectId} and announced.alert_id = done.alert_id
    and announced.status = done.status
  `);
