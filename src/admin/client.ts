import { createTRPCClient, httpBatchLink } from '@trpc/client';
import type { HTTPBatchLinkOptions, TRPCClient } from '@trpc/client';
import type { AppRouter } from './router.ts';

export type AdminClient = TRPCClient<AppRouter>;
export type { AppRouter };

type Fetch = NonNullable<HTTPBatchLinkOptions<AppRouter['_def']['_config']['$types']>['fetch']>;

export type AdminClientOptions = {
  /** Where the installation is, such as `https://trunkline.example.com`. */
  url: string;
  /** The session cookie, `trunkline_session=…`, where no browser keeps it: `openSession` answers one. */
  cookie?: string;
  fetch?: Fetch;
};

/** As many as the server takes in one request, and short enough for every proxy. */
const BATCH_CALLS_MAX = 20;
const URL_CHARS_MAX = 4_000;

/** A typed client of the admin API. Calls made in the same moment share a request. */
export const createAdminClient = ({ url, cookie, fetch }: AdminClientOptions): AdminClient =>
  createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: new URL('/admin/trpc', url),
        maxItems: BATCH_CALLS_MAX,
        maxURLLength: URL_CHARS_MAX,
        // A cookie is only believed together with the installation's own origin.
        headers: cookie === undefined ? {} : { cookie, origin: new URL(url).origin },
        ...(fetch === undefined ? {} : { fetch }),
      }),
    ],
  });

export type AdminLogin = { email: string; password: string };
export type AdminSession = { cookie: string; expiresAt: Date };

/**
 * Signs somebody in, as the Console's page does; answers the cookie for `createAdminClient`, and until when it counts.
 * With the cookie of an older session, that one ends.
 */
export const openSession = async (
  { fetch: ask = globalThis.fetch as Fetch, ...options }: AdminClientOptions,
  login: AdminLogin,
): Promise<AdminSession> => {
  let given: string | undefined;
  const watching: Fetch = async (to, init) => {
    const answer = await ask(to, init);
    given = (answer as Response).headers.getSetCookie()[0];
    return answer;
  };
  await createAdminClient({ ...options, fetch: watching }).session.signIn.mutate(login);
  const [, cookie, seconds] = /^([^;]+);.*\bMax-Age=(\d+)/.exec(given ?? '') ?? [];
  if (cookie === undefined) throw new Error('the answer has no session');
  return { cookie, expiresAt: new Date(Date.now() + Number(seconds) * 1_000) };
};
