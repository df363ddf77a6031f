import { expect, test } from 'vitest';
import { ALIVE_SECONDS } from '../../src/http/presence.ts';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const world = testWorld();

const TIMEOUT_MS = 90_000;
const PER_SECOND = 10;
const QUOTA = PER_SECOND * WINDOW_SECONDS;
const env = { RATE_LIMIT_SERVER: String(PER_SECOND) };

const send = async ({ port }: Service, key: string): Promise<Response> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1/suppressions`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.text();
  return response;
};

/** What a process grants a key that nobody used before. */
const shareOf = async (service: Service): Promise<number> => {
  const { server_key } = await createProject(world.deps, 'probe');
  const { headers } = await send(service, server_key);
  return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]) + 1;
};
const untilEachGrants = (share: number, services: Service[]) =>
  until(`each grants ${share}`, async () => {
    const shares = await Promise.all(services.map(shareOf));
    return shares.every((granted) => granted === share);
  });

/** How many of a flood of requests to all processes at once were taken. */
const flood = async (services: Service[]): Promise<number> => {
  const { server_key } = await createProject(world.deps, 'flood');
  const targets = Array.from({ length: QUOTA * 2 }, () => services).flat();
  const statuses = await Promise.all(
    targets.map(async (service) => (await send(service, server_key)).status),
  );
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
};

test(
  'two processes keep a limit together within a factor of two, one alone takes it whole',
  { timeout: TIMEOUT_MS },
  async () => {
    const one = await world.start('api', env);
    expect(await shareOf(one)).toBe(QUOTA);
    const other = await world.start('api', env);
    await untilEachGrants(QUOTA / 2, [one, other]);
    const taken = await flood([one, other]);
    console.log(`two processes took ${taken} requests; the limit is ${QUOTA}`);
    expect(taken).toBeGreaterThanOrEqual(QUOTA / 2);
    expect(taken).toBeLessThanOrEqual(QUOTA * 2);

    // One signs off: the other knows at its next heartbeat.
    expect(await other.stop('SIGTERM')).toBe(0);
    const { rowCount } = await world.owner.query('select from base.api_processes');
    expect(rowCount).toBe(1);
    await untilEachGrants(QUOTA, [one]);

    // One is killed without a word: its silence says it.
    const third = await world.start('api', env);
    await untilEachGrants(QUOTA / 2, [one, third]);
    await third.stop('SIGKILL');
    const killedAt = Date.now();
    await untilEachGrants(QUOTA, [one]);
    expect(Date.now() - killedAt).toBeLessThan((ALIVE_SECONDS + 10) * 1_000);
    const alone = await flood([one]);
    expect(alone).toBeGreaterThanOrEqual(QUOTA);
    expect(alone).toBeLessThanOrEqual(QUOTA * 2);
  },
);

test('a worker takes no share: it takes no requests', { timeout: TIMEOUT_MS }, async () => {
  const before = await world.owner.query('select from base.api_processes');
  const worker = await world.start('worker');
  const after = await world.owner.query('select from base.api_processes');
  expect(after.rowCount).toBe(before.rowCount);
  await worker.stop();
});
