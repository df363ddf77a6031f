import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import Koa from 'koa';
import type { Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { holdContinue, refuseCodings } from './body.ts';
import { HEADER_BYTES_MAX, HEADERS_MAX, TIMEOUTS } from './bounds.ts';
import { answerBrokenRequests } from './broken_requests.ts';
import { Connections } from './connections.ts';
import type * as doorsOfApi from './doors.ts';
import { originReader, readClientAddress } from './client_address.ts';
import { answerErrors } from './errors.ts';
import { mountHealth } from './health.ts';
import type { Readiness } from './health.ts';
import { FairTurns } from './fair_turns.ts';
import { identify } from './identify.ts';
import { countClosed, mountMetrics, timeRequests } from './metrics.ts';
import { OwedAnswers } from './owed_answers.ts';
import { resetStalled } from './stalled_answers.ts';
import { requireHost, requireTarget } from './url.ts';

const DRAIN_TIMEOUT_MS = 10_000;
const DRAIN_SWEEP_MS = 50;

/** Codes of errors of an answer whose client closed the connection. That is no fault of the service. */
const CLIENT_LEFT = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

const refuseManyHeaders: Middleware = (ctx, next) => {
  // Names and values, one after the other.
  if (ctx.req.rawHeaders.length > 2 * HEADERS_MAX)
    throw new Refusal('headers_too_large', { detail: `Send at most ${HEADERS_MAX} headers.` });
  return next();
};

/** 405 with Allow, for a path that exists but not for this method. */
const refuseOtherMethods: Middleware = async (ctx, next) => {
  await next();
  const { matched = [] } = ctx as unknown as RouterContext;
  if (ctx.body != null || ctx.status !== 404 || matched.length === 0) return;
  ctx.set('Allow', [...new Set(matched.flatMap(({ methods }) => methods))].join(', '));
  throw new Refusal('method_not_allowed');
};

/** What an api serves besides. A worker, which has health and metrics only, does not load it. */
type Doors = Pick<typeof doorsOfApi, 'mountDoors' | 'useDoors'>;

/** The Koa application. A worker's never serves /v1. */
export const makeApp = (deps: Deps, readiness: Readiness, doors: Doors | null): Koa => {
  // Exactly the paths that are listed: another spelling of one would be an endpoint nobody lists.
  const router = new Router({ sensitive: true, strict: true });
  mountHealth(router, deps, readiness);
  mountMetrics(router, deps);
  doors?.mountDoors(router, deps);
  const app = new Koa();
  app
    .use(identify)
    .use(timeRequests(deps))
    .use(answerErrors(deps.log))
    .use(requireHost)
    .use(requireTarget);
  app.use(readClientAddress(deps));
  app.use(refuseManyHeaders).use(refuseCodings);
  app.use((ctx, next) => {
    // A client that keeps its connection must not find it reset after the answer.
    if (readiness.isDraining) ctx.set('Connection', 'close');
    return next();
  });
  doors?.useDoors(app, deps);
  app.use(refuseOtherMethods).use(router.routes());
  app.on('error', (error: NodeJS.ErrnoException) => {
    const level = CLIENT_LEFT.has(error.code ?? '') ? 'debug' : 'error';
    deps.log[level]({ err: error }, 'answer could not be written');
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
const drain = async (server: Server, endStreams: () => void): Promise<void> => {
  endStreams();
  const sweep = setInterval(() => {
    endStreams();
    server.closeIdleConnections();
  }, DRAIN_SWEEP_MS);
  const giveUp = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
  clearTimeout(giveUp);
};

/**
 * So many requests are begun in one turn of the event loop, and so many new connections read: between them come
 * answers of the database and other clients. What one address sends waits behind what others send.
 */
export const REQUESTS_PER_TURN = 32;
const CONNECTIONS_PER_TURN = 4;

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
  const owed = new OwedAnswers();
  const connections = new Connections(deps.config.connectionsMax, owed, countClosed(deps));
  const connecting = new FairTurns(CONNECTIONS_PER_TURN);
  server.on('connection', (socket) => {
    const origin = connections.open(socket);
    owed.watch(socket);
    connecting.begin(
      origin,
      () => socket.resume(),
      () => socket.pause(),
    );
  });
  answerBrokenRequests(server, owed);
  resetStalled(server, connections, timeouts.stallMs);
  const asking = new FairTurns(REQUESTS_PER_TURN);
  const originOf = originReader(deps);
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (!connections.serve(request, response)) return;
    asking.begin(originOf(request), () => void handle(request, response));
  };
  server.on('request', serve).on('checkExpectation', serve);
  server.on('checkContinue', (request, response) => {
    holdContinue(request, response);
    serve(request, response);
  });
  return server;
};

/** Opens the HTTP door. Answers once it listens; `close` drains it. */
export const openApi = async (
  deps: Deps,
  readiness: Readiness,
  withApi: boolean,
  timeouts = TIMEOUTS,
): Promise<Listening> => {
  const doors = withApi ? await import('./doors.ts') : null;
  const app = makeApp(deps, readiness, doors);
  const server = makeServer(app, timeouts, deps);
  await listen(server, deps.config.port, deps.config.host);
  const presence = await doors?.joinOthers(deps);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      await drain(server, () => doors?.endStreams(deps));
      await presence?.stop();
    },
  };
};
