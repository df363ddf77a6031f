// A relay that defers each recipient that it sees for the first time, for a minute; in real time.
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { RELAY_KINDS } from './relay_kinds.ts';
import { relayWorld } from './relay_world.ts';
import { report } from './report.ts';

const TIMEOUT_MS = 900_000;
const SENDS = 60;
const GREY_SECONDS = 60;
/** Three retries wait for half a minute, one and two at most. */
const DONE_MS = 600_000;

describe.each(RELAY_KINDS)('$name greylists', (kind) => {
  const at = relayWorld(kind);

  test(
    'each send waits alone, and all are handed over; the provider is not held',
    { timeout: TIMEOUT_MS },
    async () => {
      await at.relay().change({ greySeconds: GREY_SECONDS });
      await at.signUp(SENDS);
      await until('all are handed over', () => at.isDone(), DONE_MS, 1_000);
      const { rows } = await at.world.owner.query<{ reason: string; attempts: number }>(
        `select reason, max(attempt) as attempts from delivery.attempts where outcome = 'deferred' group by reason`,
      );
      const figures = await at.figures();
      const attempts = Math.max(...rows.map((row) => row.attempts)) + 1;
      report(`${kind.name}, greylisting for ${GREY_SECONDS} s`, figures, [
        `${attempts} attempts at most`,
      ]);
      expect(figures).toMatchObject({ taken: SENDS, twice: 0, lost: 0, rejected: 0, unknown: 0 });
      expect(rows.map(({ reason }) => reason)).toEqual(['recipient_deferred']);
    },
  );
});
