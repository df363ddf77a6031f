import { createTRPCClient, httpBatchLink } from '@trpc/client';
import type { HTTPBatchLinkOptions, TRPCClient } from '@trpc/client';
import type { AppRouter } from './router.ts';

export type AdminClient = TRPCClient<AppRouter>;
export type { AppRouter };

export type AdminClientOptions = {
  /** Where the installation is, such as `https://trunkline.example.com`. */
  url: string;
  /** The session cookie, `trunkline_session=…`, where no browser keeps it. */
  cookie?: string;
  fetch?: NonNullable<HTTPBatchLinkOptions<AppRouter['_def']['_config']['$types']>['fetch']>;
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
