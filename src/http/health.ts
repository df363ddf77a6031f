import type { Middleware } from 'koa';
import type { Deps } from '../base/deps.ts';
import { isSchemaCurrent } from '../base/schema_version.ts';

/** Whether the process wants requests: false while it drains. */
export type Readiness = { isDraining: boolean };

const check = async ({ db, log }: Deps, readiness: Readiness): Promise<string> => {
  if (readiness.isDraining) return 'draining';
  try {
    return (await isSchemaCurrent(db)) ? 'ready' : 'schema_out_of_date';
  } catch (error) {
    log.warn({ err: error }, 'readiness check failed');
    return 'database_unavailable';
  }
};

/** `/healthz`: the process lives. `/readyz`: it can work: not draining, database there, schema the code's own. */
export const health =
  (deps: Deps, readiness: Readiness): Middleware =>
  async (ctx, next) => {
    if (ctx.method !== 'GET' || (ctx.path !== '/healthz' && ctx.path !== '/readyz')) return next();
    const state = ctx.path === '/healthz' ? 'alive' : await check(deps, readiness);
    ctx.status = state === 'alive' || state === 'ready' ? 200 : 503;
    ctx.body = { status: state };
  };
