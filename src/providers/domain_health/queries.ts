import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { STATUSES } from './findings.ts';
import type { Status } from './findings.ts';
import type { Fallen, Findings } from './history.ts';
import { Brief, FindingChange, Health } from './schema.ts';

const CheckRow = z.strictObject({
  dkim_selectors: z.array(z.string()),
  mail_from_domain: z.string().nullable(),
  next_check_at: z.date(),
  check_id: z.uuid().nullable(),
  checked_at: z.date().nullable(),
  // What an older version stored in another shape counts as no check.
  health: Health.nullable().catch(null),
  known: z.record(z.string(), Brief).nullable().catch(null),
  fallen: z.record(z.string(), z.enum(STATUSES)),
  unanswered_count: z.int(),
});
export type CheckRow = z.output<typeof CheckRow>;

const columns = sql.fragment`dkim_selectors, mail_from_domain, next_check_at, check_id, checked_at, health, known,
  fallen, unanswered_count`;

export const findCheck = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(CheckRow)`
    select ${columns} from providers.domain_checks
    where project_id = ${projectId} and provider_id = ${providerId}
  `);

const Locked = z.strictObject({ provider_id: z.uuid() });

/** Locks a provider against deletion until the transaction ends; null where it is gone. */
export const lockProvider = ({ tx, projectId }: Scope, providerId: string) =>
  tx.maybeOne(sql.type(Locked)`
    select provider_id from providers.providers
    where project_id = ${projectId} and provider_id = ${providerId}
    for key share
  `);

/** Makes the check of a provider, unless there is one. */
export const insertCheck = ({ tx, projectId }: Scope, providerId: string) =>
  tx.query(sql.unsafe`
    insert into providers.domain_checks (project_id, provider_id, next_check_at)
    values (${projectId}, ${providerId}, now())
    on conflict do nothing
  `);

const LockedCheck = CheckRow.extend({ now: z.date() });

/** Locks the check of a provider. Returns it with the time of the transaction. */
export const lockCheck = ({ tx, projectId }: Scope, providerId: string) =>
  tx.one(sql.type(LockedCheck)`
    select ${columns}, now() as now from providers.domain_checks
    where project_id = ${projectId} and provider_id = ${providerId}
    for update
  `);

type CheckUpdate = Pick<CheckRow, 'dkim_selectors' | 'mail_from_domain' | 'unanswered_count'> & {
  check_id: string;
  checked_at: Date;
  next_check_at: Date;
  health: z.output<typeof Health>;
  known: Findings;
  fallen: Fallen;
};

export const updateCheck = ({ tx, projectId }: Scope, providerId: string, row: CheckUpdate) =>
  tx.query(sql.unsafe`
    update providers.domain_checks
    set dkim_selectors = ${sql.array(row.dkim_selectors, 'text')}, mail_from_domain = ${row.mail_from_domain},
      next_check_at = ${sql.timestamp(row.next_check_at)}, check_id = ${row.check_id},
      checked_at = ${sql.timestamp(row.checked_at)}, health = ${JSON.stringify(row.health)}::jsonb,
      known = ${JSON.stringify(row.known)}::jsonb, fallen = ${JSON.stringify(row.fallen)}::jsonb,
      unanswered_count = ${row.unanswered_count}
    where project_id = ${projectId} and provider_id = ${providerId}
  `);

type NewChange = {
  change_id: string;
  changed_at: Date;
  domain: string;
  status: Status;
  is_worse: boolean;
  changes: FindingChange[];
};

export const insertChange = ({ tx, projectId }: Scope, providerId: string, row: NewChange) =>
  tx.query(sql.unsafe`
    insert into providers.domain_changes (project_id, provider_id, change_id, changed_at, domain, status, is_worse,
      changes)
    values (${projectId}, ${providerId}, ${row.change_id}, ${sql.timestamp(row.changed_at)}, ${row.domain},
      ${row.status}, ${row.is_worse}, ${JSON.stringify(row.changes)}::jsonb)
  `);

/** Deletes the changes of a provider from before a time, and the oldest beyond a number. */
export const pruneChanges = (
  { tx, projectId }: Scope,
  providerId: string,
  { before, most }: { before: Date; most: number },
) =>
  tx.query(sql.unsafe`
    delete from providers.domain_changes
    where project_id = ${projectId} and provider_id = ${providerId} and (
      changed_at < ${sql.timestamp(before)}
      or change_id < (
        select min(kept.change_id::text)::uuid from (
          select change_id from providers.domain_changes
          where project_id = ${projectId} and provider_id = ${providerId}
          order by change_id desc
          limit ${most}
        ) as kept
      )
    )
  `);

const ChangeRow = z.strictObject({
  change_id: z.uuid(),
  changed_at: z.date(),
  domain: z.string(),
  status: z.enum(STATUSES),
  is_worse: z.boolean(),
  changes: z.array(FindingChange).catch([]),
});
export type ChangeRow = z.output<typeof ChangeRow>;

/** The changes of a provider, the newest first. */
export const listChanges = (
  { tx, projectId }: Scope,
  providerId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) =>
  tx.any(sql.type(ChangeRow)`
    select change_id, changed_at, domain, status, is_worse, changes from providers.domain_changes
    where project_id = ${projectId} and provider_id = ${providerId}
    and (${beforeId}::uuid is null or change_id < ${beforeId})
    order by change_id desc
    limit ${limit}
  `);

const Claimed = z.strictObject({ provider_id: z.uuid() });

/** Claims the checks of a project that are due, for as long as the lease. */
export const claimChecks = (
  { tx, projectId }: Scope,
  { claimMax, leaseSeconds }: { claimMax: number; leaseSeconds: number },
) =>
  tx.any(sql.type(Claimed)`
    select provider_id from providers.claim_domain_checks(
      project_id => ${projectId}, claim_max => ${claimMax}, lease_seconds => ${leaseSeconds}
    ) as claimed (provider_id)
  `);
