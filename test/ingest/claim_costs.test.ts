// What a claim of flushes reads, by what else waits and by what the planner believes of it.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectTo, rowsRead } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();
const POSTPONED = 100_000;
const CLAIM_MAX = 10;

/** Flushes of one project that wait for their next try, in so many minutes; older than whatever comes later. */
const postpone = (projectId: string, count: number, minutes: number) =>
  database.owner.query(
    `insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at,
      failure_count, retry_at)
    select $1, ('01000000-0000-7000-8000-' || lpad(to_hex($2 * 1000 + $3 * 1000 + number), 12, '0'))::uuid,
      array[gen_random_uuid()], now(), now(), now(), 1, now() + make_interval(mins => $3, secs => number * 0.001)
    from generate_series(1, $2::int) as number`,
    [projectId, count, minutes],
  );
const accept = async (projectId: string, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newId());
  for (const id of ids) await acceptEvents(database.deps.db, projectId, id, [newEvent()]);
  return ids;
};

type Client = Awaited<ReturnType<typeof connectTo>>;
/** Claims in a transaction that is undone; answers what was claimed and how many rows were read for it. */
const claim = async (client: Client, projectId: string) => {
  await client.query('begin');
  const { rows } = await client.query(
    'select claim_flushes as id from ingest.claim_flushes($1, $2)',
    [projectId, CLAIM_MAX],
  );
  const read = await rowsRead(client, 'ingest.pending');
  await client.query('rollback');
  return { claimed: rows.map(({ id }) => id as string), read };
};

const beliefs: Record<string, (fill: () => Promise<unknown>) => Promise<unknown>> = {
  'that were never taken': (fill) => fill(),
  'of an empty table': async (fill) => {
    await database.owner.query('vacuum analyze ingest.pending');
    await fill();
  },
  'of a table of new flushes': async (fill) => {
    await accept(newId(), 50);
    await database.owner.query('analyze ingest.pending');
    await fill();
  },
  'of today': async (fill) => {
    await fill();
    await database.owner.query('vacuum analyze ingest.pending');
  },
};

test.each(Object.keys(beliefs))(
  'with statistics %s, a claim reads what it takes, whatever is postponed',
  async (belief) => {
    await database.owner.query('truncate ingest.pending');
    await database.owner.query('alter table ingest.pending set (autovacuum_enabled = false)');
    const projectId = newId();
    const client = await connectTo(database, projectId);
    // A session that planned its statements while nothing waited.
    for (let times = 0; times < 10; times += 1) await claim(client, projectId);
    await beliefs[belief]?.(() => postpone(projectId, POSTPONED, 60));
    const idle = await claim(client, projectId);
    expect(idle).toEqual({ claimed: [], read: 0 });
    const ids = await accept(projectId, 3 * CLAIM_MAX);
    const { claimed, read } = await claim(client, projectId);
    expect(claimed).toEqual(ids.toSorted().slice(0, CLAIM_MAX));
    // Each once when it is found and once when it is locked.
    expect(read).toBeLessThanOrEqual(2 * CLAIM_MAX);

    await postpone(newId(), 1_000, -120);
    await postpone(projectId, 1_000, -60);
    const mixed = await claim(client, projectId);
    expect(mixed.claimed).toHaveLength(CLAIM_MAX);
    expect(mixed.read).toBeLessThanOrEqual(3 * CLAIM_MAX);
  },
);
