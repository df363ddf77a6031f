import { describe, expect, test } from 'vitest';
import { parse } from '../../src/base/parse.ts';
import { Refusal } from '../../src/base/refusal.ts';
import { Definition, KeptDefinition, STEPS_MAX } from '../../src/automations/schema.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { FILTERS_MAX } from '../../src/segments/value_schema.ts';
import { newId } from '../../src/base/ids.ts';
import { copy, definition, mail } from './journeys.ts';

const issuesOf = (value: unknown) => {
  try {
    parse(Definition, value);
    return [];
  } catch (error) {
    if (error instanceof Refusal) return error.extras.issues ?? [];
    throw error;
  }
};
const isGood = (value: unknown): boolean => issuesOf(value).length === 0;
/** A chain of so many steps. */
const chain = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `step_${at}`,
      copy({ a: 'b' }, at + 1 < count ? `step_${at + 1}` : null),
    ]),
  );

test('the least that a definition says, with what is assumed', () => {
  const least = {
    trigger: { kind: 'event', event: 'x' },
    settings: {},
    entry: 'mail',
    steps: { mail: mail() },
  };
  expect(parse(Definition, least)).toMatchObject({
    trigger: { where: [] },
    settings: { re_entry: 'once' },
  });
});

test('every step that is named exists', () => {
  expect(issuesOf(definition({ entry: 'nowhere' }))).toEqual([
    { path: '/entry', message: 'there is no step "nowhere": add it, or name another' },
  ]);
  expect(issuesOf(definition({ steps: { address: copy({}, 'gone') } }))).toEqual([
    { path: '/steps/address/next', message: 'there is no step "gone": add it, or name another' },
  ]);
  expect(isGood(definition({ steps: {} }))).toBe(false);
  for (const entry of ['constructor', 'toString', '__proto__'])
    expect(isGood(definition({ entry }))).toBe(false);
});

test('there are at most 100 steps', () => {
  expect(isGood(definition({ entry: 'step_0', steps: chain(STEPS_MAX) }))).toBe(true);
  expect(isGood(definition({ entry: 'step_0', steps: chain(STEPS_MAX + 1) }))).toBe(false);
});

test('a trigger has at most 20 filters, each on a plain value', () => {
  const filters = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      property: `p${at}`,
      test: { is: 'equals', value: at },
    }));
  const withFilters = (list: unknown) => ({
    ...definition(),
    trigger: { kind: 'event', event: 'x', where: list },
  });
  expect(isGood(withFilters(filters(FILTERS_MAX)))).toBe(true);
  expect(isGood(withFilters(filters(FILTERS_MAX + 1)))).toBe(false);
  for (const equals of ['x', 1, true])
    expect(isGood(withFilters([{ property: 'p', test: { is: 'equals', value: equals } }]))).toBe(
      true,
    );
  for (const equals of [null, [], {}, undefined])
    expect(isGood(withFilters([{ property: 'p', test: { is: 'equals', value: equals } }]))).toBe(
      false,
    );
});

test('a step is called in lower case, at most 50 characters', () => {
  const called = (entry: string) => definition({ entry, steps: { [entry]: mail() } });
  for (const name of ['a', 'step_1', 'x'.repeat(50)]) expect(isGood(called(name))).toBe(true);
  for (const name of ['', 'A', '1a', '_a', 'a-b', 'a b', 'x'.repeat(51)])
    expect(isGood(called(name))).toBe(false);
});

test('no step is called __proto__, and that is said', () => {
  const steps = JSON.parse(
    `{ "__proto__": ${JSON.stringify(mail())}, "a": ${JSON.stringify(mail())} }`,
  );
  expect(issuesOf(definition({ entry: 'a', steps }))).toEqual([
    { path: '/steps', message: 'no step is called __proto__' },
  ]);
});

describe('a step', () => {
  const withStep = (step: unknown) => ({ ...definition(), entry: 'a', steps: { a: step } });

  test('is of a kind that exists, with what that kind needs and no more', () => {
    expect(isGood(withStep(mail()))).toBe(true);
    for (const step of [
      { ...mail(), kind: 'teleport' },
      { ...mail(), extra: 1 },
      { ...mail(), provider_id: 'x' },
      { ...mail(), template_version: 0 },
      { ...mail(), template_version: 1.5 },
      { ...mail(), next: undefined },
      { kind: 'send_email', next: null },
      null,
    ])
      expect(isGood(withStep(step))).toBe(false);
  });

  test('copies traits of any name', () => {
    const names = '{"__proto__":"a","constructor":"__proto__"}';
    const parsed = parse(Definition, withStep(copy(JSON.parse(names))));
    const { a } = parsed.steps;
    expect(a?.kind === 'update_profile' && JSON.stringify(a.traits_from_event)).toBe(names);
  });

  test('copies traits whose names have 1 to 255 characters', () => {
    expect(isGood(withStep(copy({ ['x'.repeat(255)]: 'y'.repeat(255) })))).toBe(true);
    for (const traits of [
      { '': 'x' },
      { x: '' },
      { ['x'.repeat(256)]: 'y' },
      { x: 1 as unknown as string },
      { x: 'y'.repeat(256) },
    ])
      expect(isGood(withStep(copy(traits)))).toBe(false);
  });
});

test('a step tells a profile what anybody may tell it, and nothing else', () => {
  const tell = (traits: object) =>
    issuesOf(
      definition({
        entry: 'a',
        steps: { a: { kind: 'update_profile', traits: traits as { x: string }, next: null } },
      }),
    );
  expect(tell({ email: 'ann@example.com', plan: 'pro', seats: 3, trial: null })).toEqual([]);
  expect(tell({ email: null })).toEqual([]);
  expect(tell({ email: 'nobody' })).toMatchObject([
    { path: '/steps/a/traits/email', message: expect.stringContaining('one e-mail address') },
  ]);
  expect(tell({ big: 2 ** 60 })).toMatchObject([{ path: '/steps/a/traits/big' }]);
  for (const traits of [{ x: '\ud800' }, { x: 'a\0' }, { '\udfff': 'x' }])
    expect(tell(traits)).toMatchObject([{ path: '/steps/a/traits' }]);
});

test('a definition knows what it knows', () => {
  expect(isGood({ ...definition(), version: 2 })).toBe(false);
  expect(isGood({ ...definition(), settings: { re_entry: 'sometimes' } })).toBe(false);
  expect(isGood({ ...definition(), trigger: { kind: 'segment', segment_id: newId() } })).toBe(
    false,
  );
});

describe('a definition of an earlier format', () => {
  test('format 1 is read as it was meant', () => {
    const filters = [{ property: 'plan', equals: 'pro' }];
    const kept = {
      trigger: { kind: 'event', event: 'user_signed_up', filters },
      settings: { re_entry: 'every_time' },
      entry: 'address',
      steps: { address: copy({ email: 'email' }, 'mail'), mail: mail() },
    };
    expect(KeptDefinition.parse(kept)).toMatchObject({
      format: 3,
      trigger: { where: [{ property: 'plan', test: { is: 'equals', value: 'pro' } }] },
      settings: { re_entry: 'every_time', expires_after: 'PT72H', goal: null },
      steps: { address: { traits_from_event: { email: 'email' }, traits: {} } },
    });
  });

  test('format 2 becomes conditions of the language of segments', () => {
    const pro = { property: 'plan', is: 'equals', value: 'pro' };
    const way = (...when: object[]) => ({ when, next: null });
    const kept = {
      format: 2,
      trigger: {
        kind: 'event',
        event: 'signed_up',
        filters: [{ ...pro, is: 'one_of', value: ['a'] }],
      },
      settings: {
        goal: { event: 'paid', filters: [{ property: 'n', is: 'greater_than', value: 2 }] },
      },
      entry: 'ask',
      steps: {
        ask: {
          kind: 'branch',
          branches: [
            way({
              on: 'profile',
              filters: [pro, { property: 'tags', is: 'contains', value: 'complained' }],
            }),
            way({ on: 'person', where: { kind: 'subscribed' } }, { on: 'trigger', filters: [pro] }),
            way({ on: 'event', event: 'paid', filters: [], source: 'server' }),
            way({ on: 'send', step: 'mail', became: 'bounced' }),
            way({ on: 'profile', filters: [] }),
          ],
          otherwise: 'wait',
        },
        wait: {
          kind: 'wait_for_event',
          event: 'seen',
          filters: [{ property: 'n', is: 'not_exists' }],
          timeout: 'P1D',
          next: 'mail',
          on_timeout: null,
        },
        mail: mail(),
      },
    };
    const isPro = { is: 'equals', value: 'pro' };
    const { trigger, settings, steps } = KeptDefinition.parse(kept);
    expect(trigger).toMatchObject({
      where: [{ property: 'plan', test: { is: 'one_of', values: ['a'] } }],
    });
    expect(settings.goal).toEqual({
      event: 'paid',
      where: [{ property: 'n', test: { is: 'greater', value: 2 } }],
    });
    expect(steps['wait']).toMatchObject({ where: [{ property: 'n', test: { is: 'not_exists' } }] });
    const { ask } = steps;
    expect(ask?.kind === 'branch' && ask.branches.map(({ when }) => when)).toEqual([
      {
        kind: 'all',
        of: [
          { kind: 'trait', trait: 'plan', test: isPro },
          { kind: 'tag', tag: 'complained' },
        ],
      },
      {
        kind: 'all',
        of: [
          { kind: 'subscribed' },
          { kind: 'trigger', where: [{ property: 'plan', test: isPro }] },
        ],
      },
      { kind: 'event_since', event: 'paid', where: [], source: 'server' },
      { kind: 'email', step: 'mail', became: 'bounced' },
      { kind: 'any', of: [{ kind: 'subscribed' }, { kind: 'not', of: { kind: 'subscribed' } }] },
    ]);
  });

  test('is no longer accepted', () => {
    const filters = [{ property: 'plan', equals: 'pro' }];
    expect(isGood({ ...definition(), trigger: { kind: 'event', event: 'x', filters } })).toBe(
      false,
    );
  });
});

describe('the way that steps lead', () => {
  const wait = (next: string | null) => ({ kind: 'delay' as const, duration: 'P1D', next });
  const given = (steps: NewDefinition['steps'], more: Partial<NewDefinition> = {}) =>
    definition({ entry: 'a', steps, ...more });

  test('reaches each of them: one that nothing leads to is named', () => {
    expect(issuesOf(given({ a: mail(), lost: mail() }))).toEqual([
      {
        path: '/steps/lost',
        message: 'no way leads to the step "lost": name it as the next of another, or remove it',
      },
    ]);
  });

  test('goes round in a circle only where there is a delay in it', () => {
    expect(isGood(given({ a: mail('b'), b: wait('a') }))).toBe(true);
    const message = (id: string) =>
      `the step "${id}" leads back to itself without a delay: put a delay between`;
    expect(issuesOf(given({ a: mail('b'), b: mail('a') }))).toEqual([
      { path: '/steps/a', message: message('a') },
      { path: '/steps/b', message: message('b') },
    ]);
    const waits = {
      kind: 'wait_for_event' as const,
      event: 'x',
      timeout: 'P1D',
      next: 'a',
      on_timeout: null,
    };
    const moment = { kind: 'delay' as const, duration: 'PT0.0001S', next: 'a' };
    expect(issuesOf(given({ a: moment }))).toEqual([{ path: '/steps/a', message: message('a') }]);
    expect(isGood(given({ a: { ...moment, duration: 'PT0.001S' } }))).toBe(true);
    const until = { kind: 'delay_until' as const, until: { trait: 'born' }, next: 'a' };
    expect(isGood(given({ a: until }))).toBe(true);
    expect(issuesOf(given({ a: { ...until, otherwise: 'a' } }))).toEqual([
      { path: '/steps/a', message: message('a') },
    ]);
    // What occurred since the run began has occurred each time.
    expect(issuesOf(given({ a: waits }))).toEqual([{ path: '/steps/a', message: message('a') }]);
  });

  test('asks only what there is to be asked', () => {
    const branch = (when: object) =>
      ({ kind: 'branch', branches: [{ when, next: null }], otherwise: 'm' }) as const;
    const ask = (when: object, more: Partial<NewDefinition> = {}) =>
      issuesOf(given({ a: branch(when) as never, m: mail() }, more));
    expect(ask({ kind: 'email', step: 'm', became: 'delivered' })).toEqual([]);
    expect(ask({ kind: 'email', step: 'a', became: 'delivered' })).toEqual([
      {
        path: '/steps/a/branches/0/when/step',
        message: 'the step "a" sends nothing: name a step of kind send_email',
      },
    ]);
    const trigger = { kind: 'trigger', where: [{ property: 'p', test: { is: 'exists' } }] };
    expect(ask(trigger)).toEqual([]);
    const manual = { trigger: { kind: 'manual' as const } };
    expect(ask(trigger, manual)[0]?.message).toBe(
      'the step "a" asks the trigger event: there is none',
    );
  });
});

test('an event that only the service records cannot be required from a server', () => {
  const match = { event: 'email_clicked', source: 'server' as const };
  const message =
    'no server sends "email_clicked": Trunkline itself records events whose name begins with email_. ' +
    'Remove source, or name another event';
  const wait = { kind: 'wait_for_event', timeout: 'P1D', next: 'mail', on_timeout: null };
  const when = { kind: 'event_since', ...match };
  const branch = { kind: 'branch', branches: [{ when, next: null }], otherwise: null };
  const steps = (one: object) => ({ entry: 'a', steps: { a: one, mail: mail() } }) as never;
  const given = {
    '/trigger': { trigger: { kind: 'event', ...match } } as never,
    '/settings/goal': { settings: { goal: match } },
    '/steps/a': steps({ ...wait, ...match }),
    '/steps/a/branches/0/when': { ...(steps({ ...branch, otherwise: 'mail' }) as object) },
  };
  for (const [place, one] of Object.entries(given))
    expect(issuesOf(definition(one))).toEqual([{ path: `${place}/source`, message }]);
  const { source: _, ...anyone } = match;
  expect(issuesOf(definition({ trigger: { kind: 'event', ...anyone } }))).toEqual([]);
  expect(issuesOf(definition({ trigger: { kind: 'event', ...match, event: 'paid' } }))).toEqual([]);
});

test('a trigger is an event, coming into a segment or leaving it, or by hand; others are named', () => {
  for (const kind of ['segment_entered', 'segment_left'])
    expect(issuesOf({ ...definition(), trigger: { kind, segment_id: newId() } })).toEqual([]);
  expect(issuesOf({ ...definition(), trigger: { kind: 'moon' } })).toEqual([
    {
      path: '/trigger/kind',
      message: 'must be one of event, segment_entered, segment_left, manual, schedule',
    },
  ]);
});

test('a duration is ISO 8601, longer than nothing and at most a year', () => {
  const delayed = (duration: string) =>
    isGood(definition({ entry: 'a', steps: { a: { kind: 'delay', duration, next: null } } }));
  for (const duration of ['PT1S', 'PT2H', 'P3D', 'P2W', 'P1M', 'P1Y', 'P12M', 'P366D', 'P1DT2H'])
    expect([duration, delayed(duration)]).toEqual([duration, true]);
  for (const duration of ['', 'P', 'PT0S', '-P1D', '3 days', 'P367D', 'P13M', 'P1Y1D', 'P1X', '1D'])
    expect([duration, delayed(duration)]).toEqual([duration, false]);
});
