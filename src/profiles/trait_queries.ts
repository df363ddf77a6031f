import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { TRAIT_KEYS_MAX, TRAITS_BYTES_MAX } from './traits.ts';

export type NewTraits = {
  identityId: string;
  traits: Record<string, z.core.util.JSONType>;
  setAt: Date;
  /** Which browser asserted it; null where it did not say, or a server said it. */
  browserKey: Buffer | null;
};

const Readdressed = z.strictObject({
  changed_id: z.uuid(),
  new_email: z.string().nullable(),
});
/** A person whose address changed. */
export type Readdressed = z.output<typeof Readdressed>;
const Changed = z.union([
  Readdressed.extend({ full_id: z.null() }),
  z.strictObject({ full_id: z.uuid(), changed_id: z.null(), new_email: z.null() }),
]);

/**
 * Changes traits of identities of different people by one authority, in the order of all locks. Returns the people whose
 * address changed, and the identities that are full, of which nothing was kept.
 */
export const changeTraits = (
  { tx, projectId }: Scope,
  authority: 'publishable' | 'server',
  changes: readonly NewTraits[],
) => {
  const column = (read: (change: NewTraits) => string | null, type: string) =>
    sql.array(changes.map(read), type);
  return tx.any(sql.type(Changed)`
    select full_id, changed_id, new_email
    from profiles.change_traits_of(
      project_id => ${projectId},
      identity_ids => ${column(({ identityId }) => identityId, 'uuid')},
      traits => ${column(({ traits }) => JSON.stringify(traits), 'jsonb')},
      set_ats => ${column(({ setAt }) => setAt.toISOString(), 'timestamptz')},
      authority => ${authority},
      at => now(),
      traits_max => ${TRAIT_KEYS_MAX},
      bytes_max => ${TRAITS_BYTES_MAX},
      browser_keys => array(
        select decode(asserted.browser_key, 'hex')
        from unnest(${column(({ browserKey }) => browserKey?.toString('hex') ?? null, 'text')})
          with ordinality as asserted (browser_key, place)
        order by asserted.place
      )
    )
  `);
};

/** Folds a profile anew. Returns it if its address changed. */
export const foldProfile = ({ tx, projectId }: Scope, profileId: string) =>
  tx.any(sql.type(Readdressed)`
    select profile_id as changed_id, new_email
    from profiles.fold_profiles(
      project_id => ${projectId}, profile_ids => array[${profileId}::uuid], at => now()
    )
  `);
