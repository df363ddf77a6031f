import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { IDENTIFIER_KINDS } from '../identity/identity.ts';

const Member = z.strictObject({
  profile_id: z.uuid(),
  identity_id: z.uuid(),
  /** The profile that it has without links. */
  own_profile_id: z.uuid(),
  kind: z.enum(IDENTIFIER_KINDS),
  value: z.string(),
});

/** Every identity of some profiles, without those that are being erased. */
export const listMembers = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.any(sql.type(Member)`
    select profile_id, identity_id, own_profile_id, kind, value from identity.identities
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and erasure_id is null
    order by kind desc, value
  `);
