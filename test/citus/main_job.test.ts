// On a real cluster: `make test-citus` with CITUS_DATABASE_URL. The database there is changed, and kept.
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { Keys } from '../../src/base/keys.ts';
import { openLog } from '../../src/base/log.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { readConfig } from '../../src/config.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';
import { smtpSink } from '../support/smtp_sink.ts';
import { distribute, distribution } from './distribution.ts';
import { runMainJob } from './main_job.ts';

const TIMEOUT_MS = 300_000;
const NO_CLUSTER = 'CITUS_DATABASE_URL is not set';

const sink = smtpSink();

/** The extension first, so that roles and functions reach the workers as they are made. */
const prepare = async (owner: pg.Client): Promise<void> => {
  await owner.query('create extension if not exists citus');
  await owner.query(`select citus_set_coordinator_host('localhost', current_setting('port')::integer)
    where not exists (select from pg_dist_node where groupid = 0)`);
};

const isDistributed = async (owner: pg.Client): Promise<boolean> => {
  const { rowCount } = await owner.query(
    `select from pg_dist_partition where logicalrelid = 'ingest.events'::regclass`,
  );
  return rowCount !== 0;
};

test('the main job goes through a Citus cluster', { timeout: TIMEOUT_MS }, async ({ skip }) => {
  const url = inject('citusUrl');
  skip(url === '', NO_CLUSTER);
  const config = readConfig({
    DATABASE_URL: url,
    MASTER_KEY: TEST_MASTER_KEY,
    EGRESS_ALLOW_NETWORKS: '127.0.0.0/8',
    PORT: '0',
  });
  const keys = new Keys(config.masterKey, config.outerKeys);
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  await prepare(owner);
  await migrate({ config, keys });
  if (!(await isDistributed(owner))) await distribute(owner);
  const { rows } = await owner.query<{ name: string }>(
    `select logicalrelid::text as name from pg_dist_partition
    where partmethod = 'h' and not (select relispartition from pg_class where oid = logicalrelid)`,
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual(distribution.tenant.toSorted());
  const db = await openDb(runtimeUrl(url, keys));
  try {
    const resources = new Resources();
    await runMainJob({ config, keys, db, log: openLog('warn'), resources }, sink);
  } finally {
    await db.end();
    await owner.end();
  }
});
