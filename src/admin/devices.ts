import { randomBytes } from 'node:crypto';
import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { Refusal } from '../base/refusal.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import { isKnownDevice, rememberDevice as remember } from './device_queries.ts';

/** A browser counts as known for so long after its last sign-in, and so many of one account do. */
export const DEVICE_DAYS = 180;
export const DEVICES_PER_ACCOUNT_MAX = 20;
const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^[\w-]{43}$/;

type DeviceDeps = Pick<Deps, 'db' | 'keys'>;

/** Returns the keyed hash of a device token, or null for what is none. */
export const deviceHashOf = ({ keys }: Pick<Deps, 'keys'>, token: string | null): Buffer | null =>
  token !== null && TOKEN_SHAPE.test(token) ? keys.hash('device', token) : null;

type Presented = { email: string; address: string; deviceToken: string | null };

/**
 * Returns the hash of a device that signed in to this account before; null for every other. A device whose address
 * sends too many unknown ones is a stranger's, without a statement.
 */
export const findKnownDevice = async (
  deps: DeviceDeps & Parameters<typeof tokenLookupsOf>[0],
  { email, address, deviceToken }: Presented,
): Promise<Buffer | null> => {
  const deviceHash = deviceHashOf(deps, deviceToken);
  if (deviceHash === null) return null;
  const account = normaliseEmail(email);
  const digest = `device ${deviceHash.toString('base64')} ${account}`;
  const find = async () =>
    (await isKnownDevice(deps.db, deviceHash, account)) ? deviceHash : null;
  return tokenLookupsOf(deps)
    .find({ digest, address }, find)
    .catch((error: unknown) => {
      if (error instanceof Refusal) return null;
      throw error;
    });
};

/**
 * Makes the browser of a sign-in a known device of the account; returns its new token, which only the cookie holds.
 * The token that it brought ends for all accounts of the browser: a token that another person put there is worthless.
 */
export const rememberDevice = async (
  deps: DeviceDeps,
  personId: string,
  oldToken: string | null,
): Promise<string> => {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await remember(deps.db, {
    personId,
    oldHash: deviceHashOf(deps, oldToken),
    newHash: deps.keys.hash('device', token),
    livesForDays: DEVICE_DAYS,
    devicesMax: DEVICES_PER_ACCOUNT_MAX,
  });
  return token;
};
