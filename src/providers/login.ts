import { resolveEgress } from '../base/egress.ts';
import { Refusal } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';
import type { Settings } from './settings.ts';
import type { Network } from './transport.ts';

// A relay in the operator's own networks may take email without AUTH. Everywhere else a login is required.

type Login = Partial<Record<'username' | 'password', unknown>>;

const isThere = (value: unknown): boolean => value !== undefined && value !== null;

/** Returns what is missing of a login that has only one half. */
export const findHalfLogins = ({ username, password }: Login): Issue[] => {
  if (isThere(username) === isThere(password)) return [];
  return isThere(username)
    ? [{ path: '/password', message: 'needed with a username' }]
    : [{ path: '/username', message: 'needed with a password' }];
};

/** Returns a changed record with the password removed where the change removes the user name alone. */
export const withoutHalfLogin = <T extends object>(changed: T, change: Login): T =>
  change.username === null && !isThere(change.password) ? { ...changed, password: null } : changed;

const MESSAGE =
  'needed: a relay without a login must have all its addresses inside EGRESS_ALLOW_NETWORKS, which the operator sets';

/** Whether the host of a record without a login may be connected to: all its addresses are inside. */
const mayGoWithoutLogin = async (
  host: string,
  { allowNetworks, nameServers }: Pick<Network, 'allowNetworks' | 'nameServers'>,
): Promise<boolean> => {
  const answer = await resolveEgress(host, allowNetworks, nameServers);
  return answer.kind === 'open' && answer.isInAllowedNetwork;
};

/**
 * Refuses to save a record without a login for any other host, before anything connects. Every connection checks again,
 * because DNS changes.
 */
export const requireLogin = async (settings: Settings, network: Network): Promise<void> => {
  if (settings.provider !== 'smtp') return;
  const issues = findHalfLogins(settings);
  if (issues.length > 0) throw new Refusal('invalid_request', { issues });
  if (settings.username !== null) return;
  if (await mayGoWithoutLogin(settings.smtp_host, network)) return;
  throw new Refusal('invalid_request', {
    issues: ['/username', '/password'].map((path) => ({ path, message: MESSAGE })),
  });
};
