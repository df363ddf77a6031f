import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Word = z.strictObject({
  identity_id: z.uuid(),
  key: z.string(),
  value: z.json(),
  set_at: z.date(),
  authority: z.enum(['publishable', 'server']),
});
/** What an identity was told of one trait. */
export type Word = z.output<typeof Word>;

/** What some identities were told, of each trait first the word that counts: as `profiles.fold_profile` ranks them. */
export const listWordsByRank = ({ tx, projectId }: Scope, identityIds: readonly string[]) =>
  tx.any(sql.type(Word)`
    select identity_id, key, value, set_at, authority from profiles.traits
    where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
    order by key, authority = 'server' desc, set_at desc, value::text collate "C" desc, identity_id
  `);
