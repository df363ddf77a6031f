import type { Issue } from '../base/refusal.ts';
import { findHalfLogins } from './login.ts';
import type { ProviderKind } from './settings.ts';

/** The fields that each kind of provider has besides the common ones. A record needs all of them but an SMTP login. */
export const KIND_FIELDS = {
  smtp: ['smtp_host', 'smtp_port', 'smtp_secure', 'username', 'password'],
  relay_api: ['api_key'],
  cloud_api: ['region', 'access_key_id', 'secret_access_key'],
} as const satisfies Record<ProviderKind, readonly string[]>;

/** The fields that a kind of provider may have besides those. */
const OPTIONAL_FIELDS: Partial<Record<ProviderKind, readonly string[]>> = {
  smtp: ['bounce_mailbox'],
};

const LOGIN_FIELDS: readonly string[] = ['username', 'password'];

type Given = { provider: ProviderKind; username?: unknown; password?: unknown } & Partial<
  Record<string, unknown>
>;

/** Returns an issue for each given field that belongs to another kind. */
export const findStrangers = (given: Given): Issue[] => {
  const own: readonly string[] = [
    ...KIND_FIELDS[given.provider],
    ...(OPTIONAL_FIELDS[given.provider] ?? []),
  ];
  return [...Object.values(KIND_FIELDS), ...Object.values(OPTIONAL_FIELDS)]
    .flat()
    .filter((name) => given[name] !== undefined && !own.includes(name))
    .map((name) => ({ path: `/${name}`, message: `not of a ${given.provider} provider` }));
};

/** Returns every fault of a new record: fields of another kind, missing ones, and half a login. */
export const findFaults = (given: Given): Issue[] => {
  const missing = KIND_FIELDS[given.provider].filter(
    (name) => given[name] === undefined && !LOGIN_FIELDS.includes(name),
  );
  return [
    ...findStrangers(given),
    ...missing.map((name) => ({ path: `/${name}`, message: `needed for ${given.provider}` })),
    ...findHalfLogins(given),
  ];
};
