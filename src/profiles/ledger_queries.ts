import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const LedgerRow = z.strictObject({
  erasure_id: z.uuid(),
  profile_id: z.uuid(),
  requested_at: z.date(),
  hashes: z.array(z.instanceof(Buffer)),
});
export type LedgerRow = z.output<typeof LedgerRow>;

/** Erasures with the hashes of what their people were known by, in the order of their ids. */
export const listLedgerRows = ({ tx, projectId }: Scope, after: string | null, limit: number) => {
  const later = after === null ? sql.fragment`` : sql.fragment`and erasure.erasure_id > ${after}`;
  return tx.any(sql.type(LedgerRow)`
    select erasure.erasure_id, erasure.profile_id, erasure.requested_at,
      array_agg(tombstone.identifier_hash order by tombstone.identifier_hash) as hashes
    from profiles.erasures as erasure
    join profiles.tombstones as tombstone
      on tombstone.project_id = erasure.project_id and tombstone.erasure_id = erasure.erasure_id
    where erasure.project_id = ${projectId} and tombstone.project_id = ${projectId} ${later}
    group by erasure.erasure_id, erasure.profile_id, erasure.requested_at
    order by erasure.erasure_id
    limit ${limit}
  `);
};
