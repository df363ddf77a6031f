import { expect, test } from 'vitest';
import { ALIVE_SECONDS, BEAT_EVERY_MS, startPresence } from '../../src/http/presence.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const rows = async () =>
  (await database.owner.query('select process_id from base.api_processes')).rowCount;

test('each process knows how many live, from its first beat on', async () => {
  const counts: number[][] = [[], [], []];
  const started = [];
  for (const seen of counts)
    started.push(await startPresence(database.deps, (count) => void seen.push(count)));
  expect(counts.map(([first]) => first)).toEqual([1, 2, 3]);
  await expect.poll(() => counts.map((seen) => seen.at(-1))).toEqual([3, 3, 3]);

  await started[0]?.stop();
  await expect.poll(() => counts.slice(1).map((seen) => seen.at(-1))).toEqual([2, 2]);
  for (const presence of started.slice(1)) await presence.stop();
  expect(await rows()).toBe(0);
});

test('who is silent does not count, and is forgotten by whoever starts an hour later', async () => {
  await database.owner.query(
    `insert into base.api_processes values
      (gen_random_uuid(), now() - make_interval(secs => $1)),
      (gen_random_uuid(), now() - interval '2 hours')`,
    [ALIVE_SECONDS + 1],
  );
  let count = 0;
  const presence = await startPresence(database.deps, (processes) => (count = processes));
  expect(count).toBe(1);
  expect(await rows()).toBe(2);
  await presence.stop();
  expect(await rows()).toBe(1);
  expect(ALIVE_SECONDS * 1_000).toBeGreaterThan(3 * BEAT_EVERY_MS);
});

test('while the database cannot be asked the last number holds, and nothing fails', async () => {
  await database.owner.query('revoke all on base.api_processes from trunkline_runtime');
  let asked = 0;
  const presence = await startPresence(database.deps, () => (asked += 1));
  await presence.stop();
  expect(asked).toBe(0);
  await database.owner.query(
    'grant select, insert, update, delete on base.api_processes to trunkline_runtime',
  );
});
