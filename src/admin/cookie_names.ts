// The names of a session's two halves: shared with the Console, the typed client and the command line, so this file
// imports nothing.

export type CookieName = 'session' | 'device';

/**
 * Returns the cookies' names at an address. With https browsers keep a `__Host-` cookie from every other host and path.
 * Over plain http not all browsers store one, so the names have no prefix there.
 */
export const cookieNames = (url: string): Readonly<Record<CookieName, string>> => {
  const prefix = url.startsWith('https:') ? '__Host-' : '';
  return { session: `${prefix}trunkline_session`, device: `${prefix}trunkline_device` };
};

/** The header with the second half of a session, which no cookie holds. */
export const PROOF_HEADER = 'Trunkline-Session-Proof';

const SESSION = /(_session=[\w-]+)\.([\w-]+)/;

/** Returns the headers of a session that is one text: its token in the cookie, and its proof in a header of its own. */
export const inHalves = (session: string): Record<string, string> => {
  const [, , proof] = SESSION.exec(session) ?? [];
  return {
    cookie: session.replace(SESSION, '$1'),
    ...(proof === undefined ? {} : { [PROOF_HEADER]: proof }),
  };
};
