import { Refusal } from '../base/refusal.ts';
import { cookieNames } from './cookie_names.ts';
import type { CookieName } from './cookie_names.ts';

const SECONDS_PER_DAY = 24 * 60 * 60;

/**
 * Returns the Set-Cookie line of a token, or of the end of one. Host-only, for pages of this origin only, and out of
 * reach of scripts; with https `Secure`, which the `__Host-` prefix requires (RFC 6265bis §4.1.3.2).
 */
export const toSetCookie = (
  publicUrl: string,
  name: CookieName,
  { token, days }: { token: string | null; days: number },
): string =>
  [
    `${cookieNames(publicUrl)[name]}=${token ?? ''}`,
    `Max-Age=${token === null ? 0 : days * SECONDS_PER_DAY}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(publicUrl.startsWith('https:') ? ['Secure'] : []),
  ].join('; ');

/** Returns the values of all cookies of one name, exactly as they were sent. */
const listValues = (header: string, name: string): string[] =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));

/**
 * Reads one cookie of a Cookie header. Refuses several of one name: a page of a sibling domain can add one of its own
 * over http, and no order says which of them this origin set.
 */
export const readCookie = (publicUrl: string, header: string, name: CookieName): string | null => {
  const values = listValues(header, cookieNames(publicUrl)[name]);
  if (values.length <= 1) return values[0] ?? null;
  throw new Refusal('invalid_request', {
    detail: `The browser sent ${values.length} ${name} cookies. Delete the cookies of this site, then sign in again.`,
  });
};
