import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { record } from '../../src/feedback/feedback.ts';
import { addressOf, testWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';
import { until } from '../support/until.ts';

const RECOVERY_MS = 60_000;
const TEST_TIMEOUT_MS = 120_000;

const deliver = (world: World, sendId: string) =>
  inProject(world.deps, world.project.project_id, (scope) =>
    record(scope, 'smtp', [
      {
        kind: 'delivered',
        bounceType: null,
        email: addressOf('ann'),
        occurredAt: new Date(),
        sendId,
        messageIds: [],
        reason: null,
        suppresses: null,
        isTest: false,
        dedupeKey: sendId,
      },
    ]),
  );

/** What a SIGKILL at each step must leave behind, once another worker has taken over. */
const cases = [
  { failpoint: 'before_hand_off_commit', messages: 1, status: 'accepted' },
  { failpoint: 'after_hand_off_commit', messages: 0, status: 'unknown' },
  { failpoint: 'mid_body', messages: 0, status: 'unknown' },
  { failpoint: 'after_provider_answer', messages: 1, status: 'unknown' },
  { failpoint: 'after_outcome_commit', messages: 1, status: 'accepted' },
] as const;

describe.concurrent.each(cases)(
  'a worker killed at $failpoint',
  ({ failpoint, messages, status }) => {
    const world = testWorld();

    test(
      `leaves ${messages} message and the send ${status}, and work goes on`,
      { timeout: TEST_TIMEOUT_MS },
      async () => {
        await world.signUp('ann');
        const doomed = await world.start('worker', { TEST_FAILPOINT: failpoint });
        await until('the worker is killed', () => doomed.child.signalCode === 'SIGKILL');
        const killedAt = Date.now();
        await world.signUp('bob');

        await world.start('worker');
        const [send] = await until('the send is settled', async () => {
          const sends = await world.sendsTo('ann');
          return sends[0]?.status === status && sends;
        });
        await until('the next person is mailed', async () => {
          const sends = await world.sendsTo('bob');
          return sends[0]?.status === 'accepted';
        });
        expect(Date.now() - killedAt).toBeLessThan(RECOVERY_MS);

        // Nothing of the dead worker is left that could still cause a second message.
        await until('the queue is idle', async () => {
          const { rows } = await world.owner.query<{ left: number }>(
            `select (select count(*) from graphile_worker._private_jobs)::int
            + (select count(*) from queue.workers)::int - 1 as left`,
          );
          return rows[0]?.left === 0;
        });
        const received = world.sink.mails.filter(({ to }) => to.includes(addressOf('ann')));
        expect(received).toHaveLength(messages);
        expect(world.sink.partials.map(({ to }) => to)).toEqual(
          failpoint === 'mid_body' ? [[addressOf('ann')]] : [],
        );
        expect(await world.sendsTo('ann')).toEqual([send]);

        // Feedback proves what we could not know; it changes nothing that was known.
        await deliver(world, send?.send_id ?? '');
        expect(await world.sendsTo('ann')).toMatchObject([{ status: 'accepted' }]);
      },
    );
  },
);
