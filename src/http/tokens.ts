import { parseJson } from '../base/json.ts';

const BEARER = /^Bearer +([A-Za-z0-9_]{1,100}) *$/i;
const BASIC = /^Basic +([A-Za-z0-9+/=]{1,300}) *$/i;
const TOKEN = /^[A-Za-z0-9_]{1,100}$/;

/** The token of a request that carries one as everybody should. */
export const readBearer = (authorization: string): string | undefined =>
  BEARER.exec(authorization)?.[1];

const readUserName = (authorization: string): string | undefined => {
  const [, encoded] = BASIC.exec(authorization) ?? [];
  return encoded && Buffer.from(encoded, 'base64').toString().split(':')[0];
};

/** `writeKey` of a body, where it is JSON and has one. A body without that name is not parsed. */
const findWriteKey = (bytes: Buffer): string | undefined => {
  if (!bytes.includes('"writeKey"')) return undefined;
  try {
    const { writeKey } = parseJson(bytes) as { writeKey?: unknown };
    return typeof writeKey === 'string' ? writeKey : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The token of a request of another library: as above, as the user name of Basic, or, where no header says anything,
 * in the body. That is the one case in which a body is read before its sender is known.
 */
export const readWriteKey = async (
  authorization: string,
  readBody: () => Promise<Buffer>,
): Promise<string | undefined> => {
  const given = authorization === '' ? findWriteKey(await readBody()) : readUserName(authorization);
  return readBearer(authorization) ?? (given && TOKEN.test(given) ? given : undefined);
};
