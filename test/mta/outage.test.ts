// A relay that is away for 90 seconds, in real time, while email is queued.
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { RELAY_KINDS } from './relay_kinds.ts';
import { relayWorld } from './relay_world.ts';
import { perSecond, report } from './report.ts';
import { settleUnknown } from './settle_unknown.ts';

const OUTAGE_MS = 90_000;
/** The bound: so soon after the relay is back, the throughput is what it was. */
const RECOVERY_MS = 120_000;
const RECOVERED_SHARE = 0.9;
const WINDOW_MS = 10_000;
const TIMEOUT_MS = 900_000;
const PLANNED_MS = 300_000;
const SENDS = 4_000;
const FLOWING_SENDS = 100;
/** A relay at its own limit takes a third more or less from one window to the next. Below it, windows are equal. */
const RATE = 100;
/** How many seconds of email are added while the relay is away, so that the queue lasts. */
const ADDED_SECONDS = 60;

const passed = (ms: number, since: number): Promise<true> =>
  until(`${ms} ms have passed`, () => Date.now() - since >= ms, ms + 10_000);

describe.each(RELAY_KINDS)('$name is away for 90 seconds', (kind) => {
  const at = relayWorld(kind);

  /** Waits until a window has nine tenths of the throughput of before. Returns after how many seconds it began. */
  const recover = async (backAt: number, before: number) => {
    let windowAt = backAt;
    return until(
      'the throughput is what it was',
      async () => {
        for (; windowAt + WINDOW_MS <= Date.now(); windowAt += 1_000) {
          const after = await at.throughput(windowAt, windowAt + WINDOW_MS);
          if (after >= RECOVERED_SHARE * before)
            return { after, second: (windowAt - backAt) / 1_000 };
        }
        return null;
      },
      2 * RECOVERY_MS,
    );
  };

  test(
    'nothing is lost, and the throughput is back within two minutes',
    { timeout: TIMEOUT_MS },
    async () => {
      // All are planned first, at the lowest rate: the test measures sending alone.
      expect(await at.save({ rate_per_second: 1 })).toBe(200);
      await at.signUp(SENDS);
      await until('all are planned', () => at.isPlanned(), PLANNED_MS, 500);
      expect(await at.save({ rate_per_second: RATE })).toBe(200);
      const acceptedCount = async () => (await at.counts())['accepted'] ?? 0;
      const first = await acceptedCount();
      await until('email flows', async () => (await acceptedCount()) >= first + FLOWING_SENDS);
      const startedAt = Date.now();
      await passed(WINDOW_MS, startedAt);
      const before = await at.throughput(startedAt, startedAt + WINDOW_MS);
      expect(
        (await at.counts())['queued'],
        'the queue was empty before the outage',
      ).toBeGreaterThan(0);
      await at.relay().end();
      const awayAt = Date.now();
      await at.signUp(Math.ceil(before * ADDED_SECONDS));
      await until('all are planned', () => at.isPlanned(), PLANNED_MS, 500);
      await passed(OUTAGE_MS, awayAt);
      await at.relay().begin();
      const backAt = Date.now();
      const { after, second } = await recover(backAt, before);

      await until(
        'all are handed over',
        async () => {
          await settleUnknown(at);
          return at.isDone();
        },
        TIMEOUT_MS / 3,
        1_000,
      );
      const figures = await at.figures();
      report(`${kind.name}, an outage of 90 s`, figures, [
        `${perSecond(before)} before`,
        `${perSecond(after)} after (${(after / before).toFixed(2)}) from second ${second}`,
      ]);
      expect(figures).toMatchObject({ taken: figures.planned, twice: 0, lost: 0, rejected: 0 });
      expect(second).toBeLessThanOrEqual(RECOVERY_MS / 1_000);
    },
  );
});
