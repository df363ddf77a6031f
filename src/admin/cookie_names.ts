// The names of the Console's cookies: shared with the typed client and the command line, so it imports nothing.

export type CookieName = 'session' | 'device';

/**
 * Returns the cookies' names at an address. With https browsers keep a `__Host-` cookie from every other host and path.
 * Over plain http not all browsers store one, so the names have no prefix there.
 */
export const cookieNames = (url: string): Readonly<Record<CookieName, string>> => {
  const prefix = url.startsWith('https:') ? '__Host-' : '';
  return { session: `${prefix}trunkline_session`, device: `${prefix}trunkline_device` };
};
