import { z } from 'zod';
import { ACTOR_KINDS } from '../base/audit.ts';
import { sql } from '../base/db.ts';
import type { Db, Scope } from '../base/db.ts';

const Entry = z.strictObject({
  audit_id: z.uuid(),
  at: z.date(),
  actor_kind: z.enum(ACTOR_KINDS),
  actor_id: z.uuid().nullable(),
  actor_email: z.string().nullable(),
  actor_key: z.string().nullable(),
  action: z.string(),
  targets: z.record(z.string(), z.string()),
  request_id: z.string().nullable(),
});
export type AuditEntry = z.output<typeof Entry>;
const Action = z.strictObject({ action: z.string() });
const Forgotten = z.strictObject({ count: z.int() });

export type AuditFilter = {
  /** A person, or a key, by id. */
  actorId: string | null;
  action: string | null;
  /** Ids are made when a call begins, so time is a range of them. */
  fromId: string | null;
  beforeId: string | null;
  limit: number;
};

const shown = sql.fragment`
  entry.audit_id, entry.at, entry.actor_kind, entry.actor_id, person.email as actor_email,
  key.last_four as actor_key, entry.action, entry.targets, entry.request_id
`;

/** Only what is asked: a plan for what may be asked or not goes through all entries. */
const matching = ({ actorId, action, fromId, beforeId }: AuditFilter) =>
  sql.join(
    [
      sql.fragment`true`,
      actorId === null ? null : sql.fragment`entry.actor_id = ${actorId}`,
      action === null ? null : sql.fragment`entry.action = ${action}`,
      fromId === null ? null : sql.fragment`entry.audit_id >= ${fromId}`,
      beforeId === null ? null : sql.fragment`entry.audit_id < ${beforeId}`,
    ].filter((condition) => condition !== null),
    sql.fragment` and `,
  );

/** The entries of a project, the newest first, each with whoever it was by the name they have today. */
export const listEntries = ({ tx, projectId }: Scope, filter: AuditFilter) =>
  tx.any(sql.type(Entry)`
    select ${shown}
    from admin.audit as entry
    left join admin.people as person on person.person_id = entry.actor_id and entry.actor_kind = 'person'
    left join projects.api_keys as key on key.project_id = ${projectId} and key.key_id = entry.actor_id
    where entry.project_id = ${projectId} and ${matching(filter)}
    order by entry.audit_id desc
    limit ${filter.limit}
  `);

/** The same of what belongs to no project. */
export const listInstallationEntries = (db: Db, filter: AuditFilter) =>
  db.any(sql.type(Entry)`
    select entry.audit_id, entry.at, entry.actor_kind, entry.actor_id, person.email as actor_email,
      null as actor_key, entry.action, entry.targets, entry.request_id
    from admin.installation_audit as entry
    left join admin.people as person on person.person_id = entry.actor_id and entry.actor_kind = 'person'
    where ${matching(filter)}
    order by entry.audit_id desc
    limit ${filter.limit}
  `);

/** What has been done in a project, each once: what a filter offers. Found by skipping along the index. */
export const listActions = ({ tx, projectId }: Scope, limit: number) =>
  tx.any(sql.type(Action)`
    with recursive known as (
      (
        select entry.action from admin.audit as entry
        where entry.project_id = ${projectId} order by entry.action limit 1
      )
      union all
      select (
        select entry.action from admin.audit as entry
        where entry.project_id = ${projectId} and entry.action > known.action
        order by entry.action limit 1
      )
      from known where known.action is not null
    )
    select known.action from known where known.action is not null limit ${limit}
  `);

/** Forgets what is older than a moment; null is what belongs to no project. Answers how many. */
export const forgetRequestRows = async (
  db: Pick<Db, 'one'>,
  before: Date,
  rowsMax: number,
): Promise<number> => {
  const { count } = await db.one(sql.type(Forgotten)`
    select admin.forget_requests(before => ${before.toISOString()}::timestamptz, rows_max => ${rowsMax}) as count
  `);
  return count;
};

export const forgetEntries = async (
  db: Pick<Db, 'one'>,
  projectId: string | null,
  before: Date,
): Promise<number> => {
  const { count } = await db.one(sql.type(Forgotten)`
    select admin.forget_audit(
      project_id => ${projectId}::uuid,
      before     => ${before.toISOString()}::timestamptz
    ) as count
  `);
  return count;
};
