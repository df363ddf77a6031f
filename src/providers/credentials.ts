import { randomBytes } from 'node:crypto';
import type { Scope } from '../base/db.ts';
import { seal, unseal } from '../base/sealing.ts';
import { findDataKey, holdDataKeys, insertDataKey, rewrapDataKey } from './queries.ts';

const DATA_KEY_BYTES = 32;
const FORMAT = 'v1';

const dataKeyContext = (projectId: string, version: number) =>
  `${FORMAT}/${projectId}/data-key/${version}`;

type WrappedKey = { key_version: number; master_version: number; wrapped_key: Buffer };

const unwrap = ({ keys, projectId }: Scope, row: WrappedKey): Buffer => {
  const context = dataKeyContext(projectId, row.key_version);
  return unseal(keys.outer(row.master_version), context, row.wrapped_key);
};

const wrap = ({ keys, projectId }: Scope, version: number, key: Buffer) => {
  const masterVersion = keys.outerVersion;
  const wrappedKey = seal(keys.outer(masterVersion), dataKeyContext(projectId, version), key);
  return { version, masterVersion, wrappedKey };
};

/** The project's data key: random, wrapped by a key that is not in the database. Made at first use. */
const dataKey = async (
  scope: Scope,
  version: number | null,
): Promise<{ version: number; key: Buffer }> => {
  const known = await findDataKey(scope, version);
  if (known) return { version: known.key_version, key: unwrap(scope, known) };
  if (version !== null) throw new Error(`there is no data key of version ${version}`);
  await insertDataKey(scope, wrap(scope, 1, randomBytes(DATA_KEY_BYTES)));
  return dataKey(scope, null);
};

/**
 * Wraps the project's data keys with today's outer key; answers how many. What they sealed stays as it is.
 * Safe to repeat, and while credentials are used: a row always says which key wraps it.
 */
export const rewrapDataKeys = async (scope: Scope): Promise<number> => {
  const old = await holdDataKeys(scope, scope.keys.outerVersion);
  for (const row of old)
    await rewrapDataKey(scope, wrap(scope, row.key_version, unwrap(scope, row)));
  return old.length;
};

/** Where a credential belongs. Sealed for one field of one record, it opens nowhere else. */
export type CredentialPlace = { recordId: string; field: string };

const contextOf = ({ projectId }: Scope, { recordId, field }: CredentialPlace) =>
  `${FORMAT}/${projectId}/${recordId}/${field}`;

export const sealCredential = async (scope: Scope, place: CredentialPlace, plain: string) => {
  const { version, key } = await dataKey(scope, null);
  return { keyVersion: version, sealed: seal(key, contextOf(scope, place), Buffer.from(plain)) };
};

export const openCredential = async (
  scope: Scope,
  place: CredentialPlace,
  { keyVersion, sealed }: { keyVersion: number; sealed: Buffer },
): Promise<string> => {
  const { key } = await dataKey(scope, keyVersion);
  return unseal(key, contextOf(scope, place), sealed).toString();
};
