import { z } from 'zod';
import { countBuckets } from '../base/buckets.ts';
import { sql } from '../base/db.ts';
import type { Db, Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';
import type { EventRow } from './events.ts';

const Accepted = z.strictObject({
  stored_ids: z.array(z.uuid()),
  duplicates: z.array(z.boolean()),
});
/** An event as it is kept. */
export const Event = z.strictObject({
  event_id: z.uuid(),
  name: z.string(),
  external_id: z.string().nullable(),
  anonymous_id: z.string().nullable(),
  properties: jsonObject<string | number | boolean>(),
  occurred_at: z.date(),
  received_at: z.date(),
  source: z.enum(['browser', 'server', 'system']),
});
export type Event = z.output<typeof Event>;

/** The traces of events, by their ids; null where none has one. */
const tracesOf = (events: readonly EventRow[]): string | null => {
  const traced = events.filter(({ traceparent }) => traceparent !== null);
  if (traced.length === 0) return null;
  return JSON.stringify(
    Object.fromEntries(traced.map(({ event_id, traceparent }) => [event_id, traceparent])),
  );
};

/** Returns the publishable key of each event; null where no event has one. */
const keyIdsOf = (events: readonly EventRow[]) =>
  events.some(({ key_id }) => key_id)
    ? sql.array(
        events.map(({ key_id }) => key_id ?? null),
        'uuid',
      )
    : null;

/** Stores a flush and the note of the work it needs, both or neither. One statement, one commit. */
export const acceptEvents = (
  db: Pick<Db, 'one'>,
  projectId: string,
  flushId: string,
  events: readonly EventRow[],
) => {
  const column = (read: (event: EventRow) => string | null, type: string) =>
    sql.array(events.map(read), type);
  return db.one(sql.type(Accepted)`
    select stored_ids, duplicates
    from ingest.accept_events(
      project_id => ${projectId},
      flush_id => ${flushId},
      event_ids => ${column((event) => event.event_id, 'uuid')},
      message_keys => ${column((event) => event.message_key, 'uuid')},
      names => ${column((event) => event.name, 'text')},
      external_ids => ${column((event) => event.external_id, 'text')},
      anonymous_ids => ${column((event) => event.anonymous_id, 'text')},
      properties => ${column((event) => event.properties, 'jsonb')},
      occurred_ats => ${column((event) => event.occurred_at, 'timestamptz')},
      key_kinds => ${column((event) => event.key_kind, 'text')},
      sources => ${column((event) => event.source, 'text')},
      traces => ${tracesOf(events)}::jsonb,
      key_ids => ${keyIdsOf(events)}::uuid[]
    )
  `);
};

const StoredEvent = z.strictObject({ event_id: z.uuid() });
const TakenMessage = z.strictObject({ message_key: z.uuid(), event_id: z.uuid() });

/** Which of these events are there, whatever month they are in. */
export const listStoredEvents = ({ tx, projectId }: Scope, eventIds: string[]) =>
  tx.any(sql.type(StoredEvent)`
    select event_id from ingest.events
    where project_id = ${projectId} and event_id = any (${sql.array(eventIds, 'uuid')})
  `);

/** Which of these message ids are taken, and by which event. */
export const listTakenMessages = ({ tx, projectId }: Scope, messageKeys: string[]) =>
  tx.any(sql.type(TakenMessage)`
    select message_key, event_id from ingest.message_ids
    where project_id = ${projectId} and message_key = any (${sql.array(messageKeys, 'uuid')})
  `);

const Conflict = z.strictObject({
  event_id: z.uuid(),
  occurred_at: z.date(),
  conflicts: z.int(),
  conflicted_at: z.date(),
});

/**
 * The events whose message ids came again with another event, the last to do so first; each with how
 * many times another was dropped.
 */
export const listConflicts = (
  { tx, projectId }: Scope,
  { limit, before }: { limit: number; before: { conflictedAt: Date; eventId: string } | null },
) => {
  const earlier = before
    ? sql.fragment`and (conflicted_at < ${sql.timestamp(before.conflictedAt)} or
        (conflicted_at = ${sql.timestamp(before.conflictedAt)} and event_id > ${before.eventId}))`
    : sql.fragment``;
  return tx.any(sql.type(Conflict)`
    select event_id, occurred_at, conflicts, conflicted_at from ingest.message_ids
    where project_id = ${projectId} and conflicted_at is not null ${earlier}
    order by conflicted_at desc, event_id
    limit ${limit}
  `);
};

/** An event as people see it on a timeline. */
export const Entry = Event.omit({ name: true }).extend({ event: z.string() });
export type Entry = z.output<typeof Entry>;

/**
 * The newest events in the order of their ids, which is that of their arrival as far as the clocks
 * of the api processes agree. One step down the primary key of each month's partition, whatever
 * the events say of when they occurred, and then one step per event.
 */
export const listNewest = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier = beforeId ? sql.fragment`and event_id < ${beforeId}` : sql.fragment``;
  return tx.any(sql.type(Entry)`
    select event_id, name as event, external_id, anonymous_id, properties, occurred_at, received_at, source
    from ingest.events
    where project_id = ${projectId} ${earlier}
    order by event_id desc
    limit ${limit}
  `);
};

const Bucket = z.strictObject({ bucket: z.int(), events: z.int() });

/** How many of the newest events, at most `eventsMax`, fall between one id and the next; the last is open. */
export const countBetween = (
  { tx, projectId }: Scope,
  ids: readonly string[],
  eventsMax: number,
) => {
  const rows = sql.fragment`from ingest.events
    where project_id = ${projectId} and event_id >= asked.first_id and event_id < asked.next_id`;
  return tx.any(sql.type(Bucket)`
    with recursive ${countBuckets(ids, eventsMax, rows)}
    select bucket, held as events from counted where held > 0
  `);
};

const Counted = z.strictObject({ count: z.int() });

/** How many events an anonymous id has that name nobody else, up to `eventsMax`: by its index, month by month. */
export const countAnonymous = async (
  { tx, projectId }: Scope,
  anonymousId: string,
  eventsMax: number,
): Promise<number> => {
  const { count } = await tx.one(sql.type(Counted)`
    select count(*) as count from (
      select from ingest.events
      where project_id = ${projectId} and external_id is null and anonymous_id = ${anonymousId}
      limit ${eventsMax}
    ) as counted
  `);
  return count;
};

export type EventKey = { eventId: string; occurredAt: Date };

/** Events by id. The range of their times says in which partitions they are. */
export const listEvents = async ({ tx, projectId }: Scope, keys: EventKey[]) => {
  if (keys.length === 0) return [];
  const times = keys.map(({ occurredAt }) => occurredAt.getTime());
  const at = (time: number) => sql.timestamp(new Date(time));
  return tx.any(sql.type(Event)`
    select event_id, name, external_id, anonymous_id, properties, occurred_at, received_at, source
    from ingest.events
    where project_id = ${projectId}
    and event_id = any (${sql.array(
      keys.map(({ eventId }) => eventId),
      'uuid',
    )})
    and occurred_at between ${at(Math.min(...times))} and ${at(Math.max(...times))}
    order by occurred_at, event_id
  `);
};

const MessageRow = z.strictObject({ message_key: z.uuid() });

/** Keeps a message id; null when it is known already. */
export const insertMessageId = (
  { tx, projectId }: Scope,
  messageKey: string,
  eventId: string,
  occurredAt: Date,
) =>
  tx.maybeOne(sql.type(MessageRow)`
    insert into ingest.message_ids (project_id, message_key, event_id, occurred_at)
    values (${projectId}, ${messageKey}, ${eventId}, ${sql.timestamp(occurredAt)})
    on conflict do nothing
    returning message_key
  `);
