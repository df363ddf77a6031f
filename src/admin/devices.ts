import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { isIssued, issueToken } from '../base/issued_tokens.ts';
import type { Keys } from '../base/keys.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import * as queries from './device_queries.ts';
import type { KnownDevice } from './device_queries.ts';

/** A browser counts as known for so long after its last sign-in, and so many of one account do. */
export const DEVICE_DAYS = 180;
export const DEVICES_PER_ACCOUNT_MAX = 20;
/** How many accounts a browser is a known device of. The one that signed in longest ago makes room. */
export const ACCOUNTS_PER_DEVICE_MAX = 5;
const SEPARATOR = '.';

type DeviceDeps = Pick<Deps, 'db' | 'keys'>;

/** Returns the tokens of a device cookie: one for each account that signed in from the browser. */
const readTokens = (cookie: string | null): string[] =>
  (cookie ?? '').split(SEPARATOR, ACCOUNTS_PER_DEVICE_MAX);

/** Returns the token of an account, whose tag names the account; null where the cookie has none. */
const findToken = (keys: Keys, cookie: string | null, account: string): string | null =>
  readTokens(cookie).find((token) => isIssued(keys, 'device', token, account)) ?? null;

const hashOf = (keys: Keys, token: string): Buffer => keys.hash('device', token);

export type Presented = { email: string; address: string; deviceCookie: string | null };

/**
 * Returns the device from which this account signed in before; null for every other. A made-up token, and the token of
 * another account, cost no statement.
 */
export const findKnownDevice = async (
  deps: DeviceDeps & Parameters<typeof tokenLookupsOf>[0],
  { email, address, deviceCookie }: Presented,
): Promise<KnownDevice | null> => {
  const { db, keys } = deps;
  const account = normaliseEmail(email);
  const token = findToken(keys, deviceCookie, account);
  if (token === null) return null;
  const deviceHash = hashOf(keys, token);
  const lookup = { digest: deviceHash.toString('base64'), address, isIssued: true };
  return tokenLookupsOf(deps).find({ kind: 'device', ...lookup }, () =>
    queries.findKnownDevice(db, deviceHash, account),
  );
};

export type Remembered = { deviceId: string; cookie: string };

/**
 * Makes the browser of a sign-in a known device of the account. Returns the id of the device and its new cookie. The
 * account's token in the old cookie ends: a token that another person put there is worthless. The tokens of other
 * accounts stay, and so do their ids, under which wrong passwords count.
 */
export const rememberDevice = async (
  { db, keys }: DeviceDeps,
  { personId, email }: { personId: string; email: string },
  oldCookie: string | null,
): Promise<Remembered> => {
  const account = normaliseEmail(email);
  const oldToken = findToken(keys, oldCookie, account);
  const token = issueToken(keys, 'device', account);
  const deviceId = await queries.rememberDevice(db, {
    personId,
    oldHash: oldToken === null ? null : hashOf(keys, oldToken),
    newHash: hashOf(keys, token),
    livesForDays: DEVICE_DAYS,
    devicesMax: DEVICES_PER_ACCOUNT_MAX,
  });
  const others = readTokens(oldCookie).filter((one) => one !== '' && one !== oldToken);
  const cookie = [token, ...others].slice(0, ACCOUNTS_PER_DEVICE_MAX).join(SEPARATOR);
  return { deviceId, cookie };
};
