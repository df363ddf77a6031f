import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Koa from 'koa';
import type { Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { answerBrokenRequest, answerErrors } from './errors.ts';
import { health } from './health.ts';
import type { Readiness } from './health.ts';
import { mount, refuseOtherMethods } from './mount.ts';
import { routes } from './routes.ts';

export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than load balancers keep idle connections, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
export const HEADER_BYTES_MAX = 16 * 1024;
const CONNECTIONS_MAX = 10_000;
const DRAIN_TIMEOUT_MS = 10_000;
const DRAIN_SWEEP_MS = 50;

const REQUEST_ID = /^[\w.:-]{8,128}$/;
const newRequestId = (): string => `req_${newId()}`;

/** Takes a well-formed X-Request-Id over, or makes one; answers with it. */
const identify: Middleware = (ctx, next) => {
  const given = ctx.get('x-request-id');
  const requestId = REQUEST_ID.test(given) ? given : newRequestId();
  ctx.state['requestId'] = requestId;
  ctx.set('X-Request-Id', requestId);
  return next();
};

/** The Koa application. A worker's has health only: it never serves /v1. */
export const makeApp = (deps: Deps, readiness: Readiness, withApi: boolean): Koa => {
  const app = new Koa();
  app.use(identify).use(answerErrors(deps.log)).use(health(deps, readiness));
  if (withApi) app.use(refuseOtherMethods).use(mount(deps, routes).routes());
  app.on('error', (error: Error) => deps.log.error({ err: error }, 'answer could not be written'));
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

/** Stops taking connections, lets running requests end, and closes what becomes idle. */
const drain = async (server: Server): Promise<void> => {
  const sweep = setInterval(() => server.closeIdleConnections(), DRAIN_SWEEP_MS);
  const giveUp = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(sweep);
  clearTimeout(giveUp);
};

/** Opens the HTTP door. Answers once it listens; `close` drains it. */
export const openApi = async (
  deps: Deps,
  readiness: Readiness,
  withApi: boolean,
): Promise<Listening> => {
  const app = makeApp(deps, readiness, withApi);
  const handle = app.callback();
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => {
    void handle(request, response);
  });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.maxConnections = CONNECTIONS_MAX;
  server.on('clientError', (error, socket) =>
    answerBrokenRequest(error, socket as Socket, newRequestId()),
  );
  await listen(server, deps.config.port, deps.config.host);
  return { port: (server.address() as AddressInfo).port, close: () => drain(server) };
};
