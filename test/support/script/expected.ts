import { timeOf, UNSEEN } from './ops.ts';
import type { Cast, Identify, Op, Track, Traits } from './ops.ts';
import { inOneOrder } from './stage.ts';
import type { Known, World } from './stage.ts';

type Told = { value: Traits[string]; key: Identify['key']; minute: number };
type Seen = { minutes: number[]; events: Known['timeline']; traits: Map<string, Told[]> };

const seenOf = (all: Map<string, Seen>, name: string): Seen => {
  const seen = all.get(name) ?? { minutes: [], events: [], traits: new Map<string, Told[]>() };
  all.set(name, seen);
  return seen;
};

const noteTrack = (all: Map<string, Seen>, { who, minute, key, id }: Track): void => {
  const { external_id = null, anonymous_id = null } = who;
  if (external_id !== null) seenOf(all, `external ${external_id}`).minutes.push(minute);
  if (anonymous_id !== null) seenOf(all, `anonymous ${anonymous_id}`).minutes.push(minute);
  const owner = external_id === null ? `anonymous ${anonymous_id}` : `external ${external_id}`;
  seenOf(all, owner).events.push({
    event: 'page_viewed',
    external_id,
    anonymous_id,
    properties: { op: id },
    occurred_at: timeOf(minute),
    source: key === 'publishable' ? 'browser' : 'server',
  });
};

const noteIdentify = (all: Map<string, Seen>, one: Identify): void => {
  const { device, person, minute, key } = one;
  if (device !== null) seenOf(all, `anonymous ${device}`).minutes.push(minute);
  const seen = seenOf(all, `external ${person}`);
  seen.minutes.push(minute);
  for (const [name, value] of Object.entries(one.traits))
    seen.traits.set(name, [...(seen.traits.get(name) ?? []), { value, key, minute }]);
};

/** The server over a page, then the later, then the greater as text. */
const isBetter = (a: Told, b: Told): boolean => {
  if (a.key !== b.key) return a.key === 'server';
  if (a.minute !== b.minute) return a.minute > b.minute;
  return JSON.stringify(a.value) > JSON.stringify(b.value);
};

const foldTraits = (identities: readonly Seen[]): Traits => {
  const folded: Traits = {};
  const names = new Set(identities.flatMap(({ traits }) => [...traits.keys()]));
  for (const name of names) {
    const told = identities.flatMap(({ traits }) => traits.get(name) ?? []);
    const best = told.reduce((a, b) => (isBetter(b, a) ? b : a));
    if (best.value !== null) folded[name] = best.value;
  }
  return folded;
};

const seenAt = (minutes: readonly number[], pick: (...minutes: number[]) => number): string =>
  minutes.length === 0 ? UNSEEN : timeOf(pick(...minutes));

const foldProfile = (all: Map<string, Seen>, names: string[], of: string): Known => {
  const identities = names.map((name) => seenOf(all, name));
  const traits = foldTraits(identities) as NonNullable<Known['profile']>['traits'];
  const minutes = identities.flatMap((seen) => seen.minutes);
  if (names.length === 1 && minutes.length === 0) return { of, profile: null, timeline: [] };
  const identifiers = names.map((name) => {
    const [kind, value] = name.split(' ') as ['external' | 'anonymous', string];
    return { kind, value, first_seen_at: seenAt(seenOf(all, name).minutes, Math.min) };
  });
  const external = identifiers.find(({ kind }) => kind === 'external');
  const profile = {
    external_id: external?.value ?? null,
    identifiers,
    email: (traits['email'] as string | undefined) ?? null,
    traits,
    tags: [],
    suppressed: false,
    first_seen_at: seenAt(minutes, Math.min),
    last_seen_at: seenAt(minutes, Math.max),
  };
  return { of, profile, timeline: inOneOrder(identities.flatMap(({ events }) => events)) };
};

/** Once each, however often it was sent. */
const withoutRepeats = (ops: readonly Op[]): Op[] => [
  ...new Map(ops.map((op) => ['id' in op ? op.id : op, op])).values(),
];

/**
 * The world that follows from what was told and the links that stand, worked out the simple way:
 * every profile is the fold of its identities, and nothing else.
 */
export const expectedWorld = (
  { devices, people }: Cast,
  ops: readonly Op[],
  links: readonly string[],
): World => {
  const all = new Map<string, Seen>();
  for (const op of withoutRepeats(ops)) {
    if (op.kind === 'track') noteTrack(all, op);
    if (op.kind === 'identify') noteIdentify(all, op);
  }
  const ownerOf = new Map(links.map((link) => link.split(' -> ') as [string, string]));
  const namesOf = (person: string): string[] => [
    `external ${person}`,
    ...devices
      .filter((device) => ownerOf.get(device) === person)
      .toSorted()
      .map((device) => `anonymous ${device}`),
  ];
  return {
    people: [
      ...people.map((person) => foldProfile(all, namesOf(person), `external ${person}`)),
      ...devices.map((device) => {
        const owner = ownerOf.get(device);
        const names = owner === undefined ? [`anonymous ${device}`] : namesOf(owner);
        return foldProfile(all, names, `anonymous ${device}`);
      }),
    ],
    links: links.toSorted(),
  };
};
