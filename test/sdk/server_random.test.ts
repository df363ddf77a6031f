// Random calls about a few people, and random faults of the way: each call comes to the service exactly
// once, and those of one person in their order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import type { SentCall, Trunkline } from '../../src/sdk/server/server.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { faultyApi } from '../support/faulty_api.ts';
import type { Fault, Seen } from '../support/faulty_api.ts';
import { eventsOf, newClient } from './server_told.ts';

const database = testDatabase();
const api = testApi(database);
const way = faultyApi(() => api.url);

const RUNS = 40;
const RETRY_SOON = { status: 429, headers: { 'retry-after': '0' } };

type Step =
  { do: 'track' | 'identify' | 'alias'; user: string; device: string | null } | { do: 'flush' };

const user = fc.constantFrom('ann', 'ben', 'cat');
const device = fc.option(fc.constantFrom('phone', 'laptop'), { freq: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('track' as const), user, device }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('identify' as const), user, device }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
);
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Fault>('pass') },
  fc.constantFrom<Fault>('cut_request', 'cut_answer', 'lose_answer', { status: 500 }, RETRY_SOON),
);

const play = async (client: Trunkline, steps: readonly Step[]): Promise<void> => {
  for (const [n, one] of steps.entries()) {
    if (one.do === 'flush') {
      await client.flush();
      continue;
    }
    const anonymousId = one.device ?? undefined;
    if (one.do === 'track')
      client.track('step_taken', { userId: one.user, anonymousId, properties: { n } });
    else client.identify({ userId: one.user, anonymousId, traits: { n } });
  }
};

type Body = SentCall['body'] & { properties?: { n: number }; traits?: { n: number } };

/** The steps that the service has taken, each when it first was. */
const arrivalsOf = (seen: readonly Seen[]): { n: number; people: string[] }[] => {
  const bodies = seen
    .filter(({ status }) => status === 202)
    .flatMap(({ body }) => (body as { events?: Body[] }).events ?? [body as Body]);
  const arrived = new Map<number, string[]>();
  for (const body of bodies) {
    const n = body.properties?.n ?? body.traits?.n ?? NaN;
    const people = [body.external_id, body.anonymous_id].filter((id) => id !== undefined);
    if (!arrived.has(n)) arrived.set(n, people);
  }
  return [...arrived].map(([n, people]) => ({ n, people }));
};

test('whatever is called and whatever fails: once each, and in order for each person', async () => {
  let faults = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60 }),
      fc.array(fault, { maxLength: 20 }),
      fc.integer({ min: 1, max: 12 }),
      async (steps, fates, flushSize) => {
        api.project = await createProject(database.deps, 'sdk');
        way.seen.length = 0;
        const left = [...fates];
        way.decide(() => left.shift() ?? 'pass');
        const { client, told } = newClient(api, { apiHost: way.url, flushSize, retryMaxMs: 10 });
        await play(client, steps);
        await client.close();
        faults += way.seen.filter((one) => one.fault !== 'pass').length;

        expect(told).toEqual([]);
        const tracked = steps.flatMap((one, n) => (one.do === 'track' ? [n] : []));
        const stored = (await eventsOf(database, api)).map(({ properties }) => properties['n']);
        expect(stored.toSorted((a, b) => Number(a) - Number(b))).toEqual(tracked);

        const arrivals = arrivalsOf(way.seen);
        const called = steps.flatMap((one, n) => (one.do === 'flush' ? [] : [n]));
        expect(arrivals.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(called);
        for (const person of ['ann', 'ben', 'cat', 'phone', 'laptop']) {
          const own = arrivals.filter(({ people }) => people.includes(person)).map(({ n }) => n);
          expect(own).toEqual(own.toSorted((a, b) => a - b));
        }
      },
    ),
    { numRuns: RUNS, interruptAfterTimeLimit: 20_000 },
  );
  // Both sides were tried.
  expect(faults).toBeGreaterThan(RUNS / 4);
});
