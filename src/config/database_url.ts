import { z } from 'zod';

/** Parameters of a URL that node-postgres and libpq prefer to what stands before the host. */
const CREDENTIAL_PARAMETERS = ['user', 'password'];

const hasCredentialParameters = (text: string): boolean => {
  const parameters = URL.parse(text)?.searchParams;
  return CREDENTIAL_PARAMETERS.some((name) => parameters?.has(name));
};

/** A connection URL. Its credentials have one place, so that removing them there removes them all. */
export const postgresUrl = z
  .url({
    protocol: /^postgres(ql)?$/,
    error: 'postgres://user:password@host:5432/database',
  })
  .refine((text) => !hasCredentialParameters(text), {
    error: 'user and password stand before the host, not among the parameters',
  });

/** Returns the same URL without user and password. */
export const withoutCredentials = (text: string): string => {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href;
};

/** Splits a URL for programs that get the password in PGPASSWORD: arguments are visible to every user, in `ps`. */
export const splitPassword = (text: string): { url: string; password: string } => {
  const url = new URL(text);
  const password = decodeURIComponent(url.password);
  url.password = '';
  return { url: url.href, password };
};

/** Settings that the service does not need, and that give whoever reads its environment the rights of the owner. */
export const findNeedlessCredentials = (env: NodeJS.ProcessEnv): string[] =>
  [
    env['OWNER_DATABASE_URL'] === undefined ? '' : 'OWNER_DATABASE_URL',
    ...['DATABASE_URL', 'DATABASE_POOL_URL'].filter(
      (name) => (URL.parse(env[name] ?? '')?.password ?? '') !== '',
    ),
  ].filter(Boolean);
