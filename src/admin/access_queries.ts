import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Tx } from '../base/db.ts';

export const ACCESS_STATUSES = ['waiting', 'approved', 'refused'] as const;
export type AccessStatus = (typeof ACCESS_STATUSES)[number];

const Request = z.strictObject({
  access_request_id: z.uuid(),
  email: z.string(),
  name: z.string(),
  purpose: z.string(),
  status: z.enum(ACCESS_STATUSES),
  requested_at: z.date(),
  decided_at: z.date().nullable(),
  decided_by: z.string().nullable(),
  project_id: z.uuid().nullable(),
  project_name: z.string().nullable(),
  is_known: z.boolean(),
});
const Decided = z.strictObject({ email: z.string() });

export type NewRequest = { requestId: string; email: string; name: string; purpose: string };

/** Keeps a request, unless the address waits already, or so many wait that nobody could decide about them. */
export const insertRequest = (
  db: Pick<Db, 'query'>,
  { requestId, email, name, purpose }: NewRequest,
  waitingMax: number,
) =>
  db.query(sql.unsafe`
    insert into admin.access_requests (access_request_id, email, name, purpose, status, requested_at)
    select ${requestId}::uuid, ${email}, ${name}, ${purpose}, 'waiting', now()
    where (
      select count(*) from (
        select from admin.access_requests where status = 'waiting' limit ${waitingMax}
      ) as waiting
    ) < ${waitingMax}
    on conflict (lower(email)) where status = 'waiting' do nothing
  `);

type Page = { status: AccessStatus | null; limit: number; beforeId: string | null };

/** Requests, the newest first, and whether somebody with that address has an account. */
export const listRequests = (db: Db, { status, limit, beforeId }: Page) =>
  db.any(sql.type(Request)`
    select request.access_request_id, request.email, request.name, request.purpose, request.status,
      request.requested_at, request.decided_at, decider.email as decided_by, request.project_id,
      project.name as project_name,
      exists (select from admin.people as person where lower(person.email) = lower(request.email)) as is_known
    from admin.access_requests as request
    left join admin.people as decider on decider.person_id = request.decided_by
    left join projects.projects as project on project.project_id = request.project_id
    where (${status}::text is null or request.status = ${status})
    and (${beforeId}::uuid is null or request.access_request_id < ${beforeId}::uuid)
    order by request.access_request_id desc
    limit ${limit}
  `);

type Decision = {
  requestId: string;
  status: AccessStatus;
  decidedBy: string;
  projectId: string | null;
};

/** Decides about a request that waits; answers its address, or null where none waits. */
export const decideRequest = async (
  tx: Tx,
  { requestId, status, decidedBy, projectId }: Decision,
): Promise<string | null> => {
  const row = await tx.maybeOne(sql.type(Decided)`
    update admin.access_requests
    set status = ${status}, decided_at = now(), decided_by = ${decidedBy}, project_id = ${projectId}
    where access_request_id = ${requestId} and status = 'waiting'
    returning email
  `);
  return row?.email ?? null;
};
