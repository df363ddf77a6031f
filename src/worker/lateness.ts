import pg from 'pg';
import { ALERT_KINDS } from '../alerts/alerts.ts';
import type { Deps } from '../base/deps.ts';
import { metricsOf } from '../base/metrics.ts';
import type { Lateness } from '../base/metrics.ts';
import { queueUrl } from '../base/roles.ts';
import { SILENT_SESSION_MS } from './liveness.ts';
import { findOldest } from './oldest.ts';

/** Whoever scrapes waits no longer than this for the database; without its answer nothing is said. */
const ASK_MS_MAX = 2_000;
/** However often somebody scrapes, it is asked once in so long. */
const KEPT_MS = 5_000;

/** Workers whose last sign of life is not older than a session may be silent. */
const countWorkers = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int from queue.workers where heartbeat_at > now() - make_interval(secs => $1)`,
    [SILENT_SESSION_MS / 1_000],
  );
  return rows[0]?.count ?? 0;
};

/** How many alerts of each kind are open, over all projects. */
const countAlerts = async (client: pg.Client): Promise<Record<string, number>> => {
  const { rows } = await client.query<{ kind: string; count: number }>(
    'select kind, count(*)::int as count from alerts.alerts where resolved_at is null group by kind',
  );
  const none = Object.keys(ALERT_KINDS).map((kind) => [kind, 0] as const);
  return Object.fromEntries([...none, ...rows.map(({ kind, count }) => [kind, count] as const)]);
};

/** How late work is, how many work at it, and what owners are alerted to. */
export const readLateness = async (client: pg.Client): Promise<Lateness> => ({
  oldest: await findOldest(client),
  workers: await countWorkers(client),
  alerts: await countAlerts(client),
});

const ask = async (deps: Deps): Promise<Lateness | null> => {
  const client = new pg.Client({
    connectionString: queueUrl(deps),
    application_name: 'trunkline-metrics',
    connectionTimeoutMillis: ASK_MS_MAX,
    query_timeout: ASK_MS_MAX,
    statement_timeout: ASK_MS_MAX,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await readLateness(client);
  } catch (error) {
    deps.log.warn({ err: error }, 'how late work is cannot be told');
    return null;
  } finally {
    void client.end().catch(() => {});
  }
};

/**
 * Has a process without a worker say how late work is, and whether anybody works at it, when it is scraped: where
 * all workers are gone, the worker that leads says nothing any more.
 */
export const tellLateness = (deps: Deps): void => {
  let [asked, last] = [Number.NEGATIVE_INFINITY, Promise.resolve<Lateness | null>(null)];
  metricsOf(deps).askLateness(() => {
    if (performance.now() - asked >= KEPT_MS) [asked, last] = [performance.now(), ask(deps)];
    return last;
  });
};
