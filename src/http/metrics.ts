import { timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { metricsOf, secondsSince } from '../base/metrics.ts';
import { Refusal } from '../base/refusal.ts';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

const isSame = (given: string, wanted: string): boolean =>
  given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));

/** With a token whoever has it; without one whoever asks on this machine, and not for somebody else. */
const mayRead = (ctx: Context, token: string | null): boolean => {
  if (token !== null) return isSame(ctx.get('authorization'), `Bearer ${token}`);
  const isForwarded = ctx.get('x-forwarded-for') !== '' || ctx.get('forwarded') !== '';
  return !isForwarded && LOOPBACK.test(ctx.req.socket.remoteAddress ?? '');
};

/** `/metrics`: what this process measures of itself, for Prometheus. */
export const mountMetrics = (router: Router, deps: Deps): void => {
  const metrics = metricsOf(deps);
  metrics.watchProcess();
  router.get('/metrics', async (ctx) => {
    if (!mayRead(ctx, deps.config.metricsToken)) {
      const detail =
        deps.config.metricsToken === null
          ? 'Without METRICS_TOKEN metrics are read on this machine only.'
          : 'Send `Authorization: Bearer` with METRICS_TOKEN.';
      throw new Refusal('invalid_token', { detail });
    }
    const { type, text } = await metrics.read();
    ctx.type = type;
    ctx.body = text;
  });
};

/** What a request is counted under: the route that answered, never its path, which may name somebody. */
const routeOf = (ctx: Context): string => {
  const matched = (ctx as { _matchedRoute?: unknown })._matchedRoute;
  if (typeof matched === 'string') return matched;
  if (ctx.path.startsWith('/admin/')) return '/admin';
  return ctx.path.startsWith('/console') ? '/console' : 'none';
};

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Times every request until its answer is known. */
export const timeRequests = (deps: Deps): Middleware => {
  const { requests } = metricsOf(deps);
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const method = METHODS.has(ctx.method) ? ctx.method : 'other';
    requests.observe({ method, route: routeOf(ctx), status: ctx.status }, secondsSince(startedAt));
  };
};

/** Counts the connections that a server has no room for: whoever made them is told nothing. */
export const countRefused = (server: Server, deps: Deps): void => {
  const { connectionsRefused } = metricsOf(deps);
  server.on('drop', () => connectionsRefused.inc());
};
