import { randomBytes } from 'node:crypto';
import type { Scope } from '../base/db.ts';
import { seal, unseal } from '../base/sealing.ts';
import { findDataKey, insertDataKey } from './queries.ts';

const DATA_KEY_BYTES = 32;
const FORMAT = 'v1';

const dataKeyContext = (projectId: string, version: number) =>
  `${FORMAT}/${projectId}/data-key/${version}`;

const unwrap = (scope: Scope, version: number, wrapped: Buffer): Buffer =>
  unseal(scope.keys.of('credentials'), dataKeyContext(scope.projectId, version), wrapped);

/** The project's data key: random, wrapped by a key that is not in the database. Made at first use. */
const dataKey = async (
  scope: Scope,
  version: number | null,
): Promise<{ version: number; key: Buffer }> => {
  const known = await findDataKey(scope, version);
  if (known)
    return { version: known.key_version, key: unwrap(scope, known.key_version, known.wrapped_key) };
  if (version !== null) throw new Error(`there is no data key of version ${version}`);

  const first = 1;
  const context = dataKeyContext(scope.projectId, first);
  await insertDataKey(
    scope,
    first,
    seal(scope.keys.of('credentials'), context, randomBytes(DATA_KEY_BYTES)),
  );
  return dataKey(scope, null);
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
