// A run waits for a date of its person. The date moves, and the run follows it.
import { describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { CHANGES_MAX } from '../../src/automations/dates.ts';
import { MOVES_LOGGED_MAX } from '../../src/automations/steps/delay_until.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { newId } from '../../src/base/ids.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { YEAR } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { virtualClock } from '../support/virtual_clock.ts';
import { mail } from './journeys.ts';
import { addressOf, DAY_MS, pastWorld } from './past_world.ts';
import type { Happening } from './past_world.ts';

const database = testDatabase();
const clock = virtualClock(database);
const START = Date.parse(`${YEAR - 1}-06-10T12:00:00Z`);
const day = (days: number) => new Date(START + days * DAY_MS);
const text = (days: number) => day(days).toISOString();

type Until = { offset?: string; time?: string; repeats?: 'yearly'; timezone?: string };
/** Sends one email at the end of the trial, and another where no end is ahead. */
const awaiting = ({ timezone, ...until }: Until = {}): NewDefinition => ({
  trigger: { kind: 'event', event: 'go' },
  settings: { re_entry: 'every_time' },
  entry: 'ends',
  steps: {
    ends: {
      kind: 'delay_until',
      until: { trait: 'trial_ends_at', ...until },
      ...(timezone ? { timezone } : {}),
      next: 'ending',
      otherwise: 'no_date',
    },
    ending: mail(),
    no_date: mail(),
  },
});

type Traits = Record<string, string | number | null>;
const tell = (at: number, traits: Traits, who = 'ann'): Happening => ({
  at: day(at),
  kind: 'trait',
  who,
  traits,
});
const go = (at: number, who = 'ann'): Happening => ({
  at: day(at),
  kind: 'event',
  eventId: newId(),
  who,
  name: 'go',
  properties: {},
  occurredAt: day(at),
});

const begin = async (definition: NewDefinition) => {
  const world = pastWorld(database, clock);
  await world.setClock(day(-1));
  await world.activate('Trial', definition);
  const select = async (query: string) =>
    (await database.owner.query(query, [world.projectId])).rows;
  /** The emails and the moments at which they were planned. */
  const mails = async (): Promise<string[]> =>
    (
      await select(
        'select step_id, queued_at from delivery.sends where project_id = $1 order by queued_at, step_id',
      )
    ).map(({ step_id, queued_at }) => `${step_id} ${queued_at.toISOString()}`);
  const decisions = async (): Promise<string[]> =>
    (
      await select(
        'select decision from automations.run_log where project_id = $1 order by run_id, entry',
      )
    ).map(({ decision }) => decision);
  const tellDevice = (device: string, traits: Traits, setAt: Date) =>
    world.within(async (scope) => {
      const wanted = [{ kind: 'anonymous' as const, value: device }];
      const [known] = await profiles.listIdentities(scope, wanted);
      if (!known) throw new Error('the device is not known yet');
      const change = { identityId: known.identity_id, traits, setAt, authority: 'server' as const };
      await profiles.changeTraits(scope, change);
    });
  return { ...world, select, mails, decisions, tellDevice };
};

/** Walks a person who has an address and a date ten days ahead, and enters on the first day. */
const walk = async (until: Until, script: readonly Happening[], end: number) => {
  const world = await begin(awaiting(until));
  await world.live(
    [tell(-0.5, { email: addressOf('ann'), trial_ends_at: text(10) }), go(0), ...script],
    day(end),
  );
  return world;
};

describe('the date moves while the run waits', () => {
  test.each([
    ['later', 20],
    ['earlier', 5],
  ])('%s: the email comes then, and once', async (_where, to) => {
    const { mails, decisions } = await walk({}, [tell(3, { trial_ends_at: text(to) })], 30);
    expect(await mails()).toEqual([`ending ${text(to)}`]);
    expect(await decisions()).toEqual(['delayed', 'date_moved', 'delay_over', 'send_queued']);
  });

  test('later on the day itself, a moment before it comes', async () => {
    const moved = [tell(9.999, { trial_ends_at: text(12) })];
    expect(await (await walk({}, moved, 30)).mails()).toEqual([`ending ${text(12)}`]);
  });

  test('twice, and back', async () => {
    const script = [
      tell(1, { trial_ends_at: text(20) }),
      tell(2, { trial_ends_at: text(4) }),
      tell(3, { trial_ends_at: text(10) }),
    ];
    const { mails, decisions } = await walk({}, script, 30);
    expect(await mails()).toEqual([`ending ${text(10)}`]);
    expect((await decisions()).filter((one) => one === 'date_moved')).toHaveLength(3);
  });

  test.each([
    ['is removed', null],
    ['is no date any more', 'next week'],
    ['is a number', 20_270_131],
    ['is in the past', text(1)],
  ])('%s: the run goes on at `otherwise` at once', async (_what, value) => {
    const { mails, decisions } = await walk({}, [tell(3, { trial_ends_at: value })], 30);
    expect(await mails()).toEqual([expect.stringMatching(`^no_date ${text(3).slice(0, 16)}`)]);
    expect(await decisions()).toEqual(['delayed', 'no_date_ahead', 'send_queued']);
  });

  test('a date three days before which it is too late goes on at `otherwise`', async () => {
    const script = [tell(3, { trial_ends_at: text(5) })];
    const { mails } = await walk({ offset: '-P3D' }, script, 30);
    expect(await mails()).toEqual([expect.stringMatching(`^no_date ${text(3).slice(0, 16)}`)]);
  });

  test('a birthday moves to another day of the year', async () => {
    const born = (days: number) => `1990${text(days).slice(4, 10)}`;
    const script = [tell(1, { trial_ends_at: born(12) }), tell(2, { trial_ends_at: born(15) })];
    const { mails } = await walk({ repeats: 'yearly', time: '09:00' }, script, 30);
    expect(await mails()).toEqual([`ending ${text(15).slice(0, 10)}T09:00:00.000Z`]);
  });

  test('a run that has gone on is not concerned', async () => {
    const { mails } = await walk({}, [tell(11, { trial_ends_at: text(20) })], 30);
    expect(await mails()).toEqual([`ending ${text(10)}`]);
  });

  test('a change of another trait is not even noted', async () => {
    const { perform, select, decisions } = await walk({}, [], 1);
    await perform(tell(1, { plan: 'pro' }));
    expect(await select('select from profiles.trait_changes where project_id = $1')).toEqual([]);
    await perform(tell(2, { trial_ends_at: text(20) }));
    expect(await select('select from profiles.trait_changes where project_id = $1')).toHaveLength(
      1,
    );
    expect(await decisions()).toEqual(['delayed']);
  });
});

describe('the person moves to another time zone', () => {
  const nine = { offset: '-P1D', time: '09:00' };
  const move = [tell(3, { timezone: 'America/New_York' })];

  test('the email comes at nine there', async () => {
    const { mails } = await walk(nine, move, 30);
    expect(await mails()).toEqual([`ending ${text(9).slice(0, 10)}T13:00:00.000Z`]);
  });

  test('but not where the step has a zone of its own', async () => {
    const { mails, decisions } = await walk({ ...nine, timezone: 'Asia/Tokyo' }, move, 30);
    expect(await mails()).toEqual([`ending ${text(9).slice(0, 10)}T00:00:00.000Z`]);
    expect(await decisions()).not.toContain('date_moved');
  });
});

test('a link brings the run of a device to another date, and an undo takes it back', async () => {
  const world = await begin(awaiting());
  const wakes = async () =>
    (
      await world.select(
        "select wake_at from automations.runs where project_id = $1 and status = 'active'",
      )
    ).map(({ wake_at }) => wake_at);
  const seen = { ...go(-0.3, 'd1'), name: 'seen' };
  await world.live([tell(-0.5, { trial_ends_at: text(20) }), seen], day(-0.2));
  await world.tellDevice('d1', { email: addressOf('d1'), trial_ends_at: text(10) }, day(-0.6));
  await world.live([go(0, 'd1')], day(1));
  expect(await wakes()).toEqual([day(10)]);
  await world.live([{ at: day(3), kind: 'link', who: 'ann', device: 'd1' }], day(4));
  expect(await wakes()).toEqual([day(20)]);
  await world.live([{ at: day(5), kind: 'unlink', who: 'ann', device: 'd1' }], day(6));
  expect(await wakes()).toEqual([day(10)]);
});

describe('at the moment for which the run waited', () => {
  const forget = 'delete from profiles.trait_changes where project_id = $1 returning 1';

  test.each([
    ['a later date', text(12), `ending ${text(12)}`],
    ['a removed one', null, `no_date ${text(10)}`],
  ])('%s is found, also where its note was lost', async (_what, value, mailed) => {
    const world = await walk({}, [], 3);
    await world.perform(tell(3, { trial_ends_at: value }));
    expect(await world.select(forget)).toHaveLength(1);
    await world.live([], day(30));
    expect(await world.mails()).toEqual([mailed]);
  });

  test('a date that comes before a worker sees its change counts as one that came', async () => {
    const world = await walk({}, [], 3);
    await world.perform(tell(3, { trial_ends_at: text(4) }));
    await world.setClock(day(5));
    await world.follow();
    expect(await world.mails()).toEqual([expect.stringMatching(`^ending ${text(5).slice(0, 16)}`)]);
  });

  test('one that was past when the trait changed does not', async () => {
    const world = await walk({}, [], 3);
    await world.perform(tell(3, { trial_ends_at: text(2.9) }));
    await world.setClock(day(5));
    await world.follow();
    expect(await world.mails()).toEqual([
      expect.stringMatching(`^no_date ${text(5).slice(0, 16)}`),
    ]);
  });

  test.each([
    ['moved', text(60), `ending ${text(60)}`],
    ['did not move', text(10), null],
  ])('no worker ran for a month: the date %s', async (_what, value, mailed) => {
    const world = await walk({}, [], 3);
    await world.setClock(day(50));
    await world.perform(tell(50, { trial_ends_at: value }));
    await world.live([], day(90));
    expect(await world.mails()).toEqual(mailed === null ? [] : [mailed]);
    expect((await world.decisions()).includes('step_expired')).toBe(mailed === null);
  });
});

test('as many notes as one transaction takes are followed, and one past it by the next', async () => {
  const world = await walk({}, [], 3);
  const notes = `insert into profiles.trait_changes (project_id, noted_at, change_id, profile_id)
    select $1, '${text(0)}', gen_random_uuid(), gen_random_uuid()
    from generate_series(1, ${CHANGES_MAX})`;
  const follow = () => world.within(automations.followDates);
  await world.select(notes);
  expect(await follow()).toEqual({ woken: 0, isMore: true });
  await world.select(notes);
  await world.perform(tell(4, { trial_ends_at: text(20) }));
  expect(await follow()).toEqual({ woken: 0, isMore: true });
  expect(await follow()).toEqual({ woken: 1, isMore: false });
});

test('attack: a date that moves again and again ends no run', async () => {
  const world = await walk({}, [], 1);
  const log = (count: number) => `insert into automations.run_log
    (project_id, run_id, entry, step_id, decision, detail, decided_at)
    select project_id, run_id, entry, 'ends', 'date_moved', '{}', now() from automations.runs
    cross join generate_series(1, ${count}) as entry where project_id = $1`;
  await world.select(log(MOVES_LOGGED_MAX - 2));
  const script = [11, 12, 13].map((to, at) => tell(2 + at, { trial_ends_at: text(to) }));
  await world.live(script, day(30));
  const decisions = await world.decisions();
  // One past the bound is not logged, and the run follows it.
  expect(decisions.filter((one) => one === 'date_moved')).toHaveLength(MOVES_LOGGED_MAX - 1);
  expect(await world.mails()).toEqual([`ending ${text(13)}`]);
});
