import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';

const Unseen = z.strictObject({
  identity_id: z.uuid(),
  value: z.string(),
  profile_id: z.uuid(),
  is_unseen: z.boolean(),
});
export type Unseen = z.output<typeof Unseen>;

/**
 * Lists the next identities that were made before a moment, the oldest first, and says which are anonymous, alone and
 * not seen since.
 */
export const listAnonymous = (
  { tx, projectId }: Scope,
  { before, after, limit }: { before: Date; after: string; limit: number },
) =>
  tx.any(sql.type(Unseen)`
    select identity_id, value, profile_id,
      kind = 'anonymous' and profile_id = own_profile_id and erasure_id is null
        and coalesce(greatest(last_seen_at, observed_at) < ${before.toISOString()}::timestamptz, true) as is_unseen
    from identity.identities
    where project_id = ${projectId} and identity_id > ${after} and identity_id < ${firstIdAt(before)}
    order by identity_id
    limit ${limit}
  `);

/**
 * Locks those of some anonymous identities that still are alone, not seen and in no link of any kind, so that no
 * transaction begins work for them. Leaves out identities that others have locked.
 */
export const lockAnonymous = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  before: Date,
) =>
  tx.any(sql.type(Unseen)`
    select known.identity_id, known.value, known.profile_id, true as is_unseen
    from identity.identities as known
    where known.project_id = ${projectId} and known.identity_id = any (${sql.array([...identityIds], 'uuid')})
    and known.kind = 'anonymous' and known.profile_id = known.own_profile_id and known.erasure_id is null
    and coalesce(greatest(known.last_seen_at, known.observed_at) < ${before.toISOString()}::timestamptz, true)
    and not exists (
      select from identity.identities as other
      where other.project_id = ${projectId} and other.profile_id = known.profile_id
      and other.identity_id <> known.identity_id
    )
    and not exists (
      select from identity.links as link
      where link.project_id = ${projectId} and link.anonymous_identity_id = known.identity_id
    )
    order by known.kind, known.value
    for update of known skip locked
  `);
