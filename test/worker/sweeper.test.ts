import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { HAND_OFF_DEADLINE_MS } from '../../src/delivery/delivery.ts';
import { toRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { until } from '../support/until.ts';
import { addressOf, signUpOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;

/** Each has a service of its own: what they wait for, they wait for at the same time. */
const worlds = () => {
  const world = testWorld();
  const statusOf = async (person: string): Promise<string | undefined> =>
    (await world.sendsTo(person)).at(-1)?.status;
  return { world, statusOf };
};

describe.concurrent('beside a worker that runs', () => {
  const { world, statusOf } = worlds();
  let worker: Service;
  beforeAll(async () => {
    worker = await world.start('worker');
  });
  afterAll(async () => {
    await worker.stop();
  });

  test(
    'events whose wake-up was lost are processed all the same',
    { timeout: TEST_TIMEOUT_MS, concurrent: false },
    async () => {
      const { project_id } = world.project;
      const row = toRow(
        signUpOf('forgotten'),
        { projectId: project_id, kind: 'server' },
        world.deps.keys,
      );
      await acceptEvents(world.deps.db, project_id, newId(), [row]);
      await until('the person is mailed', async () => (await statusOf('forgotten')) === 'accepted');
    },
  );

  test(
    'an event that could not be processed is processed once its cause is gone and its time has come',
    { timeout: TEST_TIMEOUT_MS, concurrent: false },
    async () => {
      await world.owner.query(
        `alter table identity.identities add constraint no_poison check (value <> 'poison')`,
      );
      await world.signUp('poison', 'beside');
      await until(
        'who came with it is mailed',
        async () => (await statusOf('beside')) === 'accepted',
      );
      await until('it waits alone', async () => {
        const { rows } = await world.owner.query<{ failure_count: number }>(
          'select failure_count from ingest.pending',
        );
        return rows.length === 1 && (rows[0]?.failure_count ?? 0) > 0;
      });
      await world.owner.query('alter table identity.identities drop constraint no_poison');
      await world.owner.query(
        'update ingest.pending set retry_at = now() where retry_at is not null',
      );
      await until('it is mailed too', async () => (await statusOf('poison')) === 'accepted');
    },
  );
});

describe.concurrent('a worker frozen after its commit', () => {
  const { world, statusOf } = worlds();

  test('finds its deadline passed and does not send', { timeout: TEST_TIMEOUT_MS }, async () => {
    const frozen = await world.start('worker', { TEST_FAILPOINT: 'after_hand_off_commit:SIGSTOP' });
    await world.signUp('late');
    await until(
      'the hand-off is committed',
      async () => (await statusOf('late')) === 'handing_off',
    );
    const { rows } = await world.owner.query<{ handed_off_at: Date }>(
      'select handed_off_at from delivery.sends where recipient = $1',
      [addressOf('late')],
    );
    const passedAt = (rows[0]?.handed_off_at.getTime() ?? 0) + HAND_OFF_DEADLINE_MS + 500;
    await until('the deadline has passed', () => Date.now() > passedAt);
    frozen.child.kill('SIGCONT');

    await until(
      'it is sent by a second attempt',
      async () => (await statusOf('late')) === 'accepted',
    );
    const { rows: attempts } = await world.owner.query<{ outcome: string }>(
      `select tried.outcome from delivery.attempts as tried join delivery.sends as send using (project_id, send_id)
      where send.recipient = $1 order by tried.attempt`,
      [addressOf('late')],
    );
    expect(attempts).toEqual([{ outcome: 'not_started' }, { outcome: 'accepted' }]);
    expect(world.sink.mails.filter(({ to }) => to.includes(addressOf('late')))).toHaveLength(1);
    await frozen.stop();
  });
});

describe.concurrent('queued sends without a job', () => {
  const { world, statusOf } = worlds();

  test('are sent all the same', { timeout: TEST_TIMEOUT_MS }, async () => {
    const worker = await world.start('worker');
    await world.signUp('first');
    await until('the first is mailed', async () => (await statusOf('first')) === 'accepted');
    await worker.stop();
    await world.owner.query(
      `update delivery.sends set status = 'queued', attempt_count = 0, due_at = now() - interval '1 ms'
      where recipient = $1`,
      [addressOf('first')],
    );
    await world.owner.query('delete from delivery.attempts');
    await world.owner.query(
      'select graphile_worker.complete_jobs(array(select id from graphile_worker._private_jobs))',
    );

    const next = await world.start('worker');
    await until('it is sent again', async () => (await statusOf('first')) === 'accepted');
    await next.stop();
  });
});

describe.concurrent('work whose wake-up failed again and again', () => {
  const { world, statusOf } = worlds();

  test('is not left for hours', { timeout: TEST_TIMEOUT_MS }, async () => {
    await world.signUp('unlucky');
    await until('its wake-up failed', async () => {
      const { rowCount } = await world.owner.query(
        "update graphile_worker._private_jobs set attempts = 12, run_at = now() + interval '6 hours'",
      );
      return (rowCount ?? 0) > 0;
    });
    const worker = await world.start('worker');
    await until('the person is mailed', async () => (await statusOf('unlucky')) === 'accepted');
    await worker.stop();
  });
});

describe.concurrent('a worker that stops', () => {
  const { world } = worlds();

  test('signs off and leaves nothing claimed', { timeout: TEST_TIMEOUT_MS }, async () => {
    const worker = await world.start('worker');
    expect(await worker.stop()).toBe(0);
    const { rows } = await world.owner.query<{ workers: number; leased: number; locked: number }>(
      `select (select count(*)::int from queue.workers) as workers,
        (
          select count(*)::int from delivery.sends
          where lease_owner is not null and status in ('queued', 'handing_off')
        ) as leased,
        (select count(*)::int from graphile_worker._private_jobs where locked_by is not null) as locked`,
    );
    expect(rows).toEqual([{ workers: 0, leased: 0, locked: 0 }]);
  });
});
