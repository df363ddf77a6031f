import { isIPv4 } from 'node:net';
import { createAdminClient, openSession } from '../admin/client.ts';
import { cookieNames } from '../admin/cookie_names.ts';
import type { AdminClient, AdminClientOptions, AdminLogin } from '../admin/client.ts';
import type { Given } from './command.ts';
import { Failure, misused } from './failure.ts';
import { findSession, readChoices } from './kept.ts';
import { notTrunkline, toFailure } from './refused.ts';
import type { World } from './terminal.ts';

/** A simulation takes ten seconds, a folder of many templates more. */
const ANSWER_MS_MAX = 180_000;

/** An address as people write it: of the whole only where the service is counts. */
export const readUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw misused(`${text} is no address: say one such as https://trunkline.example.com`);
  if (url.username !== '' || url.password !== '')
    throw misused('An address has no password in it: others see what programs are called with.');
  return url.origin;
};

/** Whether what is sent there leaves this machine, and others can read along. */
const isInTheClear = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return false;
  // An address is in its canonical form here: 127.1 is 127.0.0.1, and 127.example.com is a name.
  const isLoopback = isIPv4(hostname) && hostname.startsWith('127.');
  return !isLoopback && hostname !== '[::1]' && hostname !== 'localhost';
};

/** The installation that is meant. Whatever is sent there is a password or a session: never in the clear unasked. */
export const findUrl = (given: Given, world: World): string => {
  const said = given.text('url') ?? (world.env['TRUNKLINE_URL'] || readChoices(world).url);
  if (said !== undefined) {
    const url = readUrl(said);
    if (!isInTheClear(url) || given.is('insecure')) return url;
    throw misused(
      `${url} is not encrypted: others could read the password and the session.`,
      'Say an address with https://, or --insecure, where the way there is safe.',
    );
  }
  throw misused(
    'Say which installation: --url https://trunkline.example.com, or TRUNKLINE_URL.',
    'trunkline login keeps it.',
  );
};

const fetchOnce =
  (url: string): NonNullable<AdminClientOptions['fetch']> =>
  async (to, init) => {
    const answer = await fetch(to as string, {
      ...(init as RequestInit),
      // A password goes nowhere but where it was meant to.
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    if (answer.status >= 300 && answer.status < 400) {
      const leads = answer.headers.get('location') ?? '';
      const to = URL.canParse(leads, url) ? new URL(leads, url).origin : 'elsewhere';
      const todo = to === url ? [] : [`Is it ${to}? Then say that one.`];
      throw new Failure('unreachable', `${url} leads elsewhere.`, { todo });
    }
    if (/\bjson\b/.test(answer.headers.get('content-type') ?? '')) return answer;
    if (answer.status < 500) throw notTrunkline(url);
    throw new Failure('unreachable', `${url} answers ${answer.status}: the service is not up.`);
  };

/** A session with an installation. */
export type Connection = { url: string; token: string; client: AdminClient };

/** Asks the service; what it refuses is a failure of the command. */
export const ask = async <T>({ url }: { url: string }, call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    throw toFailure(error, url);
  }
};

const connectWith = (url: string, token: string | null): AdminClient =>
  createAdminClient({
    url,
    fetch: fetchOnce(url),
    ...(token === null ? {} : { cookie: `${cookieNames(url).session}=${token}` }),
  });

/** The session of the environment: of its own installation alone, and shown to no other. */
export const findGiven = ({ env }: Pick<World, 'env'>, url: string): string | null => {
  const { TRUNKLINE_SESSION: token = '', TRUNKLINE_URL: of = '' } = env;
  return token !== '' && of !== '' && readUrl(of) === url ? token : null;
};

/**
 * The token of the session that counts: of the environment, else the one that login kept. One of which nobody can tell
 * where it is from is shown to no installation, and to go on as somebody else is not what was meant.
 */
export const findToken = (world: World, url: string): string | null => {
  const { TRUNKLINE_SESSION: token = '', TRUNKLINE_URL: of = '' } = world.env;
  if (token !== '' && of === '')
    throw misused(
      'TRUNKLINE_SESSION is set and TRUNKLINE_URL is not: a session counts at its own installation alone.',
      `Set TRUNKLINE_URL, too: to ${url}, if that is where the session is from.`,
      'Or unset TRUNKLINE_SESSION, and the session counts that trunkline login kept.',
    );
  return findGiven(world, url) ?? findSession(world, url)?.session ?? null;
};

/** The installation that is meant, by somebody who is signed in. */
export const connect = (given: Given, world: World): Connection => {
  const url = findUrl(given, world);
  const token = findToken(world, url);
  if (token === null)
    throw new Failure('signed_out', `You are not signed in at ${url}.`, {
      todo: [
        `trunkline login --url ${url}`,
        ...(world.env['TRUNKLINE_SESSION']
          ? ['TRUNKLINE_SESSION counts at TRUNKLINE_URL alone.']
          : []),
      ],
      said: { error: 'not_signed_in' },
    });
  return { url, token, client: connectWith(url, token) };
};

export type Opened = Connection & { expiresAt: Date; device: string | null };

/** What earlier sign-ins left on this machine: the session ends with the next one, the device stays known. */
export type Earlier = { session: string | null; device: string | null };

/** Signs a person in. */
export const open = (url: string, login: AdminLogin, earlier: Earlier): Promise<Opened> =>
  ask({ url }, async () => {
    const names = cookieNames(url);
    const cookie = (['session', 'device'] as const)
      .filter((name) => earlier[name] !== null)
      .map((name) => `${names[name]}=${earlier[name]}`)
      .join('; ');
    const options = { url, fetch: fetchOnce(url), ...(cookie === '' ? {} : { cookie }) };
    const opened = await openSession(options, login);
    const token = opened.cookie.slice(names.session.length + 1);
    const device = opened.device?.slice(names.device.length + 1) ?? null;
    return { url, token, client: connectWith(url, token), expiresAt: opened.expiresAt, device };
  });
