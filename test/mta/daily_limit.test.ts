// A relay that takes so many messages of the account a day, or a minute.
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { RELAY_KINDS, POSTFIX } from './relay_kinds.ts';
import { relayWorld } from './relay_world.ts';
import { perSecond, report } from './report.ts';

const TIMEOUT_MS = 600_000;
const DAILY_MAX = 40;
const SENDS = 120;

describe.each(
  RELAY_KINDS.flatMap((kind) => [
    { kind, answer: 'defer' as const, code: '4xx' },
    { kind, answer: 'deny' as const, code: '5xx' },
  ]),
)('$kind.name answers $code past its daily limit', ({ kind, answer, code }) => {
  const at = relayWorld(kind);

  test(
    'the account is held and nothing ends; once the limit is lifted and a test email passes, all are sent',
    { timeout: TIMEOUT_MS },
    async () => {
      await at.relay().change({ dailyMax: DAILY_MAX, pastDailyMax: answer });
      await at.signUp(SENDS);
      const isHeld = async () => (await at.provider()).pace.paused?.reason === 'quota_exhausted';
      await until('the account is held', isHeld);
      await until('none is being handed over', async () => {
        const { planned = 0, handing_off: begun = 0 } = await at.counts();
        return planned + begun === 0;
      });
      const held = await at.counts();
      expect(held).toEqual({ accepted: DAILY_MAX, queued: SENDS - DAILY_MAX });
      expect(await at.testProvider()).toBe(422);

      await at.relay().change({ dailyMax: null });
      await until('a test email is taken', async () => (await at.testProvider()) === 200);
      await until('all are handed over', () => at.isDone(), TIMEOUT_MS / 2, 500);
      const figures = await at.figures();
      report(`${kind.name}, a daily limit (${code})`, figures, ['a test email ended the hold']);
      expect(figures).toMatchObject({ taken: SENDS, twice: 0, lost: 0, rejected: 0, unknown: 0 });
    },
  );
});

describe('Postfix takes 120 messages a minute', () => {
  const PER_MINUTE = 120;
  const at = relayWorld(POSTFIX, { messageRateMax: PER_MINUTE });

  test(
    'sends become slower, and all are handed over without help',
    { timeout: TIMEOUT_MS },
    async () => {
      const startedAt = Date.now();
      await at.signUp(2 * PER_MINUTE + SENDS);
      await until('all are handed over', () => at.isDone(), TIMEOUT_MS - 60_000, 1_000);
      const figures = await at.figures();
      const average = await at.throughput(startedAt, Date.now());
      report('Postfix, 120 messages a minute', figures, [`${perSecond(average)} on average`]);
      const all = { taken: figures.planned, twice: 0, lost: 0, rejected: 0, unknown: 0 };
      expect(figures).toMatchObject(all);
    },
  );
});
