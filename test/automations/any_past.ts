// What may happen to a few people in four weeks: events in time and late, traits, links, words about addresses.
import fc from 'fast-check';
import { newId } from '../../src/base/ids.ts';
import { EVENTS, ZONES } from './any_step.ts';
import { DAY_MS } from './past_world.ts';
import type { Happening } from './past_world.ts';

export const PEOPLE = ['p0', 'p1', 'p2', 'p3'];
export const DEVICES = ['d0', 'd1', 'd2'];
const DAYS = 26;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const person = fc.constantFrom(...PEOPLE);
const device = fc.constantFrom(...DEVICES);
/** No two moments are the same, nor next to each other. */
const minute = fc.integer({ min: 0, max: DAYS * 24 * 60 - 1 });

const event = fc.record({
  kind: fc.constant('event' as const),
  who: fc.oneof({ weight: 4, arbitrary: person }, device),
  name: fc.constantFrom('go', ...EVENTS),
  source: fc.constantFrom('server' as const, 'system' as const),
  properties: fc.record({
    total: fc.integer({ min: 1, max: 5 }),
    plan: fc.constantFrom('pro', 'free'),
  }),
  lagMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    fc.constantFrom(MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 20 * HOUR_MS),
    // A clock that is ahead.
    fc.constantFrom(-MINUTE_MS, -5 * HOUR_MS),
  ),
});
const trait = fc.record({
  kind: fc.constant('trait' as const),
  who: person,
  traits: fc.oneof(
    { weight: 4, arbitrary: fc.record({ plan: fc.constantFrom('pro', 'free') }) },
    fc.record({ timezone: fc.constantFrom(...ZONES) }),
  ),
});
const change = fc.oneof(
  { weight: 14, arbitrary: event },
  { weight: 2, arbitrary: trait },
  fc.record({
    kind: fc.constant('link' as const),
    who: person,
    device,
    by: fc.constantFrom('publishable' as const, 'server' as const),
  }),
  fc.record({ kind: fc.constant('unlink' as const), who: person, device }),
  fc.record({
    kind: fc.constantFrom(
      'unsubscribe' as const,
      'resubscribe' as const,
      'suppress' as const,
      'lift' as const,
    ),
    who: person,
  }),
);

/** As it is drawn: when, in minutes, and what. */
export const anyPast = fc.uniqueArray(fc.tuple(minute, change), {
  minLength: 15,
  maxLength: 40,
  size: 'max',
  selector: ([at]) => at,
});
export type Drawn = typeof anyPast extends fc.Arbitrary<infer T> ? T : never;

/** The same on a calendar, in its order. Odd seconds keep it off the moments that definitions name. */
export const onCalendar = (drawn: Drawn, start: Date): Happening[] =>
  drawn
    .toSorted(([a], [b]) => a - b)
    .map(([minutes, one]): Happening => {
      const at = new Date(start.getTime() + minutes * MINUTE_MS + 17_171);
      if (one.kind !== 'event') return { at, ...one };
      const { lagMs, ...given } = one;
      return { at, ...given, eventId: newId(), occurredAt: new Date(at.getTime() - lagMs) };
    });

/** A month whose zones change their clocks in it, or that is the last. */
export const anyEnd = fc.constantFrom('now', '-04-08T12:00:00Z', '-11-06T12:00:00Z').map((text) => {
  const now = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS);
  if (text === 'now') return now;
  const year = now.getUTCFullYear();
  const end = new Date(`${year}${text}`);
  return end < now ? end : new Date(`${year - 1}${text}`);
});

export const SPAN_MS = 29 * DAY_MS;

/** Who was ever linked with whom in a script: the names of each family, joined. */
export const familiesOf = (script: readonly Happening[]): Map<string, string> => {
  const families = new Map([...PEOPLE, ...DEVICES].map((name) => [name, new Set([name])]));
  for (const one of script) {
    if (one.kind !== 'link') continue;
    const both = new Set([...(families.get(one.who) ?? []), ...(families.get(one.device) ?? [])]);
    for (const name of both) families.set(name, both);
  }
  return new Map([...families].map(([name, all]) => [name, [...all].toSorted().join()]));
};
