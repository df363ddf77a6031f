import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Sent = z.strictObject({
  automation_id: z.uuid(),
  sends: z.int(),
  accepted: z.int(),
  /** Emails that providers accepted and retention removed. */
  removed: z.int(),
});

/** What became of the newest sends of each automation, at most `sendsMax` of each. */
export const countSentBy = (
  { tx, projectId }: Scope,
  automationIds: readonly string[],
  sendsMax: number,
) =>
  tx.any(sql.type(Sent)`
    select asked.automation_id, newest.sends, newest.accepted, coalesce(total.accepted, 0) as removed
    from unnest(${sql.array([...automationIds], 'uuid')}) as asked (automation_id)
    cross join lateral (
      select count(*) as sends, count(*) filter (where last.accepted_at is not null) as accepted
      from (
        select accepted_at from delivery.sends as send
        where send.project_id = ${projectId} and send.automation_id = asked.automation_id
        order by send.send_id desc
        limit ${sendsMax}
      ) as last
    ) as newest
    left join delivery.send_totals as total
      on total.project_id = ${projectId} and total.automation_id = asked.automation_id
  `);

const RunId = z.strictObject({ run_id: z.uuid() });

/** Returns those of some runs that have emails. */
export const listRunsWithSends = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(RunId)`
    select asked.run_id from unnest(${sql.array([...runIds], 'uuid')}) as asked (run_id)
    where exists (
      select from delivery.sends as send
      where send.project_id = ${projectId} and send.run_id = asked.run_id
    )
  `);
  return new Set(rows.map(({ run_id }) => run_id));
};

const Recipient = z.strictObject({ send_id: z.uuid(), recipient: z.string().nullable() });

/** Returns the recipients of some sends; null for the sends of an erased person. */
export const listRecipients = ({ tx, projectId }: Scope, sendIds: readonly string[]) =>
  tx.any(sql.type(Recipient)`
    select send_id, recipient from delivery.sends
    where project_id = ${projectId} and send_id = any (${sql.array([...sendIds], 'uuid')})
  `);

const IdentityId = z.strictObject({ identity_id: z.uuid() });

/** Returns those of some people who have emails. */
export const listWithSends = async (
  { tx, projectId }: Scope,
  people: readonly { identity_id: string; profile_id: string }[],
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(IdentityId)`
    select asked.identity_id
    from unnest(
      ${sql.array(
        people.map(({ identity_id }) => identity_id),
        'uuid',
      )},
      ${sql.array(
        people.map(({ profile_id }) => profile_id),
        'uuid',
      )}
    ) as asked (identity_id, profile_id)
    where exists (
      select from delivery.sends as send
      where send.project_id = ${projectId} and send.profile_id = asked.profile_id
    ) or exists (
      select from delivery.sends as send
      where send.project_id = ${projectId} and send.identity_id = asked.identity_id
    )
  `);
  return new Set(rows.map(({ identity_id }) => identity_id));
};
