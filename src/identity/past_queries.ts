import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { IDENTIFIER_KINDS } from './queries.ts';

const PastIdentity = z.strictObject({
  identity_id: z.uuid(),
  kind: z.enum(IDENTIFIER_KINDS),
  value: z.string(),
  /** Of which profile it is whenever it is linked to nobody; of today's otherwise. */
  own_profile_id: z.uuid(),
  profile_id: z.uuid(),
});
export type PastIdentity = z.output<typeof PastIdentity>;

const columns = sql.fragment`identity_id, kind, value, own_profile_id, profile_id`;

/** Some identities, without those that are being erased. */
export const listByIds = ({ tx, projectId }: Scope, identityIds: readonly string[]) =>
  tx.any(sql.type(PastIdentity)`
    select ${columns} from identity.identities
    where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
    and erasure_id is null
  `);

/** The identities of some profiles of today. */
export const listByProfiles = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.any(sql.type(PastIdentity)`
    select ${columns} from identity.identities
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and erasure_id is null
  `);

const PastLink = z.strictObject({
  link_id: z.uuid(),
  anonymous_identity_id: z.uuid(),
  external_identity_id: z.uuid(),
  created_at: z.date(),
  undone_at: z.date().nullable(),
  /** The link that this one replaced: it is active again once this one is undone, unless it was undone by itself. */
  replaces: z.uuid().nullable(),
});
export type PastLink = z.output<typeof PastLink>;

/** Every link that some identities ever had, on either side. */
export const listLinksEver = ({ tx, projectId }: Scope, identityIds: readonly string[]) => {
  const ids = sql.array([...identityIds], 'uuid');
  return tx.any(sql.type(PastLink)`
    select link_id, anonymous_identity_id, external_identity_id, created_at, undone_at, replaces from identity.links
    where project_id = ${projectId} and status <> 'refused'
    and (anonymous_identity_id = any (${ids}) or external_identity_id = any (${ids}))
    order by link_id
  `);
};
