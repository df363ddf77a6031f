// A relay that takes few connections at a time, few a minute, or few messages over each.
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { NOT_THERE } from './relay.ts';
import { RELAY_KINDS } from './relay_kinds.ts';
import { relayWorld } from './relay_world.ts';
import { perSecond, report } from './report.ts';

const TIMEOUT_MS = 900_000;
const SENDS = 300;
const LIMITS = {
  Exim: { connectionsMax: 3, messagesPerConnection: 5 },
  Postfix: { connectionsMax: 3, connectionRateMax: 30, errorsMax: 1 },
};

describe.each(RELAY_KINDS)('$name limits connections', (kind) => {
  const at = relayWorld(kind, LIMITS[kind.name]);

  test(
    'fewer are used at a time, and all are handed over but one to an address that does not exist',
    { timeout: TIMEOUT_MS },
    async () => {
      const startedAt = Date.now();
      await at.signUp(SENDS / 2);
      await at.signUp(1, NOT_THERE);
      await at.signUp(SENDS / 2);
      await until('all are handed over', () => at.isDone(), TIMEOUT_MS - 60_000, 1_000);
      const figures = await at.figures();
      const average = await at.throughput(startedAt, Date.now());
      report(`${kind.name}, limits of connections`, figures, [`${perSecond(average)} on average`]);
      const all = { taken: SENDS, twice: 0, lost: 0, rejected: 1, unknown: 0 };
      expect(figures).toMatchObject(all);
    },
  );
});
