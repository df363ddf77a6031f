import pg from 'pg';
import type { Logger } from '../base/log.ts';

export const HEARTBEAT_MS = 1_000;
/** A worker is dead when its heartbeat is this old and its lock is free. */
export const DEAD_AFTER_SECONDS = 4;

/**
 * A session that is silent for this long is ended by the server, with the locks that it holds: the process is frozen,
 * or its machine is gone. A process that lives may be busy for a while, and must not end for that. With
 * DEAD_AFTER_SECONDS and the sweep it is less than the minute in which work continues after a crash.
 */
export const SILENT_SESSION_MS = 40_000;

/** Opens a connection whose locks do not outlive its process, whatever becomes of that. */
export const openSession = async (
  url: string,
  name: string,
  onLost: (error: Error) => void,
): Promise<pg.Client> => {
  const settings = {
    idle_session_timeout: SILENT_SESSION_MS,
    tcp_keepalives_idle: 5,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 2,
  };
  const client = new pg.Client({
    connectionString: url,
    application_name: `trunkline-${name}`,
    keepAlive: true,
    options: Object.entries(settings)
      .map(([setting, value]) => `-c ${setting}=${value}`)
      .join(' '),
  });
  client.on('error', onLost);
  await client.connect();
  return client;
};

/**
 * The worker's own connection to the main node: it holds the lock that says "alive" and writes the
 * heartbeat. When it is lost, the worker stops: it could no longer know that nobody has taken its
 * work over.
 */
export class Liveness {
  readonly client: pg.Client;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  /** The heartbeat that is under way, if any. */
  #beat: Promise<unknown> | null = null;
  #workerId = '';

  private constructor(client: pg.Client, log: Logger) {
    this.client = client;
    this.#log = log;
  }

  static async open(
    url: string,
    { log, onLost }: { log: Logger; onLost: () => void },
  ): Promise<Liveness> {
    const client = await openSession(url, 'liveness', (error) => {
      log.error({ err: error }, 'liveness connection lost');
      onLost();
    });
    return new Liveness(client, log);
  }

  get workerId(): string {
    return this.#workerId;
  }

  /** Says "alive" for a worker pool: from now on nobody releases its jobs. */
  async hold(workerId: string): Promise<void> {
    this.#workerId = workerId;
    await this.client.query('select pg_advisory_lock(hashtextextended($1, 0))', [workerId]);
    await this.client.query(
      'insert into queue.workers (worker_id, started_at, heartbeat_at) values ($1, now(), now())',
      [workerId],
    );
    this.#timer = setInterval(() => {
      this.#beat ??= this.client
        .query('update queue.workers set heartbeat_at = now() where worker_id = $1', [workerId])
        .catch((error: unknown) => this.#log.warn({ err: error }, 'heartbeat failed'))
        .finally(() => {
          this.#beat = null;
        });
    }, HEARTBEAT_MS);
  }

  /** Signs off: nothing of this worker is left to be released. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beat;
    await this.client
      .query('delete from queue.workers where worker_id = $1', [this.#workerId])
      .catch(() => {});
    await this.client.end().catch(() => {});
  }
}

/**
 * The workers that have died: heartbeat old and lock free. Also pools that hold jobs of the queue
 * without ever having signed on. Session locks, so this needs a connection of its own; whoever asks
 * lives, however late its own heartbeat is.
 */
export const listDeadWorkers = async (client: pg.Client, ownId: string): Promise<string[]> => {
  const { rows } = await client.query<{ worker_id: string }>(
    `select worker_id from queue.workers where heartbeat_at < now() - make_interval(secs => $1)
    union
    select locked_by from graphile_worker._private_jobs
    where locked_by is not null and locked_at < now() - make_interval(secs => $1)
    and locked_by not in (select worker_id from queue.workers)`,
    [DEAD_AFTER_SECONDS],
  );
  const dead: string[] = [];
  for (const { worker_id } of rows) {
    if (worker_id === ownId) continue;
    const { rows: locks } = await client.query<{ is_free: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as is_free',
      [worker_id],
    );
    if (!locks[0]?.is_free) continue;
    await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [worker_id]);
    dead.push(worker_id);
  }
  return dead;
};
