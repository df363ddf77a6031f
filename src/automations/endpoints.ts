import { randomBytes } from 'node:crypto';
import type { Scope } from '../base/db.ts';
import {
  expireSecrets,
  findEndpoint,
  holdEndpoint,
  insertEndpoint,
  insertSecret,
  listSecrets,
} from './endpoint_queries.ts';
import type { EndpointRow, NewEndpointRow, SecretRow } from './endpoint_queries.ts';

/** How long an endpoint is still told with a secret after another has taken its place. */
export const SECRET_OVERLAP_HOURS = 24;
/** With how many secrets a call is signed at most: the newest of those that have not run out. */
export const SECRETS_MAX = 5;
/** As strong as the digest that it keys. */
const SECRET_BYTES = 32;
/** By which the Standard Webhooks scheme knows a secret. */
const PREFIX = 'whsec_';

type Place = { recordId: string; field: string };
type Sealed = { keyVersion: number; sealed: Buffer };

/** Where secrets are kept: the providers' room has it, and whoever composes rooms hands it in. */
export type Vault = {
  seal: (scope: Scope, place: Place, plain: string) => Promise<Sealed>;
  open: (scope: Scope, place: Place, sealed: Sealed) => Promise<string>;
};

const placeOf = (endpointId: string, secretId: string): Place => ({
  recordId: `webhook-endpoints/${endpointId}`,
  field: secretId,
});

const open = (
  scope: Scope,
  vault: Vault,
  endpointId: string,
  { secret_id, key_version: keyVersion, sealed }: SecretRow,
): Promise<string> => vault.open(scope, placeOf(endpointId, secret_id), { keyVersion, sealed });

const addSecret = async (
  scope: Scope,
  vault: Vault,
  endpointId: string,
  secretId: string,
): Promise<void> => {
  const secret = PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  const sealed = await vault.seal(scope, placeOf(endpointId, secretId), secret);
  await insertSecret(scope, endpointId, { secretId, ...sealed });
};

/** What calls of an endpoint are signed with, the newest first. */
export const openSecrets = async (
  scope: Scope,
  vault: Vault,
  endpointId: string,
): Promise<string[]> => {
  const secrets: string[] = [];
  for (const row of await listSecrets(scope, endpointId))
    secrets.push(await open(scope, vault, endpointId, row));
  return secrets;
};

/** An endpoint with one of its secrets in the clear; null when either is gone. */
export const findWithSecret = async (
  scope: Scope,
  vault: Vault,
  named: { endpointId: string; secretId: string },
): Promise<{ endpoint: EndpointRow; secret: string } | null> => {
  const endpoint = await findEndpoint(scope, named.endpointId);
  const rows = await listSecrets(scope, named.endpointId);
  const row = rows.find(({ secret_id }) => secret_id === named.secretId);
  if (!endpoint || !row) return null;
  return { endpoint, secret: await open(scope, vault, named.endpointId, row) };
};

/** Makes an endpoint with its first secret, which has the endpoint's id. The same again changes nothing. */
export const createEndpoint = async (
  scope: Scope,
  vault: Vault,
  given: NewEndpointRow,
): Promise<void> => {
  const { endpointId } = given;
  if (await findEndpoint(scope, endpointId)) return;
  await insertEndpoint(scope, given);
  await addSecret(scope, vault, endpointId, endpointId);
};

/**
 * Gives an endpoint another secret. Calls are signed with both until the old one has run out, so whoever is told may
 * change over when they like. The same secret again changes nothing.
 */
export const rotateSecret = async (
  scope: Scope,
  vault: Vault,
  { endpointId, secretId }: { endpointId: string; secretId: string },
): Promise<void> => {
  await holdEndpoint(scope, endpointId);
  const known = await listSecrets(scope, endpointId);
  if (known.some(({ secret_id }) => secret_id === secretId)) return;
  await expireSecrets(scope, endpointId, {
    hours: SECRET_OVERLAP_HOURS,
    keptMax: SECRETS_MAX - 1,
  });
  await addSecret(scope, vault, endpointId, secretId);
};
