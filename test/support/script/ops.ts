import fc from 'fast-check';
import type { z } from 'zod';

/** Who a script is about. Devices are anonymous ids, people external ones. */
export type Cast = { devices: string[]; people: string[] };

export type Traits = Record<string, z.core.util.JSONType>;
export type KeyKind = 'publishable' | 'server';
export type Who = { external_id?: string; anonymous_id?: string };

/** What makes the same request twice one: an id of the message, or of the request. */
type Repeatable = { id: string; repeats: 'message_id' | 'idempotency_key' };
export type Track = Repeatable & { kind: 'track'; who: Who; minute: number; key: KeyKind };
export type Identify = Repeatable & {
  kind: 'identify';
  device: string | null;
  person: string;
  traits: Traits;
  minute: number;
  key: KeyKind;
};
export type Alias = { kind: 'alias'; device: string; person: string };
/** Undoes whatever links the device at that moment. */
export type Undo = { kind: 'undo'; device: string };
export type Op = Track | Identify | Alias | Undo;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MINUTES = 500;
const base = Date.now() - DAY_MS;

/** Scripts take place yesterday. */
export const timeOf = (minute: number): string => new Date(base + minute * MINUTE_MS).toISOString();

/** What stands for a time that is no time of the script: nobody has been seen. */
export const UNSEEN = 'unseen';

/** A time that is shown of people: when the script says they were seen, or that it never does. */
export const seenAt = (time: string): string => (time > timeOf(MINUTES) ? UNSEEN : time);

const ADDRESSES = ['a@people.test', 'b@people.test', null];
const VALUES = ['a', 'b', null, true, { x: 1 }];

const traits: fc.Arbitrary<Traits> = fc.record(
  {
    plan: fc.constantFrom(...VALUES),
    city: fc.constantFrom(...VALUES),
    email: fc.constantFrom(...ADDRESSES),
  },
  { requiredKeys: ['plan'] },
);

const told = {
  id: fc.uuid(),
  repeats: fc.constantFrom('message_id' as const, 'idempotency_key' as const),
  // Few moments, so that many are the same and something else decides.
  minute: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(100, 200) },
    fc.integer({ min: 0, max: MINUTES }),
  ),
  key: fc.constantFrom('publishable' as const, 'server' as const),
};

export const tracks = ({ devices, people }: Cast): fc.Arbitrary<Track> => {
  const device = fc.constantFrom(...devices);
  const person = fc.constantFrom(...people);
  const who: fc.Arbitrary<Who> = fc.oneof(
    fc.record({ external_id: person }),
    fc.record({ anonymous_id: device }),
    fc.record({ anonymous_id: device, external_id: person }),
  );
  return fc.record({ kind: fc.constant('track'), who, ...told });
};

/** Says who people are; `ownerOf` names the person that a device is said to be of. */
export const identifies = (
  { devices, people }: Cast,
  ownerOf: (device: string, person: string) => string = (_, person) => person,
): fc.Arbitrary<Identify> =>
  fc
    .record({
      kind: fc.constant('identify' as const),
      device: devices.length === 0 ? fc.constant(null) : fc.option(fc.constantFrom(...devices)),
      person: fc.constantFrom(...people),
      traits,
      ...told,
    })
    .map((one) => ({
      ...one,
      person: one.device === null ? one.person : ownerOf(one.device, one.person),
    }));

export const aliases = (
  { devices, people }: Cast,
  ownerOf: (device: string, person: string) => string = (_, person) => person,
): fc.Arbitrary<Alias> =>
  fc
    .tuple(fc.constantFrom(...devices), fc.constantFrom(...people))
    .map(([device, person]) => ({ kind: 'alias', device, person: ownerOf(device, person) }));

export const undos = ({ devices }: Cast): fc.Arbitrary<Undo> =>
  fc.constantFrom(...devices).map((device) => ({ kind: 'undo', device }));

/** The same things in another order, which the ranks decide. */
export const shuffled = (ops: readonly Op[], ranks: readonly number[]): Op[] =>
  ops
    .map((one, at) => ({ one, rank: ranks[at % ranks.length] ?? 0, at }))
    .toSorted((a, b) => a.rank - b.rank || a.at - b.at)
    .map(({ one }) => one);
