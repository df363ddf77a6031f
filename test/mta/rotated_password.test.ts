// The password of a relay changes while email is queued.
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { RELAY_KINDS } from './relay_kinds.ts';
import { relayWorld } from './relay_world.ts';
import { perSecond, report } from './report.ts';
import { settleUnknown } from './settle_unknown.ts';

const TIMEOUT_MS = 600_000;
/** Connections that are open go on with the old password, each for a hundred messages at most. */
const SENDS = 2_000;
const FIRST = 100;

describe.each(RELAY_KINDS)('$name has another password', (kind) => {
  const at = relayWorld(kind);

  test(
    'the provider parks and nothing ends; the record saved with the new one sends all',
    { timeout: TIMEOUT_MS },
    async () => {
      await at.signUp(SENDS);
      const acceptedCount = async () => (await at.counts())['accepted'] ?? 0;
      await until('email flows', async () => (await acceptedCount()) >= FIRST);
      await at.relay().change({ password: 'another password' });
      await until(
        'the provider is parked',
        async () => (await at.provider()).status === 'parked',
        TIMEOUT_MS / 2,
        500,
      );
      expect((await at.provider()).parked).toMatchObject({ reason: 'authentication_failed' });
      const { rejected = 0, queued = 0, planned = 0 } = await at.counts();
      expect(rejected).toBe(0);
      expect(queued + planned).toBeGreaterThan(0);

      expect(await at.save({ password: 'a wrong password' })).toBe(422);
      expect(await at.save({ password: 'another password' })).toBe(200);
      const savedAt = Date.now();
      const before = await acceptedCount();
      await until('all are handed over', () => at.isDone(), TIMEOUT_MS / 2, 500);
      const after = ((await acceptedCount()) - before) / ((Date.now() - savedAt) / 1_000);
      await settleUnknown(at);
      const figures = await at.figures();
      report(`${kind.name}, a rotated password`, figures, [`${perSecond(after)} after`]);
      expect(figures).toMatchObject({ taken: SENDS, twice: 0, lost: 0, rejected: 0, unknown: 0 });
    },
  );
});
