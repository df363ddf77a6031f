import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Event } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import { PastPeople } from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { isMeant } from './event_match.ts';
import type { By } from './entering.ts';
import { isLate, isLateEntry } from './late.ts';
import type { Definition } from './schema.ts';
import { listPast } from './simulate_queries.ts';
import { subjectOf } from './triggers.ts';

/** What would have begun a run: for whom, by what, and the event if it was one. */
export type Came = {
  identityId: string;
  by: Exclude<By, { kind: 'hand' }>;
  event: Event | null;
  /** When it would have begun: an event begins nothing before it is received. */
  at: Date;
};

const keyOf = (event: Event): string => {
  const { kind, value } = subjectOf(event);
  return `${kind}/${value}`;
};

type Asked = { definition: Definition; from: Date; now: Date; limit: number };
/** Who came, and everybody whom they have to do with. */
export type Arrivals = { came: Came[]; people: PastPeople };

const readEvents = async (
  scope: Scope,
  trigger: Extract<Definition['trigger'], { kind: 'event' }>,
  { definition, from, now, limit }: Asked,
): Promise<Arrivals> => {
  const past = await listPast(scope, { name: trigger.event, from, to: now, limit });
  const events = past.filter((event) => isMeant(trigger, event));
  const subjects = new Map(events.map((event) => [keyOf(event), subjectOf(event)]));
  const known = await profiles.listIdentities(scope, [...subjects.values()]);
  const idOf = new Map(known.map((one) => [`${one.kind}/${one.value}`, one.identity_id]));
  const people = await PastPeople.read(scope, { identityIds: [...idOf.values()], profileIds: [] });
  const came = events.flatMap((event): Came[] => {
    const identityId = idOf.get(keyOf(event));
    if (identityId === undefined || !people.identify(identityId)) return [];
    const { event_id: eventId, occurred_at: occurredAt, properties, source } = event;
    const late = isLate(event, definition.settings.late_events);
    const told = { properties, isLate: late, source, traceparent: null };
    const by = { kind: 'event', eventId, at: occurredAt, ...told } as const;
    return [{ identityId, by, event, at: ingest.arrivalOf(event) }];
  });
  return { came: came.toSorted((a, b) => a.at.getTime() - b.at.getTime()), people };
};

const readEntries = async (
  scope: Scope,
  segmentId: string,
  { definition, from: since, limit }: Asked,
): Promise<Arrivals> => {
  const change = definition.trigger.kind === 'segment_entered' ? 'entered' : 'left';
  const told = await segments.listPastEntries(scope, { segmentId, change }, { since, limit });
  const profileIds = [...new Set(told.map(({ profile_id }) => profile_id))];
  const people = await PastPeople.read(scope, { identityIds: [], profileIds });
  const came = told.flatMap((one): Came[] => {
    const { profile_id, entry, changed_at: at, source } = one;
    const late = isLateEntry(one, definition.settings.late_events);
    const identityId = people.ownerOf(profile_id);
    // A profile that was linked to another leaves its segments; nobody did.
    const isTheirs = identityId !== null && people.at(identityId, at)?.profileId === profile_id;
    const by = { kind: 'entry', entry, at, isLate: late, source } as const;
    return isTheirs ? [{ identityId, by, event: null, at }] : [];
  });
  return { came, people };
};

/** What the trigger of a version would have let through, in its order; nothing without a trigger of that kind. */
export const readArrivals = async (scope: Scope, asked: Asked): Promise<Arrivals> => {
  const { trigger } = asked.definition;
  if (trigger.kind === 'event') return readEvents(scope, trigger, asked);
  if (trigger.kind === 'segment_entered' || trigger.kind === 'segment_left')
    return readEntries(scope, trigger.segment_id, asked);
  return {
    came: [],
    people: await PastPeople.read(scope, { identityIds: [], profileIds: [] }),
  };
};
