// What an api serves and a worker does not: the public API, the documents, the SDK, the Console.
import type Router from '@koa/router';
import type Koa from 'koa';
import {
  adminDoor,
  consoleDoor,
  endStreams,
  folderLimits,
  previewDoor,
  signInLimits,
  streamLimits,
} from '../admin/admin.ts';
import { CHUNK_BYTES_MIN, SMALL_CHUNKS_MAX } from '../base/bodies/bodies.ts';
import type { Deps } from '../base/deps.ts';
import { KEPT_HOURS } from '../base/idempotency.ts';
import { PAGE_ITEMS_MAX } from '../base/page.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import { BODY_BYTES_DEFAULT } from '../base/route.ts';
import type { Limit } from '../base/route.ts';
import { testEmailLimits } from '../base/test_emails.ts';
import { inTurns, WAITING_OF_PROJECT_MAX } from '../base/session_turns.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import type { Config } from '../config.ts';
import { timeLimits } from '../ingest/routes.ts';
import * as quotas from '../quotas/quotas.ts';
import { bodyLimits } from './bodies/bodies.ts';
import { HEADER_BYTES_MAX, HEADERS_MAX, TIMEOUTS } from './bounds.ts';
import { PIPELINED_REQUESTS_MAX } from './owed_answers.ts';
import { leadToDocs, mountDocs } from './docs.ts';
import { mountGuides } from './guides.ts';
import { IDEMPOTENCY_KEY_CHARS_MAX } from './idempotency.ts';
import { makeLimits } from './limits.ts';
import { mountRoutes, serveExactPaths } from './mount.ts';
import { startPresence } from './presence.ts';
import { routes } from './routes.ts';
import { mountSdk } from './sdk.ts';
import { mountUnsubscribe, unsubscribeLimits } from './unsubscribe.ts';

export { endStreams };

const OF_WEBHOOKS = 'the webhooks of each project count apart, and each address without a token';

/** What the installation grants, as far as it has a bound; 0 is none. */
const rateLimits = (config: Config): Limit[] => {
  const granted = {
    'Requests with a server key': [config.rateLimitServer, `each key; ${OF_WEBHOOKS}`],
    'Requests with a publishable key': [config.rateLimitPublishable, 'each key'],
    'The same from one address': [config.rateLimitAddress, 'each address'],
    'Requests for unsubscribe links from one address': [
      config.rateLimitUnsubscribe,
      'each address; `/u/{token}`',
    ],
    'Units of work with a server key': [
      config.unitLimitServer,
      `each key, in units; ${OF_WEBHOOKS}`,
    ],
    'Units of work with a publishable key': [config.unitLimitPublishable, 'each key, in units'],
    'Units from one address': [config.unitLimitAddress, 'each address, in units'],
    'Units that name one anonymous id': [
      config.unitLimitAnonymous,
      'each anonymous id, in units, with a publishable key',
    ],
    'Unknown keys from one address': [config.rateLimitUnknownKeys, 'each address'],
  } as const;
  return Object.entries(granted)
    .filter(([, [value]]) => value > 0)
    .map(([name, [value, where]]) => ({ name, value, unit: 'a second', where }));
};

/** The bounds of what a request consists of. */
const requestLimits: readonly Limit[] = [
  {
    name: 'Small chunks of a body',
    value: SMALL_CHUNKS_MAX,
    unit: 'items',
    where: `every body, also at the Console's door, and one more for each ${CHUNK_BYTES_MIN} bytes of it`,
  },
  { name: 'Headers of a request', value: HEADER_BYTES_MAX, unit: 'bytes', where: 'headers' },
  { name: 'Number of headers', value: HEADERS_MAX, unit: 'items', where: 'headers' },
];

/** The bounds that hold for every endpoint. */
export const doorLimits = (config: Config): readonly Limit[] => [
  ...timeLimits(config),
  ...rateLimits(config),
  { name: 'Items on a page', value: PAGE_ITEMS_MAX, unit: 'items', where: '`limit`' },
  ...unsubscribeLimits,
  ...streamLimits,
  ...folderLimits,
  ...signInLimits,
  ...testEmailLimits,
  ...bodyLimits(config),
  { name: 'Any other JSON body', value: BODY_BYTES_DEFAULT, unit: 'bytes', where: 'body' },
  {
    name: 'Idempotency-Key',
    value: IDEMPOTENCY_KEY_CHARS_MAX,
    unit: 'characters',
    where: '`Idempotency-Key`',
  },
  {
    name: 'How long a repeated request is known',
    value: KEPT_HOURS,
    unit: 'hours',
    where: '`Idempotency-Key`',
  },
  { name: 'Problems that one answer lists', value: ISSUES_MAX, unit: 'items', where: '`issues`' },
  ...requestLimits,
  {
    name: 'Requests of a connection that wait for their answers',
    value: PIPELINED_REQUESTS_MAX,
    unit: 'items',
    where: 'connection',
  },
  {
    name: 'Connections at a time, per process',
    value: config.connectionsMax,
    unit: 'items',
    where: 'connection',
  },
  {
    name: 'Requests of a project that wait for the database, per process',
    value: WAITING_OF_PROJECT_MAX,
    unit: 'items',
    where: 'connection',
  },
  {
    name: 'Time for headers to arrive',
    value: TIMEOUTS.headersMs,
    unit: 'milliseconds',
    where: 'connection',
  },
  {
    name: 'Time for a request to arrive',
    value: TIMEOUTS.requestMs,
    unit: 'milliseconds',
    where: 'connection',
  },
];

/** Every path that an api answers. */
export const mountDoors = (router: Router, deps: Deps): void => {
  mountRoutes(router, inTurns(deps), routes);
  mountUnsubscribe(router, inTurns(deps));
  mountDocs(router, doorLimits(deps.config));
  mountGuides(router);
  mountSdk(router);
};

/** What answers before the paths are looked at. */
export const useDoors = (app: Koa, deps: Deps): void => {
  const asked = inTurns(deps);
  app.use(serveExactPaths(asked, routes));
  app.use(leadToDocs).use(adminDoor(asked)).use(previewDoor(asked));
  app.use(consoleDoor(deps.config));
};

/** Counts this process among those that share the limits. */
export const joinOthers = (deps: Deps) => {
  const limits = deps.resources.of(makeLimits, deps.config);
  const lookups = tokenLookupsOf(deps);
  return startPresence(deps, (processes) => {
    limits.share(processes);
    lookups.share(processes);
    quotas.divideShares(deps, processes);
  });
};
