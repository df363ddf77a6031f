import type { Scope } from '../base/db.ts';
import type { Event } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { hold } from './comparison.ts';
import type { By } from './entering.ts';
import type { Definition } from './schema.ts';
import { listPast } from './simulate_queries.ts';
import { isLate, subjectOf } from './triggers.ts';
import type { Somebody } from './virtual.ts';

export type Person = Somebody & { identityId: string };

/** What would have begun a run: whose, by what, and the event if it was one. */
export type Came = { person: Person; by: Exclude<By, { kind: 'hand' }>; event: Event | null };

const keyOf = (event: Event): string => {
  const { kind, value } = subjectOf(event);
  return `${kind}/${value}`;
};

/** Some people, as they are today, by their profiles; each with the identity that comes first. */
const readProfiles = async (scope: Scope, profileIds: string[]): Promise<Map<string, Person>> => {
  const rows = await profiles.listRows(scope, profileIds);
  const confirmed = await profiles.listConfirmed(
    scope,
    rows.map(({ profile_id: profileId, email }) => ({ profileId, email })),
  );
  const sentTo = new Map<string, Date[]>();
  const members = Map.groupBy(
    await profiles.listMembers(scope, profileIds),
    ({ profile_id }) => profile_id,
  );
  return new Map(
    rows.flatMap(({ profile_id: profileId, email, traits, tags }) => {
      const identifiers = members.get(profileId) ?? [];
      const [first] = identifiers;
      const person = { profileId, email, traits, tags };
      if (!first) return [];
      const { identity_id: identityId } = first;
      const isConfirmed = confirmed.has(profileId);
      return [[profileId, { person, identifiers, isConfirmed, sentAt: [], sentTo, identityId }]];
    }),
  );
};

type Asked = { definition: Definition; from: Date; now: Date; limit: number };

const listEvents = async (
  scope: Scope,
  trigger: Extract<Definition['trigger'], { kind: 'event' }>,
  { definition, from, now, limit }: Asked,
): Promise<Came[]> => {
  const past = await listPast(scope, { name: trigger.event, from, to: now, limit });
  const events = past.filter(({ properties }) => hold(trigger.filters, properties));
  const subjects = new Map(events.map((event) => [keyOf(event), subjectOf(event)]));
  const known = await profiles.listIdentities(scope, [...subjects.values()]);
  const people = await readProfiles(scope, [...new Set(known.map(({ profile_id }) => profile_id))]);
  const identityOf = new Map(known.map((one) => [`${one.kind}/${one.value}`, one]));
  return events.flatMap((event) => {
    const identity = identityOf.get(keyOf(event));
    const person = identity && people.get(identity.profile_id);
    if (!identity || !person) return [];
    const { event_id: eventId, occurred_at: at, properties } = event;
    const late = isLate(event, definition.settings.late_events);
    const by = { kind: 'event', eventId, at, properties, isLate: late } as const;
    return [{ person: { ...person, identityId: identity.identity_id }, by, event }];
  });
};

const listEntries = async (
  scope: Scope,
  segmentId: string,
  { definition, from: since, limit }: Asked,
): Promise<Came[]> => {
  const change = definition.trigger.kind === 'segment_entered' ? 'entered' : 'left';
  const told = await segments.listPastEntries(scope, { segmentId, change }, { since, limit });
  const people = await readProfiles(scope, [...new Set(told.map(({ profile_id }) => profile_id))]);
  return told.flatMap(({ profile_id, entry, changed_at: at }) => {
    const person = people.get(profile_id);
    return person ? [{ person, by: { kind: 'entry', entry, at }, event: null }] : [];
  });
};

/** What the trigger of a version would have let through, oldest first; nothing where it is started by hand. */
export const listCame = (scope: Scope, asked: Asked): Promise<Came[]> => {
  const { trigger } = asked.definition;
  if (trigger.kind === 'event') return listEvents(scope, trigger, asked);
  return trigger.kind === 'manual'
    ? Promise.resolve([])
    : listEntries(scope, trigger.segment_id, asked);
};
