import type { Scope } from '../base/db.ts';
import { isMeant } from './event_match.ts';
import { listEventsOf, listFirstEventsOf } from './past_queries.ts';
import type { Identifier, PastEvent } from './past_queries.ts';
import type { EventMatch } from './condition_schema.ts';
import type { Run } from './world.ts';

/** How many events one statement reads. */
const PAGE_EVENTS_MAX = 200;

/** Since when events count for a run: after its trigger event, or since somebody started it. */
export type Beginning = { at: Date; eventId: string | null };

/**
 * A trigger event whose clock is ahead counts from when the run began: it was received by then. A test takes an event
 * that may be old for its trigger, and begins when somebody began it.
 */
export const beginningOf = ({
  trigger_event_at: occurredAt,
  trigger_event_id: eventId,
  started_at: startedAt,
  is_test,
}: Pick<Run, 'trigger_event_at' | 'trigger_event_id' | 'started_at' | 'is_test'>): Beginning => ({
  at: occurredAt !== null && occurredAt < startedAt && !is_test ? occurredAt : startedAt,
  eventId,
});

/** Whether an event comes after the beginning; of the trigger's own moment are those that were made later. */
export const isAfter = (
  { occurred_at, event_id }: Pick<PastEvent, 'occurred_at' | 'event_id'>,
  { at, eventId }: Beginning,
): boolean => event_id !== eventId && (occurred_at > at || eventId === null || event_id > eventId);

/** The first event by one identifier that matches. */
const findOf = async (
  scope: Scope,
  identifier: Identifier,
  match: EventMatch,
  { since, until }: { since: Beginning; until: Date },
): Promise<PastEvent | null> => {
  const name = match.event;
  let from = since.at;
  for (;;) {
    const page = { name, from, until, limit: PAGE_EVENTS_MAX };
    const events = await listEventsOf(scope, identifier, page);
    const found = events.find((one) => isAfter(one, since) && isMeant(match, one));
    if (found) return found;
    const last = events.at(-1);
    if (!last || events.length < PAGE_EVENTS_MAX) return null;
    from = new Date(last.occurred_at.getTime() + 1);
  }
};

export const compare = (a: PastEvent, b: PastEvent): number =>
  a.occurred_at.getTime() - b.occurred_at.getTime() || (a.event_id < b.event_id ? -1 : 1);

/** How many events of an identifier one statement for many people reads. Most look for the first. */
const FIRST_EVENTS_MAX = 20;

export type FirstEventQuery = {
  identities: readonly (Identifier & { identity_id: string })[];
  match: EventMatch;
  since: Beginning;
  until: Date;
};

/** Reads the first events of all who ask for one name, by identity. */
const readFirstEvents = async (scope: Scope, queries: readonly FirstEventQuery[], name: string) => {
  const people = queries.flatMap(({ identities, since, until }) =>
    identities.map(({ identity_id: id, kind, value }) => {
      return { id, kind, value, since: since.at, until };
    }),
  );
  const rows = await listFirstEventsOf(scope, people, { name, limit: FIRST_EVENTS_MAX });
  return Map.groupBy(rows, ({ identity_id }) => identity_id);
};

/**
 * Finds the first event of each person that matches, after a beginning and not after a moment. No two of the queries
 * are about the same person.
 */
export const findFirstEvents = async (
  scope: Scope,
  queries: readonly FirstEventQuery[],
): Promise<(PastEvent | null)[]> => {
  const read = new Map<string, readonly PastEvent[]>();
  for (const [name, same] of Map.groupBy(queries, ({ match }) => match.event))
    for (const [id, events] of await readFirstEvents(scope, same, name)) read.set(id, events);
  const firsts: (PastEvent | null)[] = [];
  for (const { identities, match, since, until } of queries) {
    const found: PastEvent[] = [];
    for (const identity of identities) {
      const events = (read.get(identity.identity_id) ?? []).toSorted(compare);
      const first = events.find((one) => isAfter(one, since) && isMeant(match, one));
      const isAll = first !== undefined || events.length < FIRST_EVENTS_MAX;
      const later = isAll ? null : await findOf(scope, identity, match, { since, until });
      found.push(...[first, later].filter((one) => one !== undefined && one !== null));
    }
    firsts.push(found.toSorted(compare)[0] ?? null);
  }
  return firsts;
};
