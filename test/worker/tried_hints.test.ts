import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { hastenRetries, RETRY_WAIT_MAX_SECONDS } from '../../src/worker/tried_hints.ts';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

/** A job of the queue that has been tried, and waits; by its key it is a hint, or comes by the clock. */
const withJob = async (
  key: (hint: string) => string,
  set: string,
): Promise<() => Promise<number>> => {
  const task = `t/${newId()}`;
  const payload = JSON.stringify({ project_id: newId() });
  const { rows } = await database.owner.query<{ id: string }>(
    'select id from graphile_worker.add_job($1, $2::jsonb::json, job_key => $3)',
    [task, payload, key(`${task}${payload.replace(':', ': ')}`)],
  );
  const id = rows[0]?.id;
  await database.owner.query(`update graphile_worker._private_jobs set ${set} where id = $1`, [id]);
  return async () => {
    const { rows: found } = await database.owner.query<{ seconds: number }>(
      `select extract(epoch from run_at - now())::float8 as seconds
      from graphile_worker._private_jobs where id = $1`,
      [id],
    );
    return found[0]?.seconds ?? NaN;
  };
};
const asHint = (hint: string): string => hint;

test('a hint that failed often waits no longer than it may; what comes by the clock waits as it did', async () => {
  const inAnHour = "run_at = now() + interval '1 hour'";
  const failed = await withJob(asHint, `attempts = 9, ${inAnHour}`);
  const soon = await withJob(asHint, `attempts = 2, run_at = now() + interval '15 seconds'`);
  const planned = await withJob(asHint, inAnHour);
  const begun = await withJob(
    asHint,
    `attempts = 1, locked_at = now(), locked_by = 'w', ${inAnHour}`,
  );
  const byTheClock = await withJob(() => 'http/forget_keys', `attempts = 4, ${inAnHour}`);

  const client = await connectAs(database, 'trunkline_queue');
  expect(await hastenRetries(client)).toBe(1);
  expect(await failed()).toBeLessThanOrEqual(RETRY_WAIT_MAX_SECONDS);
  expect(await failed()).toBeGreaterThan(0);
  expect(await soon()).toBeLessThanOrEqual(15);
  for (const wait of [planned, begun, byTheClock]) expect(await wait()).toBeGreaterThan(3_000);
  expect(await hastenRetries(client)).toBe(0);
});
