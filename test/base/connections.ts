import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { passwordOf } from '../../src/base/roles.ts';
import type { Role } from '../../src/base/roles.ts';
import type { TestDatabase } from '../support/database.ts';

/** A connection of one of the service's own roles, closed when the test ends. */
export const connectAs = async (database: TestDatabase, role: Role): Promise<pg.Client> => {
  const url = new URL(database.url);
  url.username = role;
  url.password = passwordOf(database.deps.keys, role);
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
};

/** The runtime role, for one project, for the whole session. */
export const connectTo = async (database: TestDatabase, projectId: string): Promise<pg.Client> => {
  const client = await connectAs(database, 'trunkline_runtime');
  await client.query("select set_config('trunkline.project_id', $1, false)", [projectId]);
  return client;
};

type Waiting = { usename: string; application_name: string };

/**
 * Lists the sessions of the test's database that wait for a lock of another. Postgres lists sessions once in a
 * transaction, so the list is cleared first: the owner may be in one, and later sessions would be missing.
 */
export const listWaiting = async (owner: pg.Client): Promise<Waiting[]> => {
  await owner.query('select pg_stat_clear_snapshot()');
  const { rows } = await owner.query<Waiting>(
    `select usename, application_name from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows;
};

/** Resolves when so many connections to the test's database wait for a lock of another. */
export const untilWaiting = (database: TestDatabase, count = 1): Promise<void> =>
  vi.waitFor(
    async () => {
      const { length } = await listWaiting(database.owner);
      if (length < count) throw new Error(`${length} of ${count} sessions wait for a lock`);
    },
    { timeout: 10_000, interval: 10 },
  );

/** How many rows of a table the transaction of a connection has read so far. */
export const rowsRead = async (client: pg.Client, table: string): Promise<number> => {
  const { rows } = await client.query<{ read: number }>(
    `select (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::integer as read
     from pg_stat_xact_all_tables where relid = $1::regclass`,
    [table],
  );
  return rows[0]?.read ?? 0;
};

/** What is true of a promise now, without waiting for it. */
export const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  const first = await Promise.race([promise.catch(() => null), Promise.resolve(pending)]);
  return first !== pending;
};

/** Every order of a few items. */
export const permutationsOf = <T>(items: readonly T[]): T[][] =>
  items.length <= 1
    ? [[...items]]
    : items.flatMap((item, at) =>
        permutationsOf([...items.slice(0, at), ...items.slice(at + 1)]).map((rest) => [
          item,
          ...rest,
        ]),
      );
