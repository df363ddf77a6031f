import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { PASSWORD_CHARS_MAX } from '../base/procedure.ts';

export const PASSWORD_CHARS_MIN = 12;
export { PASSWORD_CHARS_MAX };

export const Password = z
  .string()
  .min(PASSWORD_CHARS_MIN, `at least ${PASSWORD_CHARS_MIN} characters`)
  .max(PASSWORD_CHARS_MAX, `at most ${PASSWORD_CHARS_MAX} characters`);

/** One of the equivalent choices of the OWASP password storage cheat sheet: 32 MiB, three times over. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const STORED = /^scrypt\$N=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/;

/** scrypt (RFC 7914) needs 128 × N × r bytes; Node refuses at its limit, so the limit is twice that. */
const derive = (password: string, salt: Buffer, { N, r, p }: typeof COST): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { N, r, p, maxmem: 256 * N * r };
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

const write = (salt: Buffer, key: Buffer): string =>
  `scrypt$N=${COST.N},r=${COST.r},p=${COST.p}$${salt.toString('base64url')}$${key.toString('base64url')}`;

/** What is stored of a password: the parameters, the salt and the key, so that they can be raised later. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  return write(salt, await derive(password, salt, COST));
};

/** The hash of no password, to compare with when nobody has the address: it takes as long. */
export const NOBODYS_HASH = write(Buffer.alloc(SALT_BYTES), Buffer.alloc(KEY_BYTES));

/** Whether the password is the one that was hashed. Compares in constant time. */
export const isPasswordOf = async (stored: string, password: string): Promise<boolean> => {
  const [, N, r, p, salt = '', key = ''] = STORED.exec(stored) ?? [];
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return timingSafeEqual(derived, Buffer.from(key, 'base64url'));
};
