// Quiet hours when a mail is handed over are those by which it was planned, on every wall of the world.
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { quietUntil } from '../../src/automations/clock.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const HALF_HOURS_A_DAY = 48;
const RUNS = 400;

const timeOf = (halfHour: number): string =>
  `${String(Math.floor(halfHour / 2)).padStart(2, '0')}:${halfHour % 2 === 0 ? '00' : '30'}`;

const ask = async (at: Date, { from, to }: { from: string; to: string }, zone: string) => {
  await database.owner.query('select base.use_zone($1)', [[zone]]);
  const { rows } = await database.owner.query<{ until: Date | null }>(
    'select base.quiet_until($1, $2, $3) as until',
    [at, from, to],
  );
  return rows[0]?.until ?? null;
};

beforeAll(() => database.owner.query('begin'));

/** Nights in which clocks change, here and there, and one in which they do not. */
const NIGHTS: [string, string][] = [
  ['Europe/Berlin', '2026-03-29T00:00:00Z'],
  ['Europe/Berlin', '2026-10-25T00:00:00Z'],
  ['America/New_York', '2026-03-08T06:00:00Z'],
  ['America/New_York', '2026-11-01T05:00:00Z'],
  ['America/St_Johns', '2026-11-01T04:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T14:30:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:00:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00:00Z'],
  ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
  ['Pacific/Kiritimati', '2026-06-01T00:00:00Z'],
  ['CET', '2026-07-01T20:00:00Z'],
  ['UTC', '2026-02-28T23:59:59.999Z'],
];

const MINUTE_MS = 60_000;
const HalfHour = fc.nat({ max: HALF_HOURS_A_DAY - 1 });
const Hours = fc
  .tuple(HalfHour, HalfHour)
  .filter(([from, to]) => from !== to)
  .map(([from, to]) => ({
    from: timeOf(from),
    to: timeOf(to),
    // What clocks leave out in one night may be all that is not quiet.
    isFreeSometime: (from - to + HALF_HOURS_A_DAY) % HALF_HOURS_A_DAY > 2,
  }));

test('quiet hours end in SQL when they end for automations, also in nights in which clocks change', async () => {
  const Moment = fc
    .tuple(fc.constantFrom(...NIGHTS), fc.integer({ min: -720, max: 720 }))
    .map(([[zone, night], minutes]) => ({
      zone,
      at: new Date(Date.parse(night) + minutes * MINUTE_MS),
    }));
  await fc.assert(
    fc.asyncProperty(Moment, Hours, async ({ zone, at }, hours) => {
      const until = quietUntil(at, hours, zone);
      expect(await ask(at, hours, zone)).toEqual(until);
      if (until === null) return;
      expect(until.getTime()).toBeGreaterThan(at.getTime());
      if (hours.isFreeSometime) expect(quietUntil(until, hours, zone)).toBeNull();
      expect(until.getTime() - at.getTime()).toBeLessThanOrEqual(25 * 60 * MINUTE_MS);
    }),
    { numRuns: RUNS },
  );
}, 60_000);

test('both agree in every zone that there is', async () => {
  const hours = { from: '21:00', to: '08:00' };
  for (const zone of Intl.supportedValuesOf('timeZone'))
    for (const at of ['2026-01-15T07:30:00Z', '2026-07-15T19:10:00Z']) {
      const moment = new Date(at);
      const asked = [zone, at, await ask(moment, hours, zone)];
      expect(asked).toEqual([zone, at, quietUntil(moment, hours, zone)]);
    }
}, 60_000);

test.each([
  ['2026-06-01T20:59:59.999Z', null],
  ['2026-06-01T21:00:00.000Z', '2026-06-02T08:00:00.000Z'],
  ['2026-06-02T07:59:59.999Z', '2026-06-02T08:00:00.000Z'],
  ['2026-06-02T08:00:00.000Z', null],
])('their first minute is in them and the last is not: at %s until %s', async (at, until) => {
  const answer = await ask(new Date(at), { from: '21:00', to: '08:00' }, 'UTC');
  expect(answer?.toISOString() ?? null).toBe(until);
});

test('null where there are no quiet hours', async () => {
  expect(await ask(new Date(), { from: null, to: null } as never, 'UTC')).toBeNull();
});
