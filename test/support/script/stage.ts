import { expect } from 'vitest';
import type { Link, Profile, TimelineEntry } from '../../../src/profiles/schema.ts';
import { seenAt, UNSEEN } from './ops.ts';
import type { Cast, Op } from './ops.ts';

/** What can be read of a place. */
export type View = {
  findProfile: (by: 'external' | 'anonymous', value: string) => Promise<Profile | undefined>;
  /** A profile's whole timeline, newest first. */
  listTimeline: (profileId: string) => Promise<TimelineEntry[]>;
  /** The log of links. */
  listLinks: () => Promise<Link[]>;
};

/** A project of its own in which a script is played. */
export type Place = {
  /** Does one thing as a client would; fails on any answer that a good client need not expect. */
  perform: (op: Op) => Promise<void>;
  /** Resolves when everything accepted has been processed. */
  settle: () => Promise<void>;
  /** Reads what is there, in as few steps as the stage can. */
  look: <T>(read: (view: View) => Promise<T>) => Promise<T>;
};

/** Where scripts are played, and how many things happen there at a time. */
export type Stage = { lanes: number; open: () => Promise<Place> };

export const play = async ({ lanes }: Stage, place: Place, ops: readonly Op[]): Promise<void> => {
  const rest = ops.values();
  const lane = async (): Promise<void> => {
    for (const op of rest) await place.perform(op);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
};

export type Known = {
  of: string;
  /** Null when nothing is known: nobody ever said who that is, or only in a link that was undone. */
  profile: Omit<Profile, 'id' | 'updated_at'> | null;
  timeline: Omit<TimelineEntry, 'id' | 'received_at'>[];
};
/** Everything that is known of everybody, without what each run makes anew: ids, and when it was told. */
export type World = { people: Known[]; links: string[] };

/** Entries of one moment stand in the order of their arrival, which may differ. */
export const inOneOrder = (timeline: Known['timeline']): Known['timeline'] =>
  timeline.toSorted((a, b) => {
    const [left, right] = [a.occurred_at + JSON.stringify(a), b.occurred_at + JSON.stringify(b)];
    return left < right ? 1 : -1;
  });

type Shown = NonNullable<Known['profile']>;

/** Whoever is only named by a link is shown with the time at which that was told. */
const withScriptTimes = (profile: Shown): Shown => ({
  ...profile,
  identifiers: profile.identifiers.map((identifier) => ({
    ...identifier,
    first_seen_at: seenAt(identifier.first_seen_at),
  })),
  first_seen_at: seenAt(profile.first_seen_at),
  last_seen_at: seenAt(profile.last_seen_at),
});

const readKnown = async (
  view: View,
  by: 'external' | 'anonymous',
  value: string,
): Promise<Known> => {
  const of = `${by} ${value}`;
  const found = await view.findProfile(by, value);
  if (!found) return { of, profile: null, timeline: [] };
  const { id, updated_at: _, ...shown } = found;
  const profile = withScriptTimes(shown);
  const timeline = (await view.listTimeline(id)).map(
    ({ id: _id, received_at: _at, ...entry }) => entry,
  );
  const times = timeline.map(({ occurred_at }) => occurred_at);
  expect(times, 'newest first').toEqual(times.toSorted().toReversed());
  const isBlank =
    profile.identifiers.length === 1 &&
    profile.last_seen_at === UNSEEN &&
    Object.keys(profile.traits).length + timeline.length === 0;
  return { of, profile: isBlank ? null : profile, timeline: inOneOrder(timeline) };
};

export const nameLink = ({ anonymous_id, external_id }: Link): string =>
  `${anonymous_id} -> ${external_id}`;

/** Reads a place once it is idle. */
export const readWorld = async (place: Place, cast: Cast): Promise<World> => {
  await place.settle();
  return place.look(async (view) => {
    const people: Known[] = [];
    for (const value of cast.people) people.push(await readKnown(view, 'external', value));
    for (const value of cast.devices) people.push(await readKnown(view, 'anonymous', value));
    const active = (await view.listLinks()).filter(({ status }) => status === 'active');
    return { people, links: active.map(nameLink).toSorted() };
  });
};

/** The same, byte for byte; what differs is shown member by member. */
export const expectSame = (actual: World, expected: World): void => {
  expect(actual).toEqual(expected);
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
};
