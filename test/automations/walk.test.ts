// What each step decides: a run, a clock, somebody's past, and what is done about it.
import { describe, expect, test } from 'vitest';
import { RUN_DECISIONS_MAX } from '../../src/automations/walk.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { newId } from '../../src/base/ids.ts';
import { definition, mail } from './journeys.ts';
import { BEGAN, happened, runOf } from './past_of.ts';

const steps = (given: NewDefinition['steps'], more: Partial<NewDefinition> = {}) =>
  definition({ entry: 'a', steps: given, ...more });
const delay = (duration: string, next: string | null = null) =>
  ({ kind: 'delay', duration, next }) as const;

describe('delay', () => {
  test('waits so long from when the run came to it, and not again', async () => {
    const run = runOf(steps({ a: delay('P2D', 'm'), m: mail() }));
    expect(await run.walkAt(BEGAN)).toBe('2026-06-03T12:00:00Z');
    expect(await run.walkAt('2026-06-02T12:00:00Z')).toBe('2026-06-03T12:00:00Z');
    expect(await run.walkAt('2026-06-03T12:00:00Z')).toBe('completed');
    expect(run.decisions).toEqual(['delayed', 'delay_over', 'send_queued']);
  });

  test('of days is of the person’s own calendar', async () => {
    const traits = { timezone: 'Europe/Berlin' };
    const run = runOf(steps({ a: delay('P1D') }), { person: { traits } });
    expect(await run.walkAt('2026-03-28T11:00:00Z')).toBe('2026-03-29T10:00:00Z');
  });
});

describe('delay_until', () => {
  const until = (rule: object) =>
    steps({
      a: { kind: 'delay_until', until: rule, otherwise: 'o', next: null } as never,
      o: mail(),
    });

  test('a time of day is that of the person, or the automation’s for whoever has none', async () => {
    const nine = (given: object = {}) =>
      ({ ...until({ time: '09:00' }), settings: given }) as NewDefinition;
    const inTokyo = { person: { traits: { timezone: 'Asia/Tokyo' } } };
    const nowhere = { person: { traits: { timezone: 'Mars/Olympus' } } };
    expect(await runOf(nine(), inTokyo).walkAt(BEGAN)).toBe('2026-06-02T00:00:00Z');
    expect(await runOf(nine(), nowhere).walkAt(BEGAN)).toBe('2026-06-02T09:00:00Z');
    const inBerlin = { timezone: 'Europe/Berlin' };
    expect(await runOf(nine(inBerlin), nowhere).walkAt(BEGAN)).toBe('2026-06-02T07:00:00Z');
    expect(await runOf(nine(inBerlin), inTokyo).walkAt(BEGAN)).toBe('2026-06-02T00:00:00Z');
  });

  test('a date that the profile does not have, or that has passed, goes the other way', async () => {
    const rule = { trait: 'trial_ends_at', offset: '-P3D' };
    const ahead = runOf(until(rule), { person: { traits: { trial_ends_at: '2026-06-10' } } });
    expect(await ahead.walkAt(BEGAN)).toBe('2026-06-07T00:00:00Z');
    expect(await ahead.walkAt('2026-06-07T00:00:00Z')).toBe('completed');
    expect(ahead.done.sent).toEqual([]);
    for (const traits of [{}, { trial_ends_at: '2026-06-02' }, { trial_ends_at: 7 }]) {
      const run = runOf(until(rule), { person: { traits } });
      expect(await run.walkAt(BEGAN)).toBe('completed');
      expect(run.decisions).toEqual(['no_date_ahead', 'send_queued']);
    }
  });
});

describe('wait_for_event', () => {
  const where = [{ property: 'total', test: { is: 'at_least' as const, value: 10 } }];
  const waiting = steps({
    a: {
      kind: 'wait_for_event',
      event: 'paid',
      where,
      timeout: 'P3D',
      next: 'm',
      on_timeout: 'r',
    },
    m: mail(),
    r: mail(),
  });
  const at = (text: string, total = 10) => happened('paid', text, { total });

  test('goes on with an event that occurred since the run began, also before the run came to it', async () => {
    const run = runOf(waiting, { events: [at('2026-06-01T12:00:01Z')] });
    expect(await run.walkAt('2026-06-01T15:00:00Z')).toBe('completed');
    expect([run.decisions, run.done.sent]).toEqual([['event_came', 'send_queued'], ['m']]);
  });

  test('does not count what occurred before, nor what the filters leave out', async () => {
    const events = [at('2026-06-01T11:59:59Z'), at('2026-06-01T13:00:00Z', 9)];
    const run = runOf(waiting, { events });
    expect(await run.walkAt('2026-06-01T15:00:00Z')).toBe('2026-06-04T15:00:00Z');
    expect(await run.walkAt('2026-06-04T15:00:00Z')).toBe('completed');
    expect(run.done.sent).toEqual(['r']);
  });

  test('goes by what had occurred in time, however late it looks', async () => {
    const inTime = runOf(waiting, { events: [at('2026-06-03T10:00:00Z')] });
    await inTime.walkAt('2026-06-01T12:00:00Z');
    expect(inTime.done.sent).toEqual(['m'].slice(1));
    await inTime.walkAt('2026-06-06T12:00:00Z');
    expect(inTime.done.sent).toEqual(['m']);
    const tooLate = runOf(waiting, { events: [at('2026-06-05T10:00:00Z')] });
    await tooLate.walkAt('2026-06-01T12:00:00Z');
    await tooLate.walkAt('2026-06-06T12:00:00Z');
    expect(tooLate.done.sent).toEqual(['r']);
  });
});

describe('branch', () => {
  const branch = (...whens: object[][]) =>
    steps({
      a: {
        kind: 'branch',
        branches: whens.map((of, at) => ({ when: { kind: 'all', of }, next: `b${at}` })),
        otherwise: 'none',
      } as never,
      ...Object.fromEntries([...whens.map((_, at) => `b${at}`), 'none'].map((id) => [id, mail()])),
    });
  const went = async (given: Parameters<typeof runOf>[1], ...whens: object[][]) => {
    const run = runOf(branch(...whens), given);
    await run.walkAt('2026-06-02T12:00:00Z');
    return run.done.sent[0];
  };
  const isPro = { kind: 'trait', trait: 'plan', test: { is: 'equals' as const, value: 'pro' } };

  test('goes the first way whose conditions all hold, else the last', async () => {
    const pro = { person: { traits: { plan: 'pro' } } };
    expect(await went(pro, [isPro], [isPro])).toBe('b0');
    const isFree = { kind: 'trait', trait: 'plan', test: { is: 'equals' as const, value: 'free' } };
    expect(await went(pro, [isPro, isFree], [isPro])).toBe('b1');
    expect(await went({}, [isPro])).toBe('none');
  });

  test('asks the profile, its address and its tags', async () => {
    const has = (trait: string) => ({ kind: 'trait', trait, test: { is: 'exists' as const } });
    const isTagged = { kind: 'tag', tag: 'hard_bounced' };
    expect(await went({ person: { traits: { email: 'ann@example.com' } } }, [has('email')])).toBe(
      'b0',
    );
    expect(await went({ person: { tags: ['hard_bounced'] } }, [isTagged])).toBe('b0');
    expect(await went({}, [isTagged])).toBe('none');
    expect(await went({}, [has('constructor')])).toBe('none');
  });

  test('asks what a segment asks for all that the run and its person do not decide', async () => {
    const bought = {
      kind: 'event',
      event: 'bought',
      where: [],
      count: { is: 'at_least', value: 2 },
    };
    const pro = { person: { traits: { plan: 'pro' } } };
    const paid = { kind: 'event_since', event: 'paid' };
    const nested = { kind: 'any', of: [paid, { kind: 'not', of: bought }] };
    const given = { ...pro, holding: ['not'] };
    expect(await went(given, [isPro, nested])).toBe('b0');
    expect(await went(given, [isPro, bought])).toBe('none');
    // Decided without it.
    expect(await went(pro, [{ kind: 'any', of: [bought, isPro] }])).toBe('b0');
    expect(await went(pro, [bought, { kind: 'not', of: isPro }])).toBe('none');
  });

  test('asks the trigger event', async () => {
    const trigger = happened('user_signed_up', BEGAN, { source: 'ad' });
    const isAd = {
      kind: 'trigger',
      where: [{ property: 'source', test: { is: 'equals' as const, value: 'ad' } }],
    };
    expect(await went({ trigger }, [isAd])).toBe('b0');
    expect(await went({}, [isAd])).toBe('none');
  });

  test('asks what has happened since the run began', async () => {
    const paid = { kind: 'event_since', event: 'paid' };
    expect(await went({ events: [happened('paid', '2026-06-02T11:00:00Z')] }, [paid])).toBe('b0');
    expect(await went({ events: [happened('paid', '2026-05-30T11:00:00Z')] }, [paid])).toBe('none');
    expect(await went({ events: [happened('paid', '2026-06-02T13:00:00Z')] }, [paid])).toBe('none');
  });

  test('asks what became of this run’s own sends', async () => {
    const bounced = { kind: 'email', step: 'b0', became: 'bounced' };
    const sends = [{ step_id: 'b0', facts: ['queued', 'accepted', 'bounced'] }];
    expect(await went({ sends }, [{ ...bounced, became: 'delivered' }], [bounced])).toBe('b1');
    expect(await went({}, [bounced])).toBe('none');
  });
});

describe('split', () => {
  const ways = [
    { name: 'half', weight: 2, next: 'm' },
    { name: 'other', weight: 1, next: null },
    { name: 'control', weight: 1, next: null, is_holdout: true },
  ];
  const splitting = steps({ a: { kind: 'split', ways }, m: mail() });

  test('sends one person always the same way, and people by weight', async () => {
    const counts: Record<string, number> = {};
    const people = Array.from({ length: 400 }, () => newId());
    for (const profileId of people) {
      const run = runOf(splitting, { person: { profileId } });
      const outcome = await run.walkAt(BEGAN);
      const way = outcome === 'held_out' ? 'control' : run.done.sent.length > 0 ? 'half' : 'other';
      counts[way] = (counts[way] ?? 0) + 1;
    }
    expect(counts['half']).toBeGreaterThan(150);
    expect(counts['half']).toBeLessThan(250);
    expect(counts['other']).toBeGreaterThan(60);
    expect(counts['control']).toBeGreaterThan(60);
  });

  test('the same person goes the same way a second time', async () => {
    const run = runOf(splitting);
    const first = await run.walkAt(BEGAN);
    for (let time = 0; time < 5; time += 1) expect(await run.walkAt(BEGAN)).toBe(first);
  });
});

describe('what ends a run', () => {
  const afterADay = (settings: NewDefinition['settings']) =>
    steps({ a: delay('P1D', 'm'), m: mail() }, { settings: settings ?? {} });

  test('exit, with its reason', async () => {
    const run = runOf(steps({ a: { kind: 'exit', reason: 'not_for_them' } }));
    expect(await run.walkAt(BEGAN)).toBe('exited');
  });

  test('the goal, reached before the next mail: counted as converted', async () => {
    const goal = { event: 'paid' };
    const run = runOf(afterADay({ goal }), { events: [happened('paid', '2026-06-01T18:00:00Z')] });
    await run.walkAt(BEGAN);
    expect(await run.walkAt('2026-06-01T18:00:01Z')).toBe('converted');
    expect([run.decisions, run.done.sent]).toEqual([['delayed', 'goal_reached'], []]);
  });

  test('an unsubscribe, unless the mail is transactional or the setting says otherwise', async () => {
    const person = { tags: ['unsubscribed'] };
    const inside = { person, entries: 1 };
    expect(await runOf(afterADay({}), inside).walkAt(BEGAN)).toBe('unsubscribed');
    // Who enters may be about to bring another address.
    expect(await runOf(afterADay({}), { person }).walkAt(BEGAN)).toBe('2026-06-02T12:00:00Z');
    for (const settings of [{ exit_on_unsubscribe: false }, { category: 'transactional' as const }])
      expect(await runOf(afterADay(settings), inside).walkAt(BEGAN)).toBe('2026-06-02T12:00:00Z');
  });

  test('a step that is overdue for longer than expires_after, and not one that is not', async () => {
    const settings = { expires_after: 'P3D' };
    const overdue = runOf(afterADay(settings));
    await overdue.walkAt(BEGAN);
    const dueAt = '2026-06-02T12:00:00Z';
    expect(await overdue.walkAt('2026-06-05T12:00:01Z', dueAt)).toBe('expired');
    const late = runOf(afterADay(settings));
    await late.walkAt(BEGAN);
    expect(await late.walkAt('2026-06-05T12:00:00Z', dueAt)).toBe('completed');
    expect(late.done.sent).toEqual(['m']);
  });

  test('that there is nobody any more', async () => {
    expect(await runOf(afterADay({}), { person: null }).walkAt(BEGAN)).toBe('erased');
  });

  test('a circle with delays in it, after as many decisions as a run may take', async () => {
    const run = runOf(steps({ a: delay('PT1S', 'a') }));
    let now = BEGAN.getTime();
    let stand = '';
    for (let time = 0; time <= RUN_DECISIONS_MAX && stand !== 'went_in_circles'; time += 1) {
      stand = await run.walkAt(new Date(now));
      now += 1_000;
    }
    expect(stand).toBe('went_in_circles');
    expect(run.decisions.length).toBe(RUN_DECISIONS_MAX);
  });
});

describe('send_email', () => {
  const sending = (settings: NewDefinition['settings']) =>
    steps({ a: mail() }, { settings: settings ?? {} });

  test('waits out the quiet hours of the person’s clock, transactional mail does not', async () => {
    const quiet_hours = { from: '21:00', to: '08:00' };
    const inTokyo = { person: { traits: { timezone: 'Asia/Tokyo' } } };
    const run = runOf(sending({ quiet_hours }), inTokyo);
    expect(await run.walkAt('2026-06-01T12:30:00Z')).toBe('2026-06-01T23:00:00Z');
    expect(await run.walkAt('2026-06-01T23:00:00Z')).toBe('completed');
    expect(run.decisions).toEqual(['quiet_hours', 'send_queued']);
    const urgent = runOf(sending({ quiet_hours, category: 'transactional' }), inTokyo);
    expect(await urgent.walkAt('2026-06-01T12:30:00Z')).toBe('completed');
  });

  test('past the cap waits until there is room, or is left out, as the setting says', async () => {
    const cap = { sends: 2, per: 'P7D' };
    const sentAt = ['2026-05-20T00:00:00Z', '2026-05-28T00:00:00Z', '2026-05-30T00:00:00Z'];
    const defers = runOf(sending({ frequency_cap: cap }), { sentAt });
    expect(await defers.walkAt(BEGAN)).toBe('2026-06-04T00:00:00Z');
    expect(await defers.walkAt('2026-06-04T00:00:00Z')).toBe('completed');
    expect(defers.decisions).toEqual(['frequency_cap', 'send_queued']);
    const skips = runOf(sending({ frequency_cap: { ...cap, over: 'skip' } }), { sentAt });
    expect(await skips.walkAt(BEGAN)).toBe('completed');
    expect([skips.decisions, skips.done.sent]).toEqual([['frequency_cap_skipped'], []]);
    expect(skips.done.skipped).toMatchObject([{ reason: 'frequency_cap' }]);
    const below = runOf(sending({ frequency_cap: { ...cap, sends: 3 } }), { sentAt });
    expect(await below.walkAt(BEGAN)).toBe('completed');
    expect(below.done.sent).toEqual(['a']);
  });

  test('a cap counts a mail until its own time has passed, also where months differ', async () => {
    const frequency_cap = { sends: 1, per: 'P1M' };
    const sentAt = ['2026-01-31T12:00:00Z'];
    const run = runOf(sending({ frequency_cap }), { sentAt });
    expect(await run.walkAt('2026-02-28T11:59:59Z')).toBe('2026-02-28T12:00:00Z');
    expect(await run.walkAt('2026-02-28T12:00:00Z')).toBe('completed');
    expect(run.decisions).toEqual(['frequency_cap', 'send_queued']);
  });

  test('tells delivery what to ask again when it is handed over, and of most mails nothing', async () => {
    const settings = {
      quiet_hours: { from: '21:00', to: '08:00' },
      frequency_cap: { sends: 2, per: 'PT1.5H' },
      timezone: 'Europe/Berlin',
    };
    const limitsOf = async (given: NewDefinition['settings'], mailed?: object) => {
      const run = runOf(sending(given), mailed as Parameters<typeof runOf>[1]);
      await run.walkAt(BEGAN);
      return run.done.limits;
    };
    const kept = {
      quiet_hours: settings.quiet_hours,
      frequency_cap: { sends: 2, per: 'PT1H30M', of: 'project', over: 'defer' },
      zone: 'Europe/Berlin',
    };
    const unconfirmed = { per_automation: 1, per_day: 3 };
    const mailedUnconfirmed = { per_automation: 0, per_day: 0 };
    expect(await limitsOf(settings)).toEqual([kept]);
    expect(await limitsOf(settings, { mailedUnconfirmed })).toEqual([{ ...kept, unconfirmed }]);
    const urgent = { ...settings, category: 'transactional' as const };
    expect(await limitsOf(urgent)).toEqual([null]);
    expect(await limitsOf(urgent, { mailedUnconfirmed })).toEqual([
      { unconfirmed, zone: 'Europe/Berlin' },
    ]);
    expect(await limitsOf({})).toEqual([null]);
  });

  test.each([
    [0, 2, 'send_queued'],
    [0, 3, 'unconfirmed_address'],
    [1, 1, 'unconfirmed_address'],
  ])(
    'an address that only a browser has said, with %i of this automation and %i in a day before: %s',
    async (per_automation, per_day, decision) => {
      const mailedUnconfirmed = { per_automation, per_day };
      for (const category of ['marketing', 'transactional'] as const) {
        const run = runOf(sending({ category }), { mailedUnconfirmed });
        expect(await run.walkAt(BEGAN)).toBe('completed');
        expect(run.decisions).toEqual([decision]);
        const skipped = decision === 'send_queued' ? [] : [{ reason: decision }];
        expect(run.done.skipped).toMatchObject(skipped);
      }
    },
  );

  test('that was taken before sends nothing again', async () => {
    const run = runOf(sending({}), {
      sends: [{ step_id: 'a', facts: ['queued'] }],
      entries: 2,
    });
    expect(await run.walkAt(BEGAN)).toBe('completed');
    expect([run.decisions, run.done.sent]).toEqual([['sent_before'], []]);
  });
});

test('update_profile sets what the step says, as a server would, and removes with null', async () => {
  const run = runOf(
    steps({
      a: { kind: 'update_profile', traits: { stage: 'onboarding', trial: null }, next: null },
    }),
  );
  await run.walkAt('2026-06-02T12:00:00Z');
  expect(run.done.changes).toEqual([
    {
      traits: { stage: 'onboarding', trial: null },
      setAt: new Date('2026-06-02T12:00:00Z'),
      authority: 'server',
    },
  ]);
});
