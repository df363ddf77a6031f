import type { Config } from '../config.ts';
import type { Keys } from './keys.ts';

/** The two roles that the service runs under. Neither owns the schema, neither passes row-level security. */
export const ROLES = ['trunkline_runtime', 'trunkline_queue'] as const;
export type Role = (typeof ROLES)[number];

const purposes = {
  trunkline_runtime: 'runtime-role-password',
  trunkline_queue: 'queue-role-password',
} as const;

/** The role's password: it follows from MASTER_KEY, and each `migrate` sets it. */
export const passwordOf = (keys: Keys, role: Role): string =>
  keys.of(purposes[role]).toString('base64url');

/** Where a role works: a database's URL, with the role's credentials in place of any other. */
export const urlFor = (databaseUrl: string, keys: Keys, role: Role): string => {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = passwordOf(keys, role);
  return url.href;
};

/** Where requests and jobs work: sees one project at a time. */
export const runtimeUrl = (databaseUrl: string, keys: Keys): string =>
  urlFor(databaseUrl, keys, 'trunkline_runtime');

/** Where the queue lives: owns its tables, and sees ids of work across projects. */
export const queueUrl = ({
  config,
  keys,
}: {
  config: Pick<Config, 'databaseUrl'>;
  keys: Keys;
}): string => urlFor(config.databaseUrl, keys, 'trunkline_queue');
