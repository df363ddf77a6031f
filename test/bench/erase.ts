import { setTimeout as wait } from 'node:timers/promises';
import { startScratchPostgres } from '../../src/runtime/scratch_postgres.ts';
import { ask, openGrown, subjectsOf } from './growth_world.ts';
import type { Grown } from './growth_world.ts';
import { DURABLE } from './installation.ts';
import type { Comparison } from './measure.ts';

const ROUNDS = 5;
const GROWTH = 10;
const PEOPLE = 2_000;
const EVENTS = 100_000;
const OWN_EVENTS = 2_000;
const POLL_MS = 5;

/** Milliseconds from asking for the erase of somebody nobody has erased yet to its receipt. */
const erasePerson = async (world: Grown, ownEvents: number, round: number): Promise<number> => {
  const person = subjectsOf(ownEvents)[round]?.externalId;
  const startedAt = performance.now();
  const { erasure } = await ask(world, `/v1/profiles/external_id:${person}/erase`, {});
  while ((await ask(world, `/v1/erasures/${erasure?.id}`)).status !== 'done') await wait(POLL_MS);
  return performance.now() - startedAt;
};

/** How long an erase takes, by what is held about others and about the person. */
export const erase = async (): Promise<Comparison[]> => {
  const server = await startScratchPostgres({ ...DURABLE, shared_buffers: '512MB' });
  const most = OWN_EVENTS * GROWTH;
  const sizes = { people: PEOPLE, events: EVENTS, ownEvents: [OWN_EVENTS, most] };
  const small = await openGrown(server.url, 'small', sizes, 'all');
  const large = await openGrown(
    server.url,
    'large',
    { people: PEOPLE * GROWTH, events: EVENTS * GROWTH, ownEvents: [OWN_EVENTS] },
    'all',
  );
  const times = { once: [] as number[], others: [] as number[], own: [] as number[] };
  for (let round = -1; round < ROUNDS; round += 1) {
    const once = await erasePerson(small, OWN_EVENTS, round + 1);
    const others = await erasePerson(large, OWN_EVENTS, round + 1);
    const own = await erasePerson(small, most, round + 1);
    if (round < 0) continue; // Warming up.
    times.once.push(once);
    times.others.push(others);
    times.own.push(own / GROWTH);
  }
  for (const world of [small, large]) await world.close();
  await server.stop();
  const comparedWith = `${PEOPLE} people with ${EVENTS} events, ${OWN_EVENTS} of the person`;
  const good = { atMost: 1.2 };
  return [
    {
      name: `erase, ${GROWTH}x other people's data`,
      unit: 'ms',
      measured: times.others,
      comparedWith,
      comparison: times.once,
      good,
    },
    {
      name: `erase, ${GROWTH}x own events, for as many of them`,
      unit: 'ms',
      measured: times.own,
      comparedWith,
      comparison: times.once,
      good,
    },
  ];
};
