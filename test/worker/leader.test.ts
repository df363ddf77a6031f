import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { queueUrl } from '../../src/base/roles.ts';
import { toRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { listDeadWorkers, openSession } from '../../src/worker/liveness.ts';
import { until } from '../support/until.ts';
import { addressOf, signUpOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;

/** Each has a service of its own: what they wait for, they wait for at the same time. */
const worlds = () => {
  const world = testWorld();
  const statusOf = async (person: string): Promise<string | undefined> =>
    (await world.sendsTo(person)).at(-1)?.status;
  /** Events whose wake-up was lost: only a sweep finds them. */
  const forget = async (person: string): Promise<void> => {
    const { project_id: projectId } = world.project;
    const row = toRow(signUpOf(person), { projectId, kind: 'server' }, world.deps.keys);
    await acceptEvents(world.deps.db, projectId, newId(), [row]);
  };
  return { world, statusOf, forget };
};

describe.concurrent('a worker that asks who is dead', () => {
  const { world } = worlds();

  test('is not dead itself, however late its heartbeat', async () => {
    const session = await openSession(queueUrl(world.deps), 'test', () => {});
    await session.query("select pg_advisory_lock(hashtextextended('mine', 0))");
    await session.query(
      `insert into queue.workers
      select worker_id, now(), now() - interval '1 minute' from unnest(array['mine', 'theirs']) as worker_id`,
    );
    expect(await listDeadWorkers(session, 'mine')).toEqual(['theirs']);
    await session.query("delete from queue.workers where worker_id in ('mine', 'theirs')");
    await session.end();
  });
});

describe.concurrent('a frozen leader', () => {
  const { world, statusOf, forget } = worlds();

  test('loses the lead to somebody who can sweep', { timeout: TEST_TIMEOUT_MS }, async () => {
    const leader = await world.start('worker');
    await forget('before');
    await until('the first leads', async () => (await statusOf('before')) === 'accepted');
    const other = await world.start('worker');
    leader.child.kill('SIGSTOP');
    await forget('after');
    await until('the other one sweeps', async () => (await statusOf('after')) === 'accepted');
    leader.child.kill('SIGCONT');
    expect(await until('the one that was frozen stops', () => leader.child.exitCode)).toBe(1);
    expect(await other.stop()).toBe(0);
  });
});

describe.concurrent('a worker that cannot write down what was done', () => {
  const { world } = worlds();

  test('ends itself, and another does it again', { timeout: TEST_TIMEOUT_MS }, async () => {
    const worker = await world.start('worker');
    const countJobs = async (): Promise<number> =>
      (await world.owner.query('select from graphile_worker._private_jobs')).rowCount ?? 0;
    await world.owner.query(`
        create function public.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
        create trigger refuse before delete on graphile_worker._private_jobs
          for each row execute function public.refuse()`);
    // Several end at the same time: after the second the queue itself waits for ever.
    await world.owner.query(
      `select graphile_worker.add_job('ingest/process_events', json_build_object('project_id', gen_random_uuid()))
        from generate_series(1, 40)`,
    );
    expect(await until('it ends itself', () => worker.child.exitCode)).toBe(1);
    expect(await countJobs()).toBeGreaterThan(0);
    await world.owner.query('drop function public.refuse cascade');
    const other = await world.start('worker');
    await until('nothing is left', async () => (await countJobs()) === 0);
    await other.stop();
  });
});

describe.concurrent('a row that somebody holds', () => {
  const { world, statusOf, forget } = worlds();

  test('stops the sweep of nobody else', { timeout: TEST_TIMEOUT_MS }, async () => {
    const doomed = await world.start('worker', { TEST_FAILPOINT: 'after_hand_off_commit' });
    await world.signUp('held');
    await until('it dies in a hand-off', () => doomed.child.signalCode === 'SIGKILL');
    await world.owner.query('begin');
    await world.owner.query('select from delivery.sends where recipient = $1 for update', [
      addressOf('held'),
    ]);

    const worker = await world.start('worker');
    await forget('free');
    await until('work goes on', async () => (await statusOf('free')) === 'accepted');
    await world.owner.query('commit');
    await until('the held one is settled too', async () => (await statusOf('held')) === 'unknown');
    await worker.stop();
  });
});

describe.concurrent('whoever is api and worker', () => {
  const { world } = worlds();

  test(
    'answers for as long as its worker, which lost its life, ends its jobs',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const both = await world.start('all');
      const origin = `http://127.0.0.1:${both.port}`;
      await world.owner.query('begin');
      await world.owner.query('lock table automations.runs');
      await world.signUp('waits');
      await until('a job waits', async () => {
        const { rowCount } = await world.owner.query(
          "select from pg_locks where relation = 'automations.runs'::regclass and not granted",
        );
        return (rowCount ?? 0) > 0;
      });
      await world.owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'trunkline-liveness' and datname = current_database()`,
      );
      await until('it is stopping', async () => (await fetch(`${origin}/readyz`)).status === 503);
      const { status } = await fetch(`${origin}/v1/events`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${world.project.server_key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(signUpOf('late-comer')),
      });
      expect(status).toBe(202);
      expect(both.child.exitCode).toBeNull();
      await world.owner.query('rollback');
      expect(await until('it ends', () => both.child.exitCode)).toBe(1);
      expect(both.lastError()).toBe('liveness connection lost');
    },
  );
});
