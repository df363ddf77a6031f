import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

type Place = { recordId: string; field: string };
type Sealed = { keyVersion: number; sealed: Buffer };

/** Where secrets are kept: the providers' room has it, and this room's door hands it in. */
export type Vault = {
  seal: (scope: Scope, place: Place, plain: string) => Promise<Sealed>;
  open: (scope: Scope, place: Place, sealed: Sealed) => Promise<string>;
};

const Row = z.strictObject({
  key_version: z.int(),
  sealed: z.instanceof(Buffer),
  set_at: z.date(),
});

const placeOf = (source: string): Place => ({
  recordId: `webhooks/${source}`,
  field: 'signing_key',
});

const findRow = ({ tx, projectId }: Scope, source: string) =>
  tx.maybeOne(sql.type(Row)`
    select key_version, sealed, set_at from feedback.signing_keys
    where project_id = ${projectId} and source = ${source}
  `);

/** When the key was set that a provider signs with; null when there is none. */
export const findKeySetAt = async (scope: Scope, source: string): Promise<Date | null> =>
  (await findRow(scope, source))?.set_at ?? null;

/** The key that a provider signs with, or null. */
export const findSigningKey = async (
  scope: Scope,
  vault: Vault,
  source: string,
): Promise<string | null> => {
  const row = await findRow(scope, source);
  if (!row) return null;
  return vault.open(scope, placeOf(source), { keyVersion: row.key_version, sealed: row.sealed });
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Keeps the key that a provider signs with, sealed. The same key again changes nothing. */
export const setSigningKey = async (
  scope: Scope,
  vault: Vault,
  { source, key }: { source: string; key: string },
): Promise<void> => {
  const known = await findSigningKey(scope, vault, source);
  if (known !== null && timingSafeEqual(digest(known), digest(key))) return;
  const { keyVersion, sealed } = await vault.seal(scope, placeOf(source), key);
  const { tx, projectId } = scope;
  await tx.query(sql.unsafe`
    insert into feedback.signing_keys (project_id, source, key_version, sealed, set_at)
    values (${projectId}, ${source}, ${keyVersion}, ${sql.binary(sealed)}, now())
    on conflict on constraint signing_keys_pkey do update
    set key_version = excluded.key_version, sealed = excluded.sealed, set_at = excluded.set_at
  `);
};

/** Removes the key that a provider signs with. Where there is none it changes nothing. */
export const deleteSigningKey = ({ tx, projectId }: Scope, source: string) =>
  tx.query(sql.unsafe`
    delete from feedback.signing_keys where project_id = ${projectId} and source = ${source}
  `);
