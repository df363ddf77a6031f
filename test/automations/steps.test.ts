import { describe, expect, test } from 'vitest';
import type { EventRow } from '../../src/ingest/events.ts';
import { changeTraits } from '../../src/profiles/profiles.ts';
import { TRAIT_KEYS_MAX } from '../../src/profiles/traits.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf } from './journeys.ts';

const database = testDatabase();

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** Runs one update_profile for each event in turn; answers the profile and the decisions. */
const updated = async (
  traits: Record<string, string>,
  ...events: [object, Partial<EventRow>?][]
) => {
  const journeys = journeysOf(database);
  await journeys.activate({
    settings: { re_entry: 'every_time' },
    entry: 'a',
    steps: { a: copy(traits) },
  });
  for (const [properties, given] of events) {
    const event = newEvent({ properties: JSON.stringify(properties), ...given });
    await journeys.start(await journeys.flush(event));
    await journeys.advance();
  }
  const [profile] = await journeys.select('traits, email', 'profiles.profiles');
  return { profile, decisions: await journeys.decisions() };
};

describe('update_profile', () => {
  test('copies the properties that the event has, each with its own type', async () => {
    const { profile, decisions } = await updated(
      { plan: 'plan', places: 'seats', is_trial: 'trial', absent: 'nothing' },
      [{ plan: 'pro', seats: 3, trial: false, other: 'x' }],
    );
    expect(profile.traits).toEqual({ plan: 'pro', places: 3, is_trial: false });
    expect(decisions).toEqual([
      { step_id: 'a', decision: 'profile_updated', detail: { traits: 'plan,places,is_trial' } },
    ]);
  });

  test('does nothing, and says so, when the event has none of them', async () => {
    const { profile, decisions } = await updated({ plan: 'plan' }, [{ other: 1 }]);
    expect(profile.traits).toEqual({});
    expect(decisions).toEqual([{ step_id: 'a', decision: 'nothing_to_update', detail: {} }]);
  });

  test.each([
    ['ann@example.com', 'ann@example.com'],
    [' Ann@Example.COM ', 'Ann@example.com'],
    ['ann', null],
    ['', null],
    ['ann@example.com, bob@example.com', null],
    [42, null],
    [true, null],
  ])('takes %j as the address %j', async (email, expected) => {
    const { profile } = await updated({ email: 'mail' }, [{ mail: email }]);
    expect(profile.email).toBe(expected);
  });

  test('keeps the old address when the new one is none', async () => {
    const { profile, decisions } = await updated(
      { email: 'mail' },
      [{ mail: 'ann@example.com' }],
      [{ mail: 'oops' }],
      [{}],
    );
    expect(profile.email).toBe('ann@example.com');
    const updates = decisions.filter(({ decision }) => decision === 'profile_updated');
    expect([decisions.length, updates.length]).toEqual([3, 1]);
  });

  test('takes what happened later, whatever arrived first', async () => {
    const late = { occurred_at: minutesAgo(1) };
    const early = { occurred_at: minutesAgo(9) };
    const orders: [object, Partial<EventRow>][][] = [
      [
        [{ plan: 'late' }, late],
        [{ plan: 'early' }, early],
      ],
      [
        [{ plan: 'early' }, early],
        [{ plan: 'late' }, late],
      ],
    ];
    for (const order of orders)
      expect((await updated({ plan: 'plan' }, ...order)).profile.traits).toEqual({ plan: 'late' });
  });

  test('never lets a browser replace what a server said', async () => {
    const browser: Partial<EventRow> = { source: 'browser', key_kind: 'publishable' };
    const { profile } = await updated(
      { email: 'mail', city: 'city' },
      [{ mail: 'real@example.com' }, { occurred_at: minutesAgo(9) }],
      [
        { mail: 'attacker@example.com', city: 'Ulm' },
        { ...browser, occurred_at: minutesAgo(1) },
      ],
    );
    expect(profile).toEqual({
      email: 'real@example.com',
      traits: { email: 'real@example.com', city: 'Ulm' },
    });
  });

  test('goes on, and says so, when servers have told somebody as much as one may hold', async () => {
    const journeys = journeysOf(database);
    const full = Object.fromEntries(Array.from({ length: TRAIT_KEYS_MAX }, (_, n) => [`t${n}`, n]));
    await journeys.start(await journeys.flush(newEvent({ name: 'page_viewed' })));
    const [{ identity_id: identityId }] = await journeys.select(
      'identity_id',
      'identity.identities',
    );
    const word = { identityId, traits: full, setAt: new Date(), authority: 'server' as const };
    await journeys.within((scope) => changeTraits(scope, word));
    await journeys.activate({
      entry: 'a',
      steps: { a: copy({ plan: 'plan' }, 'b'), b: copy({ t0: 'plan' }) },
    });
    await journeys.start(await journeys.flush(newEvent({ properties: '{"plan":"pro"}' })));
    await journeys.advance();
    expect((await journeys.decisions()).map(({ decision }) => decision)).toEqual([
      'too_many_traits',
      'profile_updated',
    ]);
  });

  test('treats names of the language as data', async () => {
    const properties = JSON.parse('{ "constructor": "a", "toString": "b", "__proto__": "c" }');
    const names = JSON.parse(
      '{ "x": "toString", "y": "valueOf", "z": "__proto__", "__proto__": "none", "constructor": "constructor" }',
    );
    const { profile, decisions } = await updated(names, [properties]);
    expect(profile.traits).toEqual({ constructor: 'a', x: 'b', z: 'c' });
    expect(decisions).toMatchObject([{ detail: { traits: 'x,z,constructor' } }]);
  });

  test('tells a trait that is called __proto__ like any other, and nobody’s prototype', async () => {
    const names = JSON.parse('{ "__proto__": "plan", "prototype": "plan" }');
    const { profile, decisions } = await updated(names, [{ plan: 'pro' }]);
    const { rows } = await database.owner.query<{ kept: string }>(
      `select traits::text as kept from profiles.profiles where traits ? '__proto__'`,
    );
    expect(rows).toEqual([{ kept: '{"__proto__": "pro", "prototype": "pro"}' }]);
    expect(Object.getPrototypeOf(profile.traits)).toBe(Object.prototype);
    expect(decisions).toMatchObject([{ detail: { traits: '__proto__,prototype' } }]);
  });
});
