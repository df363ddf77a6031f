import type Router from '@koa/router';
import type { Deps } from '../base/deps.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import { isSchemaCurrent } from '../base/schema_version.ts';
import { toBody } from './errors.ts';

/** Whether the process wants requests: false while it drains. */
export type Readiness = { isDraining: boolean };

const notReady = {
  draining: 'The process is stopping: send requests to another one.',
  schema_out_of_date: 'The database lacks a migration that this version needs.',
  database_unavailable: 'The database cannot be reached.',
};

/** Why the process should get no requests, or null when it may. */
const findObstacle = async (
  { db, log }: Deps,
  readiness: Readiness,
): Promise<keyof typeof notReady | null> => {
  if (readiness.isDraining) return 'draining';
  try {
    return (await isSchemaCurrent(db)) ? null : 'schema_out_of_date';
  } catch (error) {
    log.warn({ err: error }, 'readiness check failed');
    return 'database_unavailable';
  }
};

/** `/healthz`: the process lives. `/readyz`: it can work: not draining, database there, schema the code's own. */
export const mountHealth = (router: Router, deps: Deps, readiness: Readiness): void => {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'alive' };
  });
  router.get('/readyz', async (ctx) => {
    const reason = await findObstacle(deps, readiness);
    if (reason === null) {
      ctx.body = { status: 'ready' };
      return;
    }
    // Not thrown: a process that says it is not ready is not an error worth a log line per probe.
    const refusal = new Refusal('unavailable', { detail: notReady[reason], members: { reason } });
    ctx.status = refusals.unavailable.status;
    ctx.body = toBody(refusal, ctx.state['requestId'] as string);
  });
};
