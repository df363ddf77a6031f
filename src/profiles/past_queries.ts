import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Told = z.strictObject({
  identity_id: z.uuid(),
  key: z.string(),
  value: z.json(),
  set_at: z.date(),
  authority: z.enum(['publishable', 'server']),
});
/** What an identity was told of one trait, as far as it is kept: the word that counts today. */
export type Told = z.output<typeof Told>;

/** What some identities were told. */
export const listTold = ({ tx, projectId }: Scope, identityIds: readonly string[]) =>
  tx.any(sql.type(Told)`
    select identity_id, key, value, set_at, authority from profiles.traits
    where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
  `);

const Now = z.strictObject({ asked_id: z.uuid(), profile_id: z.uuid() });

/** Which profile each of some profiles is today: itself, or the one that it was merged into. */
export const listWentTo = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.any(sql.type(Now)`
    select profile_id as asked_id, coalesce(merged_into, profile_id) as profile_id from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
  `);
