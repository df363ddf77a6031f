import { createTRPCClient, httpBatchLink } from '@trpc/client';
import type { HTTPBatchLinkOptions, TRPCClient } from '@trpc/client';
import { cookieNames, inHalves } from './cookie_names.ts';
import type { AppRouter } from './router.ts';

export type AdminClient = TRPCClient<AppRouter>;
export type { AppRouter };

type Fetch = NonNullable<HTTPBatchLinkOptions<AppRouter['_def']['_config']['$types']>['fetch']>;

export type AdminClientOptions = {
  /** Where the installation is, such as `https://trunkline.example.com`. */
  url: string;
  /** The session, as `openSession` returned it: its cookie and, after a dot, its proof. Nothing else keeps it here. */
  cookie?: string;
  fetch?: Fetch;
};

/** As many as the server takes in one request, and short enough for every proxy. */
const BATCH_CALLS_MAX = 20;
const URL_CHARS_MAX = 4_000;

/** Creates a typed client of the admin API. Calls made in the same moment share a request. */
export const createAdminClient = ({ url, cookie, fetch }: AdminClientOptions): AdminClient =>
  createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: new URL('/admin/trpc', url),
        maxItems: BATCH_CALLS_MAX,
        maxURLLength: URL_CHARS_MAX,
        // A cookie is only believed together with the installation's own origin.
        headers: cookie === undefined ? {} : { ...inHalves(cookie), origin: new URL(url).origin },
        ...(fetch === undefined ? {} : { fetch }),
      }),
    ],
  });

/** Ask for `remember_device` only in a program that keeps the `device` of each session: an account has 20 places. */
export type AdminLogin = { email: string; password: string; remember_device?: boolean };
/**
 * `cookie` is for `createAdminClient`, until `expiresAt`. `device` is the cookie of this program as a known device:
 * with it, the wrong passwords of strangers do not block the next `openSession`. Null without `remember_device`.
 */
export type AdminSession = { cookie: string; device: string | null; expiresAt: Date };

/** Returns one cookie of an answer, and for how many seconds it counts. */
const findCookie = (lines: readonly string[], name: string) => {
  const line = lines.find((one) => one.startsWith(`${name}=`)) ?? '';
  const [, cookie, seconds] = /^([^;]+);.*\bMax-Age=(\d+)/.exec(line) ?? [];
  return cookie === undefined ? null : { cookie, seconds: Number(seconds) };
};

/**
 * Signs a person in, as the Console's page does. `cookie` may hold the `cookie` and the `device` of earlier sign-ins,
 * joined by `; `: the earlier session ends, and the device is known.
 */
export const openSession = async (
  { fetch: ask = globalThis.fetch as Fetch, ...options }: AdminClientOptions,
  login: AdminLogin,
): Promise<AdminSession> => {
  let lines: string[] = [];
  const watching: Fetch = async (to, init) => {
    const answer = await ask(to, init);
    lines = (answer as Response).headers.getSetCookie();
    return answer;
  };
  const client = createAdminClient({ ...options, fetch: watching });
  const { proof } = await client.session.signIn.mutate(login);
  const names = cookieNames(options.url);
  const session = findCookie(lines, names.session);
  if (session === null) throw new Error('the answer has no session');
  const expiresAt = new Date(Date.now() + session.seconds * 1_000);
  return {
    cookie: `${session.cookie}.${proof}`,
    device: findCookie(lines, names.device)?.cookie ?? null,
    expiresAt,
  };
};
