// Automations that are live while months go by: each test is named after what was decided about time.
import { describe, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { newId } from '../../src/base/ids.ts';
import { YEAR } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { mail } from './journeys.ts';
import { addressOf, DAY_MS, pastWorld } from './past_world.ts';

const database = testDatabase();
const clock = virtualClock(database);
/** All of it is on the timeline whenever a test runs. */
const LAST = YEAR - 1;
const HOUR_MS = 3_600_000;

const on = (text: string) => new Date(`${LAST}-${text}Z`);
const plus = (at: Date, ms: number) => new Date(at.getTime() + ms);
const lastSunday = (month: number): number => {
  const end = new Date(Date.UTC(LAST, month, 0));
  return end.getUTCDate() - end.getUTCDay();
};
const monthEnd = (month: number) => new Date(Date.UTC(LAST, month, 0)).getUTCDate();

type Steps = NewDefinition['steps'];
const going = (steps: Steps, settings: NewDefinition['settings'] = {}): NewDefinition => ({
  trigger: { kind: 'event', event: 'go' },
  settings: { re_entry: 'every_time', ...settings },
  entry: 'a',
  steps,
});
const delay = (duration: string, next: string | null = null) =>
  ({ kind: 'delay', duration, next }) as const;

/** A project where it is a moment; people with traits come then, and time goes by until a later one. */
const begin = async (at: Date, ...definitions: NewDefinition[]) => {
  const world = pastWorld(database, clock);
  await world.setClock(plus(at, -DAY_MS));
  const ids: string[] = [];
  for (const [place, definition] of definitions.entries())
    ids.push(await world.activate(`Live ${place}`, definition));
  const meet = (who: string, traits: Record<string, string> = {}) => {
    const told = { email: addressOf(who), ...traits };
    return world.perform({ at: plus(at, -DAY_MS), kind: 'trait', who, traits: told });
  };
  const go = (
    who: string,
    when: Date,
    { name = 'go', occurredAt = when, properties = {} } = {},
  ) => ({
    at: when,
    kind: 'event' as const,
    eventId: newId(),
    who,
    name,
    properties,
    occurredAt,
  });
  const select = async (columns: string, table: string) =>
    (
      await database.owner.query(
        `select ${columns} from ${table} where project_id = $1 order by 1`,
        [world.projectId],
      )
    ).rows;
  /** When whose mails were planned, by a clock in UTC. */
  const mails = async (): Promise<Record<string, string[]>> => {
    const rows = await select(
      'queued_at, split_part(recipient, $$@$$, 1) as who',
      'delivery.sends',
    );
    const by = Map.groupBy(rows, ({ who }) => who as string);
    return Object.fromEntries(
      [...by].map(([who, all]) => [
        who,
        all.map(({ queued_at }) => queued_at.toISOString().slice(5, 16)),
      ]),
    );
  };
  return { ...world, ids, meet, go, select, mails };
};

/** The wall of each person at the moments of their mails. */
const onWall = (text: string, timeZone: string): string =>
  new Date(`${LAST}-${text}:00Z`).toLocaleString('sv-SE', { timeZone }).slice(0, 16);

describe('the clock on the person’s wall', () => {
  const ZONES = {
    first: 'Pacific/Kiritimati',
    last: 'Pacific/Pago_Pago',
    quarter: 'Asia/Kathmandu',
    half: 'Australia/Lord_Howe',
    berlin: 'Europe/Berlin',
  };

  test('decides when it is nine, and on which weekday, from one end of the day to the other', async () => {
    const until = { time: '09:00', weekdays: ['monday' as const] };
    const world = await begin(
      on('06-10T12:00:00'),
      going({ a: { kind: 'delay_until', until, next: 'm' }, m: mail() }),
    );
    for (const [who, timezone] of Object.entries(ZONES)) await world.meet(who, { timezone });
    const start = on('06-10T12:00:00');
    const script = Object.keys(ZONES).map((who, at) => world.go(who, plus(start, at * 1_000)));
    await world.live(script, plus(start, 9 * DAY_MS));
    const mails = await world.mails();
    const days = new Set<string>();
    for (const [who, timeZone] of Object.entries(ZONES)) {
      const [wall = ''] = (mails[who] ?? []).map((at) => onWall(at, timeZone));
      expect([who, wall.slice(11)]).toEqual([who, '09:00']);
      expect(new Date(wall.slice(0, 10)).getUTCDay()).toBe(1);
      days.add(wall.slice(0, 10));
    }
    // One Monday, over more than a day.
    expect(days.size).toBe(1);
  });

  test('ends quiet hours for each person at their own eight', async () => {
    const quiet_hours = { from: '00:00', to: '08:00' };
    const world = await begin(
      on('06-10T12:00:00'),
      going({ a: mail() }, { quiet_hours, timezone: 'Europe/Berlin' }),
    );
    const { berlin: _, ...zones } = ZONES;
    for (const [who, timezone] of Object.entries(zones)) await world.meet(who, { timezone });
    await world.meet('nowhere', { timezone: 'Mars/Olympus' });
    const start = on('06-10T13:00:00');
    const script = [...Object.keys(zones), 'nowhere'].map((who, at) =>
      world.go(who, plus(start, at * 1_000)),
    );
    await world.live(script, plus(start, 2 * DAY_MS));
    const mails = await world.mails();
    const walls = Object.fromEntries(
      Object.entries({ ...zones, nowhere: 'Europe/Berlin' }).map(([who, timeZone]) => [
        who,
        onWall(mails[who]?.[0] ?? '', timeZone).slice(11),
      ]),
    );
    // It is 03:00 in Kiritimati, 02:00 in Pago Pago, 18:45 in Kathmandu, 23:30 on Lord Howe, and 15:00 in Berlin.
    expect(walls).toEqual({
      first: '08:00',
      last: '08:00',
      quarter: '18:45',
      half: '23:30',
      nowhere: '15:00',
    });
  });
});

describe('when clocks change', () => {
  const spring = `03-${lastSunday(3)}`;
  const eve = on(`${spring}T11:00:00`);

  test('days keep the time of day, and hours are hours', async () => {
    const start = plus(eve, -DAY_MS);
    const world = await begin(
      start,
      going({ a: delay('P1D', 'm'), m: mail() }, { timezone: 'Europe/Berlin' }),
      going({ a: delay('PT24H', 'm'), m: mail() }, { timezone: 'Europe/Berlin' }),
    );
    await world.meet('ann');
    await world.live([world.go('ann', start)], plus(start, 2 * DAY_MS));
    expect((await world.mails())['ann']).toEqual([`${spring}T10:00`, `${spring}T11:00`]);
  });

  test('half past two is an hour later where it is left out', async () => {
    const start = plus(eve, -DAY_MS);
    const until = { time: '02:30' };
    const world = await begin(
      start,
      going(
        { a: { kind: 'delay_until', until, next: 'm' }, m: mail() },
        { timezone: 'Europe/Berlin' },
      ),
    );
    await world.meet('ann');
    await world.live([world.go('ann', start)], plus(start, 2 * DAY_MS));
    expect((await world.mails())['ann']).toEqual([`${spring}T01:30`]);
  });

  test('a mail that waits for eight in the morning comes at eight by the new clock', async () => {
    const quiet_hours = { from: '20:00', to: '08:00' };
    for (const [day, hour] of [
      [spring, '06:00'],
      [`10-${lastSunday(10)}`, '07:00'],
    ] as const) {
      const start = plus(on(`${day}T21:00:00`), -DAY_MS);
      const world = await begin(
        start,
        going({ a: mail() }, { quiet_hours, timezone: 'Europe/Berlin' }),
      );
      await world.meet('ann');
      await world.live([world.go('ann', start)], plus(start, 2 * DAY_MS));
      expect((await world.mails())['ann']).toEqual([`${day}T${hour}`]);
    }
  });
});

describe('months and years', () => {
  test('a month after the last of January is the last of February', async () => {
    const start = on('01-31T12:00:00');
    const world = await begin(start, going({ a: delay('P1M', 'm'), m: mail() }));
    await world.meet('ann');
    await world.live([world.go('ann', start)], plus(start, 40 * DAY_MS));
    expect((await world.mails())['ann']).toEqual([`02-${monthEnd(2)}T12:00`]);
  });

  test('whoever was born on 29 February has a birthday every year', async () => {
    const start = on('02-01T12:00:00');
    const until = { trait: 'born', repeats: 'yearly' as const, time: '09:00' };
    const world = await begin(
      start,
      going({ a: { kind: 'delay_until', until, next: 'm' }, m: mail() }),
    );
    await world.meet('ann', { born: '1992-02-29' });
    await world.live([world.go('ann', start)], plus(start, 35 * DAY_MS));
    expect((await world.mails())['ann']).toEqual([`02-${monthEnd(2)}T09:00`]);
  });

  test('a delay of a year is a year', async () => {
    const start = on('01-31T12:00:00');
    const world = await begin(start, going({ a: delay('P1Y', 'm'), m: mail() }));
    await world.meet('ann');
    await world.live([world.go('ann', start)], plus(start, DAY_MS));
    const [{ wake_at: wakeAt }] = await world.select('wake_at', 'automations.runs');
    expect(wakeAt).toEqual(new Date(`${LAST + 1}-01-31T12:00:00Z`));
  });
});

describe('to the millisecond', () => {
  const start = on('06-10T12:00:00');

  test('an event that is 24 h old when it is received starts a run, an older one does not', async () => {
    const world = await begin(start, going({ a: mail() }));
    await world.meet('ann');
    await world.meet('ben');
    const dayBefore = (when: Date, more: number) => ({ occurredAt: plus(when, -DAY_MS - more) });
    await world.live(
      [
        world.go('ann', start, dayBefore(start, 0)),
        world.go('ben', plus(start, 1_000), dayBefore(plus(start, 1_000), 1)),
      ],
      plus(start, 60_000),
    );
    expect(Object.keys(await world.mails())).toEqual(['ann']);
    expect(await world.select('reason', 'automations.refusals')).toEqual([{ reason: 'late' }]);
  });

  test('once per seven days lets in again after seven days, not a millisecond before', async () => {
    const world = await begin(start, going({ a: mail() }, { re_entry: { once_per: 'P7D' } }));
    const week = 7 * DAY_MS;
    for (const who of ['ann', 'ben']) await world.meet(who);
    await world.live(
      [
        world.go('ann', start),
        world.go('ben', plus(start, 1_000)),
        world.go('ann', plus(start, week)),
        world.go('ben', plus(start, week + 999)),
      ],
      plus(start, week + 60_000),
    );
    const mails = await world.mails();
    expect([mails['ann']?.length, mails['ben']?.length]).toEqual([2, 1]);
  });

  test('a mail that nobody says otherwise of expires after 72 hours, as does a step', async () => {
    const world = await begin(start, going({ a: delay('PT1H', 'm'), m: mail() }));
    await world.meet('ann');
    await world.live([world.go('ann', start)], plus(start, 2 * HOUR_MS));
    const [send] = await world.select('expires_at - queued_at as age', 'delivery.sends');
    expect(send.age).toMatchObject({ days: 3 });
  });
});

test('a cap of the project counts mail of all automations, one of the automation its own', async () => {
  const start = on('06-10T12:00:00');
  const capped = (of: 'project' | 'automation') =>
    going({ a: mail() }, { frequency_cap: { sends: 1, per: 'P1D', of, over: 'skip' } });
  const beside = { ...going({ a: mail() }), trigger: { kind: 'event' as const, event: 'before' } };
  const world = await begin(start, beside, capped('project'), capped('automation'));
  await world.meet('ann');
  await world.live(
    [
      world.go('ann', start, { name: 'before' }),
      world.go('ann', plus(start, HOUR_MS)),
      world.go('ann', plus(start, 2 * HOUR_MS)),
      world.go('ann', plus(start, 20 * HOUR_MS)),
    ],
    plus(start, 2 * DAY_MS),
  );
  const [, project, own] = world.ids;
  const sent = await world.select('queued_at, automation_id', 'delivery.sends');
  const of = (id: string | undefined) => sent.filter((one) => one.automation_id === id).length;
  expect([of(project), of(own)]).toEqual([0, 1]);
});

describe('a run asks about itself', () => {
  const start = on('06-10T12:00:00');

  test('a branch on a send is on this run’s own, not on that of an earlier run', async () => {
    const onSend = { kind: 'email' as const, step: 'm', became: 'queued' as const };
    const world = await begin(
      start,
      going({
        a: { kind: 'branch', branches: [{ when: onSend, next: null }], otherwise: 'm' },
        m: mail('d'),
        d: delay('P1D', 'b'),
        b: { kind: 'branch', branches: [{ when: onSend, next: null }], otherwise: 'wrong' },
        wrong: mail(),
      }),
    );
    await world.meet('ann');
    const script = [world.go('ann', start), world.go('ann', plus(start, 5 * HOUR_MS))];
    await world.live(script, plus(start, 3 * DAY_MS));
    expect(await world.select('step_id', 'delivery.sends')).toEqual([
      { step_id: 'm' },
      { step_id: 'm' },
    ]);
  });

  test('a person goes the same way at a split each time, and another automation splits anew', async () => {
    const ways = [
      { name: 'a', weight: 1, next: 'm' },
      { name: 'b', weight: 1, next: null },
    ];
    const splitting = () => going({ a: { kind: 'split', ways }, m: mail() });
    const world = await begin(start, splitting(), splitting());
    const people = Array.from({ length: 24 }, (_, at) => `p${at}`);
    for (const who of people) await world.meet(who);
    const twice = [0, 1].flatMap((time) =>
      people.map((who, at) => world.go(who, plus(start, time * HOUR_MS + at * 1_000))),
    );
    await world.live(twice, plus(start, 3 * HOUR_MS));
    const [first, second] = world.ids;
    const taken = await world.select('recipient, automation_id', 'delivery.sends');
    const by = Map.groupBy(taken, (one) => `${one.recipient}/${one.automation_id}`);
    for (const sends of by.values()) expect(sends).toHaveLength(2);
    const wayOf = (id: string | undefined) =>
      people.map((who) => by.has(`${addressOf(who)}/${id}`)).join();
    expect(wayOf(first)).not.toBe(wayOf(second));
  });
});
