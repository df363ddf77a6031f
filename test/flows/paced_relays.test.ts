import { IDENTICAL_REFUSALS_MAX } from '../../src/delivery/refusal_streak.ts';
import { describe, expect, test } from 'vitest';
import { CIRCUIT_FAILURES } from '../../src/providers/circuit.ts';
import { LINKS_PER_PROVIDER_MAX } from '../../src/providers/providers.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

/** By the same clock as the relay's. */
const now = (): number => performance.timeOrigin + performance.now();
const TEST_TIMEOUT_MS = 120_000;

type State = { failure_count: number; is_open: boolean; learned_rate: number | null };
const worlds = () => {
  const world = testWorld();
  const people = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${name}-${at}`);
  const pace = async (): Promise<State | undefined> =>
    (
      await world.owner.query<State>(
        'select failure_count, coalesce(opened_until > now(), false) as is_open, learned_rate from providers.paces',
      )
    ).rows[0];
  const counts = async (): Promise<Record<string, number>> => {
    const { rows } = await world.owner.query<{ status: string; count: number }>(
      'select status, count(*)::int from delivery.sends group by status',
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };
  return { world, people, pace, counts };
};
/** Lets time pass for the circuit, the retries and what was learned. */
const later = `
  update providers.paces set opened_until = now() - interval '1 ms', next_at = now() - interval '1 ms', wakes_at = null;
  update delivery.sends set due_at = now() - interval '1 minute' where status = 'queued'`;

describe.concurrent('a relay that refuses connections', () => {
  const { world, people, pace, counts } = worlds();

  test(
    'opens its circuit after a few tries; a probe closes it, and everybody is mailed',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      await world.start('worker');
      world.sink.play('connect', 'drop');
      const before = world.sink.connections;
      await world.signUp(...people('waits', 60));
      await until('the circuit is open', async () => (await pace())?.is_open === true);
      await until('nothing is leased', async () => {
        const { rowCount } = await world.owner.query(
          `select from delivery.sends where lease_owner is not null`,
        );
        return rowCount === 0 && (await counts())['queued'] === 60;
      });
      // Each lane may be at it when the circuit opens, and those that failed before try another.
      const triesMax = LINKS_PER_PROVIDER_MAX + CIRCUIT_FAILURES - 1;
      expect(world.sink.connections - before).toBeLessThanOrEqual(triesMax);

      world.sink.reset();
      await world.owner.query(later);
      await until('everybody is mailed', async () => (await counts())['accepted'] === 60);
      expect(await pace()).toMatchObject({ failure_count: 0, is_open: false });
      expect(new Set(world.sink.mails.flatMap(({ to }) => to)).size).toBe(60);
      expect(world.sink.mails).toHaveLength(60);
    },
  );
});

describe.concurrent('a relay that throttles', () => {
  const { world, people, pace, counts } = worlds();

  test(
    '454 teaches a rate, nothing is lost and nothing is sent twice',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      await world.start('worker');
      world.sink.play('mail', { code: 454, text: 'Throttling failure' }, { times: 3 });
      await world.signUp(...people('throttled', 20));
      await until('a rate is learned', async () => ((await pace())?.learned_rate ?? 0) > 0);
      await until('everybody is mailed', async () => {
        await world.owner.query(
          `update delivery.sends set due_at = now() - interval '1 minute'
          where status = 'queued' and due_at > now()`,
        );
        return (await counts())['accepted'] === 20;
      });
      expect(world.sink.mails).toHaveLength(20);
      const { rows } = await world.owner.query<{ reason: string }>(
        `select distinct reason from delivery.attempts where outcome = 'deferred'`,
      );
      expect(rows).toEqual([{ reason: 'throttled' }]);
    },
  );
});

describe.concurrent('a relay that never answers after the end of a message', () => {
  const { world, people, counts, pace } = worlds();

  test(
    'leaves a few sends unknown after the wait, the circuit open and the rest queued',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      world.sink.play('end', 'hang');
      await world.start('worker', { ANSWER_TIMEOUT_SECONDS: '2' });
      await world.signUp(...people('hangs', 30));
      await until('the circuit is open', async () => (await pace())?.is_open === true);
      await until('all are planned, and none is being handed over', async () => {
        const { unknown = 0, queued = 0 } = await counts();
        return unknown + queued === 30;
      });
      const { unknown = 0 } = await counts();
      expect(unknown).toBeLessThanOrEqual(LINKS_PER_PROVIDER_MAX + CIRCUIT_FAILURES - 1);
      expect(world.sink.mails).toHaveLength(unknown);
    },
  );
});

describe.concurrent('a relay that refuses', () => {
  const { world, people, counts, pace } = worlds();
  const COUNT = 40;

  test(
    'the sender is parked: all that waits stays queued, and is mailed once the record is active again',
    { timeout: TEST_TIMEOUT_MS, concurrent: false },
    async () => {
      world.sink.play('mail', { code: 550, text: '5.1.8 sender is not verified' });
      await world.signUp(...people('unverified', COUNT));
      await world.start('worker');
      const isParked = async () =>
        (await world.owner.query(`select from providers.providers where status = 'parked'`))
          .rowCount === 1;
      await until('the provider is parked', isParked);
      await until('all are planned, and none is being handed over', async () => {
        const { queued = 0 } = await counts();
        return queued === COUNT;
      });
      expect((await counts())['rejected']).toBeUndefined();

      world.sink.reset();
      // As a test that passes does it. The email of another person wakes the worker, when all of them are due.
      await world.owner.query(later);
      await world.owner.query(
        `update providers.providers set status = 'active', parked_reason = null, revision = revision + 1`,
      );
      await world.signUp(...people('after', 1));
      await until('all are mailed', async () => {
        await world.owner.query(later);
        return (await counts())['accepted'] === COUNT + 1;
      });
    },
  );

  test(
    'a few messages: each answer ends its message, and the provider goes on',
    { timeout: TEST_TIMEOUT_MS, concurrent: false },
    async () => {
      world.sink.play('end', { code: 552, text: '5.3.4 message too large' }, { times: 3 });
      await world.signUp(...people('refused', 3));
      await until('all are refused', async () => (await counts())['rejected'] === 3);
      expect((await pace())?.is_open ?? false).toBe(false);
    },
  );

  test(
    'several people in the same words is held: the other emails stay queued',
    { timeout: TEST_TIMEOUT_MS, concurrent: false },
    async () => {
      const before = (await counts())['rejected'] ?? 0;
      world.sink.play('end', { code: 554, text: '5.6.0 message content rejected' });
      await world.signUp(...people('alike', COUNT));
      await until('the provider is held', async () => (await pace())?.is_open === true);
      await until('all are planned, and none is being handed over', async () => {
        const { rejected = 0, queued = 0 } = await counts();
        return rejected - before + queued === COUNT;
      });
      const ended = ((await counts())['rejected'] ?? 0) - before;
      // Lanes that were at it when the last of them was counted, each with one.
      expect(ended).toBeLessThanOrEqual(IDENTICAL_REFUSALS_MAX + LINKS_PER_PROVIDER_MAX - 1);
    },
  );
});

describe.concurrent('a rate that is configured', () => {
  const { world, people, counts } = worlds();

  test(
    'is kept by two workers together, and what waits goes by itself',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      await world.owner.query('update providers.providers set rate_per_second = 10');
      await world.start('worker');
      await world.start('worker');
      const startedAt = now();
      await world.signUp(...people('paced', 60));
      await until('everybody is mailed', async () => (await counts())['accepted'] === 60);
      const tookMs = Math.max(...world.sink.mails.map(({ receivedAt }) => receivedAt)) - startedAt;
      // 59 intervals of 100 ms; whatever is late only makes it longer.
      expect(tookMs).toBeGreaterThan(5_000);
    },
  );
});

describe.concurrent('a ramp', () => {
  const { world, people, counts } = worlds();

  test(
    'sends what marketing may have of a day; the rest waits for the next day and says so',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      await world.owner.query(
        `update providers.providers set ramp_started_on = (now() at time zone 'UTC')::date, ramp_stages = '{5, 50}'`,
      );
      await world.start('worker');
      await world.signUp(...people('warm', 12));
      await until('the rest waits', async () => {
        const { rowCount } = await world.owner.query(
          `select from delivery.sends where status = 'queued' and status_reason = 'ramp'
          and due_at = ((now() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC'`,
        );
        // A fifth is reserved for transactional email.
        return rowCount === 8 && (await counts())['accepted'] === 4;
      });
      expect(world.sink.mails.every(({ to }) => to[0]?.startsWith('warm-'))).toBe(true);
      expect(addressOf('warm-0')).toContain('warm-0');
    },
  );
});
