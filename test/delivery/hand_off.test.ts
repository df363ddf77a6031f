import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { CIRCUIT_FAILURES } from '../../src/providers/circuit.ts';
import { HAND_OFF_DEADLINE_MS } from '../../src/providers/transport.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;

/** Each has a service of its own: most of what they take is the wait for a deadline, at the same time. */
const worlds = () => {
  const world = testWorld();
  const statusOf = async (person: string): Promise<string | undefined> =>
    (await world.sendsTo(person)).at(-1)?.status;
  const attemptsOf = async (person: string) => {
    const { rows } = await world.owner.query<{
      attempt: number;
      outcome: string;
      reason: string | null;
    }>(
      `select tried.attempt, tried.outcome, tried.reason
      from delivery.attempts as tried join delivery.sends as send using (project_id, send_id)
      where send.recipient = $1 order by tried.attempt`,
      [addressOf(person)],
    );
    return rows;
  };
  /** Somebody who begins a transaction in which this is held. */
  const hold = async (statement: string, values: string[] = []): Promise<pg.Client> => {
    const holder = new pg.Client({ connectionString: world.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query(statement, values);
    return holder;
  };
  /** Until the commit that begins hand-offs has waited for that long. */
  const untilLate = (what: string, lateMs: number) =>
    until(what, async () => {
      const { rows } = await world.owner.query<{ is_late: boolean }>(
        `select clock_timestamp() - query_start > $1 * interval '1 ms' as is_late
        from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%step_hand_offs%'`,
        [lateMs],
      );
      return rows[0]?.is_late === true;
    });
  /** Until they are mailed: what is to be tried again is as much later as it waits for. */
  const untilMailed = (...people: string[]) =>
    until(`${people.join(', ')} are mailed`, async () => {
      await world.owner.query(
        `update delivery.sends set due_at = now() - interval '1 minute'
        where status = 'queued' and attempt_count > 0 and due_at > now()`,
      );
      const { rowCount } = await world.owner.query(
        "select from delivery.sends where status = 'accepted' and recipient = any ($1)",
        [people.map(addressOf)],
      );
      return rowCount === people.length;
    });
  return { world, statusOf, attemptsOf, hold, untilLate, untilMailed };
};

describe.concurrent('a commit of ours that is too slow', () => {
  const { world, attemptsOf, hold, untilLate, untilMailed } = worlds();

  test(
    'is no failure of the provider: what was not begun goes again',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const people = Array.from({ length: CIRCUIT_FAILURES + 1 }, (_, at) => `held-${at}`);
      const worker = await world.start('worker');
      const said: string[] = [];
      worker.child.stdout?.on('data', (chunk) => said.push(String(chunk)));
      const holder = await hold('lock table delivery.attempts in share mode');
      await world.signUp(...people);
      const what = 'the commits of all have waited for longer than they may take';
      await untilLate(what, 2 * HAND_OFF_DEADLINE_MS);
      await holder.end();
      await untilMailed(...people);
      const late: unknown[] = [];
      for (const person of people) late.push((await attemptsOf(person))[0]);
      const heldUp = { attempt: 1, outcome: 'not_started', reason: 'too_slow' };
      expect(
        late.filter((first) => isDeepStrictEqual(first, heldUp)).length,
      ).toBeGreaterThanOrEqual(CIRCUIT_FAILURES);
      const mailed = world.sink.mails.flatMap(({ to }) => to);
      expect(mailed.toSorted()).toEqual(people.map(addressOf));
      await worker.stop();
      expect(said.join('')).not.toContain('circuit of a provider opened');
    },
  );
});

describe.concurrent('a probe that was held up', () => {
  const { world, attemptsOf, hold, untilLate, untilMailed } = worlds();

  test(
    'is made again, and so is what a warm-up allowed',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      await world.owner.query(
        `update providers.providers set ramp_started_on = (now() at time zone 'UTC')::date, ramp_stages = '{1, 50}'`,
      );
      await world.owner.query(
        `insert into providers.paces (project_id, provider_id, failure_count, opened_until)
        select project_id, provider_id, $1, now() from providers.providers`,
        [CIRCUIT_FAILURES],
      );
      const holder = await hold('lock table delivery.attempts in share mode');
      const worker = await world.start('worker');
      await world.signUp('probe');
      await untilLate('its commit has waited for longer than it may take', HAND_OFF_DEADLINE_MS);
      // Nobody waits for it to be over.
      await world.owner.query(
        "update providers.paces set opened_until = now() + interval '1 hour'",
      );
      await holder.end();
      // On the same day.
      await untilMailed('probe');
      expect(await attemptsOf('probe')).toEqual([
        { attempt: 1, outcome: 'not_started', reason: 'too_slow' },
        { attempt: 2, outcome: 'accepted', reason: null },
      ]);
      await worker.stop();
      const { rows } = await world.owner.query(
        'select failure_count, ramp_count, probed_by from providers.paces',
      );
      expect(rows).toEqual([{ failure_count: 0, ramp_count: 1, probed_by: null }]);
    },
  );
});

describe.concurrent('a relay that is too slow to take a message in time', () => {
  const { world, attemptsOf } = worlds();

  test('is tried again later, and says so', { timeout: TEST_TIMEOUT_MS }, async () => {
    const worker = await world.start('worker');
    world.sink.play('rcpt', { delayMs: 5_500 }, { times: 1 });
    await world.signUp('late');
    await until('it was not begun', async () => {
      const [first] = await attemptsOf('late');
      return first?.outcome === 'not_started' && first.reason === 'too_slow';
    });
    await until('it counts as a failure of the provider', async () => {
      const { rows } = await world.owner.query('select failure_count from providers.paces');
      return isDeepStrictEqual(rows, [{ failure_count: 1 }]);
    });
    expect(world.sink.mails).toEqual([]);
    await worker.stop();
  });
});

describe.concurrent('an answer that cannot be written at once', () => {
  const { world, statusOf, attemptsOf, hold } = worlds();

  test('is written later, and stays what it was', { timeout: TEST_TIMEOUT_MS }, async () => {
    const worker = await world.start('worker');
    world.sink.play('end', { delayMs: 600 }, { times: 1 });
    await world.signUp('slow');
    await until(
      'the hand-off is committed',
      async () => (await statusOf('slow')) === 'handing_off',
    );
    const holder = await hold('select from delivery.sends where recipient = $1 for update', [
      addressOf('slow'),
    ]);
    await until('its outcome waits for the row', async () => {
      const { rows } = await world.owner.query<{ cancelled: boolean }>(
        `select pg_cancel_backend(pid) as cancelled from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%step_hand_offs%'`,
      );
      return rows[0]?.cancelled === true;
    });
    await holder.end();
    await until('it is accepted', async () => (await statusOf('slow')) === 'accepted');
    expect(await attemptsOf('slow')).toEqual([{ attempt: 1, outcome: 'accepted', reason: null }]);
    await worker.stop();
  });
});
