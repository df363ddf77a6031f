import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import type { Middleware } from 'koa';
import {
  adminDoor,
  consoleDoor,
  endStreams,
  folderLimits,
  previewDoor,
  streamLimits,
} from '../admin/admin.ts';
import type { Deps } from '../base/deps.ts';
import { KEPT_HOURS } from '../base/idempotency.ts';
import { PAGE_ITEMS_MAX } from '../base/page.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import { Refusal } from '../base/refusal.ts';
import { BODY_BYTES_DEFAULT } from '../base/route.ts';
import type { Limit } from '../base/route.ts';
import type { Config } from '../config.ts';
import { timeLimits } from '../ingest/routes.ts';
import { holdContinue, refuseCodings } from './body.ts';
import { answerBrokenRequests } from './broken_requests.ts';
import { answerErrors } from './errors.ts';
import { leadToDocs, mountDocs } from './docs.ts';
import { mountHealth } from './health.ts';
import type { Readiness } from './health.ts';
import { IDEMPOTENCY_KEY_CHARS_MAX } from './idempotency.ts';
import { identify } from './identify.ts';
import { makeLimits } from './limits.ts';
import { countRefused, mountMetrics, timeRequests } from './metrics.ts';
import { mountRoutes, refuseOtherMethods } from './mount.ts';
import { startPresence } from './presence.ts';
import { routes } from './routes.ts';
import { mountSdk } from './sdk.ts';
import { mountUnsubscribe, unsubscribeLimits } from './unsubscribe.ts';
import { requireHost } from './url.ts';

export const TIMEOUTS = {
  headersMs: 10_000,
  requestMs: 30_000,
  /** Longer than load balancers keep idle connections, so that they close first. */
  keepAliveMs: 75_000,
  /** How often the first two are looked at: they are late by this much at most. */
  checkMs: 1_000,
};
export const HEADER_BYTES_MAX = 16 * 1024;
/** Proxies add a few dozen; nobody has a use for more than this. */
export const HEADERS_MAX = 100;

/** What the installation grants, as far as it has a bound; 0 is none. */
const rateLimits = (config: Config): Limit[] => {
  const granted = {
    'Requests with a server key': [config.rateLimitServer, 'each key'],
    'Requests with a publishable key': [config.rateLimitPublishable, 'each key'],
    'The same from one address': [config.rateLimitAddress, 'each address'],
    'The same with one anonymous id': [config.rateLimitAnonymous, 'each anonymous id'],
  } as const;
  return Object.entries(granted)
    .filter(([, [value]]) => value > 0)
    .map(([name, [value, where]]) => ({ name, value, unit: 'a second', where }));
};

/** The bounds that hold for every endpoint. */
export const doorLimits = (config: Config): readonly Limit[] => [
  ...timeLimits(config),
  ...rateLimits(config),
  { name: 'Items on a page', value: PAGE_ITEMS_MAX, unit: 'items', where: '`limit`' },
  ...unsubscribeLimits,
  ...streamLimits,
  ...folderLimits,
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
  { name: 'Headers of a request', value: HEADER_BYTES_MAX, unit: 'bytes', where: 'headers' },
  { name: 'Number of headers', value: HEADERS_MAX, unit: 'items', where: 'headers' },
  {
    name: 'Connections at a time, per process',
    value: config.connectionsMax,
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

const DRAIN_TIMEOUT_MS = 10_000;
const DRAIN_SWEEP_MS = 50;

const refuseManyHeaders: Middleware = (ctx, next) => {
  // Names and values, one after the other.
  if (ctx.req.rawHeaders.length > 2 * HEADERS_MAX)
    throw new Refusal('headers_too_large', { detail: `Send at most ${HEADERS_MAX} headers.` });
  return next();
};

/** The Koa application. A worker's has health only: it never serves /v1. */
export const makeApp = (deps: Deps, readiness: Readiness, withApi: boolean): Koa => {
  // Exactly the paths that are listed: another spelling of one would be an endpoint nobody lists.
  const router = new Router({ sensitive: true, strict: true });
  mountHealth(router, deps, readiness);
  mountMetrics(router, deps);
  if (withApi) {
    mountRoutes(router, deps, routes);
    mountUnsubscribe(router, deps);
    mountDocs(router, doorLimits(deps.config));
    mountSdk(router);
  }
  const { trustedProxies } = deps.config;
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.use(identify).use(timeRequests(deps)).use(answerErrors(deps.log)).use(requireHost);
  app.use(refuseManyHeaders).use(refuseCodings);
  if (withApi) app.use(leadToDocs).use(adminDoor(deps)).use(previewDoor(deps)).use(consoleDoor());
  app.use((ctx, next) => {
    // Whoever keeps its connection must not find it reset after the answer.
    if (readiness.isDraining) ctx.set('Connection', 'close');
    return next();
  });
  app.use(refuseOtherMethods).use(router.routes());
  app.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever looks on at something leaves when they have seen enough.
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    deps.log.error({ err: error }, 'answer could not be written');
  });
  return app;
};

export type Listening = { port: number; close: () => Promise<void> };

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** Stops taking connections, lets running requests end, and closes what becomes idle. Streams end by being ended. */
const drain = async (server: Server, deps: Deps): Promise<void> => {
  endStreams(deps);
  const sweep = setInterval(() => {
    endStreams(deps);
    server.closeIdleConnections();
  }, DRAIN_SWEEP_MS);
  const giveUp = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
  clearTimeout(giveUp);
};

const makeServer = (app: Koa, timeouts: typeof TIMEOUTS, deps: Deps): Server => {
  const handle = app.callback();
  const server = createServer({
    // Node refuses what reaches its bound, and counts the path, names and values.
    maxHeaderSize: HEADER_BYTES_MAX + 1,
    requireHostHeader: false,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
  });
  server.maxConnections = deps.config.connectionsMax;
  countRefused(server, deps);
  answerBrokenRequests(server);
  const serve = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(request, response);
  server.on('request', serve).on('checkExpectation', serve);
  server.on('checkContinue', (request, response) => {
    holdContinue(request, response);
    serve(request, response);
  });
  return server;
};

/** Counts this process among those that share the limits. */
const joinOthers = (deps: Deps) => {
  const limits = deps.resources.of(makeLimits, deps.config);
  return startPresence(deps, (processes) => limits.share(processes));
};

/** Opens the HTTP door. Answers once it listens; `close` drains it. */
export const openApi = async (
  deps: Deps,
  readiness: Readiness,
  withApi: boolean,
  timeouts = TIMEOUTS,
): Promise<Listening> => {
  const app = makeApp(deps, readiness, withApi);
  const server = makeServer(app, timeouts, deps);
  await listen(server, deps.config.port, deps.config.host);
  const presence = withApi ? await joinOthers(deps) : null;
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      await drain(server, deps);
      await presence?.stop();
    },
  };
};
