import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { queueUrl } from '../../src/base/roles.ts';
import { toRow } from '../../src/ingest/events.ts';
import { processHint } from '../../src/ingest/ingest.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { openSession } from '../../src/worker/liveness.ts';
import { startSweeper } from '../../src/worker/sweeper.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { DEFAULTS } from '../support/defaults.ts';
import { listWaiting } from '../base/connections.ts';
import { until } from '../support/until.ts';
import { signUpOf, testWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const SILENT_MS = 4_000;
const { retentionMonths } = DEFAULTS;

/** What a sweep does over other connections, and how somebody holds it up there and nowhere else. */
const waits: { what: string; prepare: (world: World) => Promise<unknown>; hold: string }[] = [
  {
    what: 'looks whether sending is held',
    prepare: async () => {},
    hold: 'lock table base.sending',
  },
  {
    what: 'ends what is too old',
    prepare: async (world) => {
      const sends = sendsOf(world, world.project.project_id);
      const send = newSend();
      await sends.plan(send);
      await sends.update(send.sendId, "expires_at = now() - interval '1 minute'");
    },
    hold: 'lock table delivery.sends in share mode',
  },
  {
    what: 'hints at work',
    prepare: async (world) => {
      const { project_id: projectId } = world.project;
      const row = toRow(signUpOf('hinted'), { projectId, kind: 'server' }, world.deps.keys);
      await acceptEvents(world.deps.db, projectId, newId(), [row]);
      await hint(world.deps, processHint(projectId));
    },
    hold: 'select from graphile_worker._private_jobs where key is not null for update',
  },
];

describe.concurrent.each(waits)(
  'a sweep that waits for others for long while it $what',
  ({ prepare, hold }) => {
    const world = testWorld();

    test('does not lose its session', { timeout: TEST_TIMEOUT_MS }, async () => {
      const errors: Error[] = [];
      const session = await openSession(queueUrl(world.deps), 'sweeper', (error) => {
        errors.push(error);
      });
      await session.query(`set idle_session_timeout = ${SILENT_MS}`);
      await prepare(world);
      await world.owner.query('begin');
      await world.owner.query(hold);
      const sweeper = startSweeper(world.deps, session, 'mine');
      await until('the sweep waits, not over its own session', async () => {
        const waiting = await listWaiting(world.owner);
        return waiting.some((one) => one.application_name !== 'trunkline-sweeper');
      });
      const enoughAt = Date.now() + SILENT_MS * 1.5;
      await until('it has waited for longer than it may be silent', () => Date.now() > enoughAt);
      await world.owner.query('rollback');
      await sweeper.stop();
      expect(errors).toEqual([]);
    });
  },
);

describe.concurrent('a job that waits for the timeline', () => {
  const world = testWorld();

  test(
    'does so over another session than the heartbeat',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      await world.owner.query('select ingest.keep_partitions($1, 3)', [retentionMonths + 2]);
      const worker = await world.start('worker');
      const holder = new pg.Client({ connectionString: world.url });
      await holder.connect();
      await holder.query('begin');
      await holder.query('select /* trial */ from ingest.events');
      await world.owner.query("select graphile_worker.add_job('ingest/drop_partitions')");
      const asking = await until('a month is asked for', async () => {
        const { rows } = await world.owner.query<{ application_name: string }>(
          `select application_name from pg_stat_activity
          where datname = current_database() and query like '%ingest.drop_partition(%' and pid <> pg_backend_pid()`,
        );
        return rows.length > 0 && rows.map(({ application_name }) => application_name);
      });
      expect(asking).not.toContain('trunkline-liveness');
      await holder.end();
      await until('the months are dropped', async () => {
        const { rowCount } = await world.owner.query(
          `select from ingest.expired_partitions(
            before => date_trunc('month', now() at time zone 'UTC' - make_interval(months => $1)) at time zone 'UTC'
          )`,
          [retentionMonths],
        );
        return rowCount === 0;
      });
      expect(await worker.stop()).toBe(0);
    },
  );
});
