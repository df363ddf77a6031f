// `make fault` in a minute: api, worker and Postgres crash once each under load, then all twenty invariants are judged.
// Once with a seed that is always the same, and once with another, which is printed: `make fault seed=…` repeats it.
// Both at the same time, each in a house of its own: the most of a run is the wait for what comes back.
import { describe, expect, test } from 'vitest';
import { Journal } from './journal.ts';
import { listBroken, report } from './report.ts';
import { run } from './run.ts';
import { shortest } from './short.ts';

const TIMEOUT_MS = 360_000;
const ALWAYS = 1;
const SEED_END = 2 ** 32;

/** How often each of what the invariants speak of was done, and answered: of what never happened, they hold anyway. */
const countDone = ({ events, people, said, made, answers }: Journal): Record<string, number> => {
  const erased = people.filter(({ erase }) => typeof erase === 'object');
  const answered = said.filter(({ ackedAt }) => ackedAt !== null);
  return {
    'a link undone': people.filter(({ isLinked, links }) => isLinked === false && links.undone > 0)
      .length,
    'an erase': erased.length,
    'a suppression': answered.filter((one) => one.said === 'suppress').length,
    'a suppression lifted': answered.filter((one) => one.said === 'lift').length,
    'an unsubscribe': answered.filter((one) => one.said === 'unsubscribe').length,
    'a resubscribe': answered.filter((one) => one.said === 'resubscribe').length,
    'an erase of somebody suppressed': erased.filter(({ email }) =>
      answered.some((one) => one.email === email && one.said === 'suppress'),
    ).length,
    'an erase of somebody with a device': erased.filter(({ isLinked }) => isLinked).length,
    'a notice': answered.filter((one) => one.said === 'bounce' || one.said === 'complaint').length,
    'a notice, signed': [...answers.keys()].filter((name) => name.endsWith('signed 200')).length,
    ...Object.fromEntries(
      (['key', 'provider', 'automation'] as const).map((what) => [
        `a decision about a ${what}`,
        made.filter((one) => one.what === what).length,
      ]),
    ),
    'an event stored': events.filter(({ fate }) => fate === 'stored').length,
    'an event refused': events.filter(({ fate }) => fate === 'refused').length,
  };
};

test('what was never done in a run is named', () => {
  const nothing = Object.values(countDone(new Journal()));
  expect(nothing).toEqual(nothing.map(() => 0));
});

describe.concurrent.each([
  ['the seed of every run', ALWAYS],
  ['a seed of this run', Math.floor(Math.random() * SEED_END)],
])('%s', (_what, seed) => {
  test(
    'crashes of an api, a worker and Postgres under load break no invariant',
    { timeout: TIMEOUT_MS },
    async () => {
      console.log(`seed=${seed}`);
      const ran = await run({ seed, forMs: 'once', faults: shortest });
      const broken = listBroken(ran);
      if (broken.length > 0) report(ran, shortest);
      expect(broken, `seed=${seed}: ${broken.join('; ')}`).toEqual([]);
      // Nothing is shown by a run in which nothing happened.
      for (const { id } of shortest) expect([id, ran.injected.get(id)?.times]).toEqual([id, 1]);
      expect(ran.messages).toBeGreaterThan(0);
      const { events, sends, payloads } = ran.samples;
      for (const seen of [events, sends, payloads]) expect(seen.size).toBeGreaterThan(0);
      const done = Object.entries(countDone(ran.journal));
      expect(done.filter(([, count]) => count === 0)).toEqual([]);
    },
  );
});
