// However much waits for endpoints, and however much was sent: a claim, a sweep and a check of rates read few rows.
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { claimDelivery } from '../../src/automations/subscriptions/delivery_queries.ts';
import { inProject, sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listCounts } from '../../src/delivery/rate_queries.ts';
import { listWork } from '../../src/worker/work.ts';
import { connectAs, rowsRead } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const projectId = newId();
const [dead, well] = [newId(), newId()];
const WAITING = 20_000;

const Read = z.strictObject({ read: z.int() });

/** How many rows of a table a piece of work reads. */
const readBy = (table: string, work: (scope: Scope) => Promise<unknown>): Promise<number> =>
  inProject(database.deps, projectId, async (scope) => {
    await work(scope);
    const { read } = await scope.tx.one(sql.type(Read)`
      select (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::integer as read
      from pg_stat_xact_all_tables where relid = ${table}::regclass
    `);
    return read;
  });

beforeAll(async () => {
  const { owner } = database;
  await owner.query(
    `insert into automations.endpoints (project_id, endpoint_id, name, url, status, created_at, updated_at)
    select $1, id, 'a', 'https://example.com', 'active', now(), now() from unnest($2::uuid[]) as id`,
    [projectId, [dead, well]],
  );
  const insert = (endpointId: string, due: string, status: string, count: number) =>
    owner.query(
      `insert into automations.webhook_deliveries (project_id, delivery_id, endpoint_id, message_id, type, status,
        due_at, queued_at, expires_at)
      select $1, gen_random_uuid(), $2, gen_random_uuid()::text, 'system.test', $4, now() + $3::interval, now(),
        now() + interval '1 day'
      from generate_series(1, $5::integer)`,
      [projectId, endpointId, due, status, count],
    );
  await insert(dead, '1 hour', 'waiting', WAITING);
  await insert(well, '-1 minute', 'delivered', WAITING);
  await insert(well, '-1 minute', 'waiting', 1);
  await owner.query(
    `insert into delivery.hourly_counts (project_id, provider_id, hour, sent, bounced, complained)
    select $1, gen_random_uuid(), date_trunc('hour', now(), 'UTC') - make_interval(hours => n), 1, 0, 0
    from generate_series(0, 5000) as n`,
    [projectId],
  );
  await owner.query('analyze automations.webhook_deliveries');
  await owner.query('analyze delivery.hourly_counts');
});

test('a claim reads the delivery that it takes', async () => {
  const read = await readBy('automations.webhook_deliveries', (scope) =>
    claimDelivery(scope, well),
  );
  expect(read).toBeLessThan(20);
  expect(
    await readBy('automations.webhook_deliveries', (scope) => claimDelivery(scope, dead)),
  ).toBeLessThan(20);
});

test('a sweep reads one delivery of each endpoint', async () => {
  const client = await connectAs(database, 'trunkline_queue');
  await client.query('begin');
  await listWork(client, 2);
  expect(await rowsRead(client, 'automations.webhook_deliveries')).toBeLessThan(20);
});

test('a check of rates reads the hours that it counts', async () => {
  expect(await readBy('delivery.hourly_counts', (scope) => listCounts(scope, 24))).toBeLessThan(60);
});
