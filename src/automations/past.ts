import type { Scope } from '../base/db.ts';
import { isMeant } from './comparison.ts';
import { listEventsOf } from './past_queries.ts';
import type { Identifier, PastEvent } from './past_queries.ts';
import type { EventMatch } from './step_schema.ts';
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

/** The first event of a person's that matches, after a beginning and not after a moment. */
export const findFirstEvent = async (
  scope: Scope,
  identifiers: readonly Identifier[],
  match: EventMatch,
  range: { since: Beginning; until: Date },
): Promise<PastEvent | null> => {
  const found: PastEvent[] = [];
  for (const identifier of identifiers) {
    const first = await findOf(scope, identifier, match, range);
    if (first) found.push(first);
  }
  return found.toSorted(compare)[0] ?? null;
};
