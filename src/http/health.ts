import type Router from '@koa/router';
import type { Deps } from '../base/deps.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import { isSchemaCurrent } from '../base/schema_version.ts';
import { hasMonths } from '../ingest/ingest.ts';
import { toBody } from './errors.ts';

/** Whether the process wants requests: false while it drains. */
export type Readiness = {
  isDraining: boolean;
  /**
   * Whether every month of the timeline was once seen. Not asked again: whoever was told to keep fewer, in a deploy
   * that changes their number, drops some, and then only events of those months cannot be stored.
   */
  hasMonths?: boolean;
};

const notReady = {
  draining: 'The process is stopping: send requests to another one.',
  schema_out_of_date: 'The database lacks a migration that this version needs.',
  months_missing:
    'A month that RETENTION_MONTHS reaches back to is missing: "make migrate", or a worker, makes it.',
  database_unavailable: 'The database cannot be reached.',
};

/** Why the process should get no requests, or null when it may. */
const findObstacle = async (
  deps: Deps,
  readiness: Readiness,
): Promise<keyof typeof notReady | null> => {
  if (readiness.isDraining) return 'draining';
  try {
    if (!(await isSchemaCurrent(deps.db))) return 'schema_out_of_date';
    readiness.hasMonths ||= await hasMonths(deps);
    return readiness.hasMonths ? null : 'months_missing';
  } catch (error) {
    deps.log.warn({ err: error }, 'readiness check failed');
    return 'database_unavailable';
  }
};

/** Requests that come while a check runs share it: the endpoint needs no key, and must not cost a statement each. */
const makeSharedCheck = (deps: Deps, readiness: Readiness) => {
  let running: ReturnType<typeof findObstacle> | null = null;
  return (): ReturnType<typeof findObstacle> => {
    running ??= findObstacle(deps, readiness).finally(() => {
      running = null;
    });
    return running;
  };
};

/** `/healthz`: the process lives. `/readyz`: it can work: not draining, database there, schema and months as told. */
export const mountHealth = (router: Router, deps: Deps, readiness: Readiness): void => {
  const findShared = makeSharedCheck(deps, readiness);
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'alive' };
  });
  router.get('/readyz', async (ctx) => {
    const reason = await findShared();
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
