import type { LinkRow } from '../identity/identity.ts';
import type { Link } from './schema.ts';

/** A link as the API shows it. */
export const toLink = (row: LinkRow): Link => ({
  id: row.link_id,
  anonymous_id: row.anonymous_id,
  external_id: row.external_id,
  profile_id: row.profile_id,
  source: row.source,
  key_type: row.key_type,
  status: row.status,
  ...(row.reason === null ? {} : { reason: row.reason }),
  created_at: row.created_at.toISOString(),
  undone_at: row.undone_at?.toISOString() ?? null,
  undone_by: row.undone_by,
});
