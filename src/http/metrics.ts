import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { metricsOf, secondsSince } from '../base/metrics.ts';
import { Refusal } from '../base/refusal.ts';
import { mayReadMetrics } from './metrics_access.ts';

/** `/metrics`: what this process measures of itself, for Prometheus. */
export const mountMetrics = (router: Router, deps: Deps): void => {
  const metrics = metricsOf(deps);
  metrics.watchProcess();
  router.get('/metrics', async (ctx) => {
    if (!mayReadMetrics(ctx.req, deps.config.metricsToken)) {
      const detail =
        deps.config.metricsToken === null
          ? 'Without METRICS_TOKEN /metrics answers only on this machine, as http://127.0.0.1. Set METRICS_TOKEN.'
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

/** Returns what counts a connection that a server closes to make room for another. */
export const countClosed = (deps: Deps): (() => void) => {
  const { connectionsClosed } = metricsOf(deps);
  return () => connectionsClosed.inc();
};
