import { describe, expect, test } from 'vitest';
import { CIRCUIT_FAILURES } from '../../src/providers/circuit.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { until } from '../support/until.ts';
import { addressOf, testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;

/** Each has a service of its own: until a worker is known to be dead, they wait at the same time. */
const worlds = () => {
  const world = testWorld();
  const statusOf = async (person: string): Promise<string | undefined> =>
    (await world.sendsTo(person)).at(-1)?.status;
  /** A worker that dies where it is said while it hands mail for somebody over. */
  const dieAt = async (failpoint: string, person: string): Promise<void> => {
    const doomed = await world.start('worker', { TEST_FAILPOINT: failpoint });
    await world.signUp(person);
    await until('it dies', () => doomed.child.signalCode === 'SIGKILL');
  };
  return { world, statusOf, dieAt };
};

const stop = async (worker: Service): Promise<void> => {
  expect(await worker.stop()).toBe(0);
};

describe.concurrent('the probe of a worker that died', () => {
  const { world, statusOf, dieAt } = worlds();

  test('is somebody else’s as soon as that is known', { timeout: TEST_TIMEOUT_MS }, async () => {
    await world.owner.query(
      `insert into providers.paces (project_id, provider_id, failure_count, opened_until)
      select project_id, provider_id, $1, now() from providers.providers`,
      [CIRCUIT_FAILURES],
    );
    await dieAt('after_hand_off_commit', 'probe');
    // However long a probe may take: nobody waits for this one.
    await world.owner.query("update providers.paces set opened_until = now() + interval '1 hour'");

    const worker = await world.start('worker');
    await world.signUp('next');
    await until('the next one is mailed', async () => (await statusOf('next')) === 'accepted');
    expect(await statusOf('probe')).toBe('unknown');
    await stop(worker);
    const { rows } = await world.owner.query(
      'select failure_count, probed_by from providers.paces',
    );
    expect(rows).toEqual([{ failure_count: 0, probed_by: null }]);
    const { rowCount } = await world.owner.query('select from queue.workers');
    expect(rowCount).toBe(0);
  });
});

describe.concurrent('a share of a warm-up that a worker took before it died', () => {
  const { world, statusOf, dieAt } = worlds();

  test('is used on the same day', { timeout: TEST_TIMEOUT_MS }, async () => {
    await world.owner.query(
      `update providers.providers set ramp_started_on = (now() at time zone 'UTC')::date, ramp_stages = '{1, 50}'`,
    );
    await dieAt('before_hand_off_commit', 'leased');
    const { rows } = await world.owner.query('select ramp_count from providers.paces');
    expect(rows).toEqual([{ ramp_count: 1 }]);

    const worker = await world.start('worker');
    await until('it is mailed', async () => (await statusOf('leased')) === 'accepted');
    expect(world.sink.mails.filter(({ to }) => to.includes(addressOf('leased')))).toHaveLength(1);
    await stop(worker);
    const { rows: after } = await world.owner.query('select ramp_count from providers.paces');
    expect(after).toEqual([{ ramp_count: 1 }]);
  });
});
