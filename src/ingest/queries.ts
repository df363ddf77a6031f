import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Scope } from '../base/db.ts';
import type { EventRow } from './events.ts';

const Accepted = z.strictObject({
  stored_ids: z.array(z.uuid()),
  duplicates: z.array(z.boolean()),
});
const FlushId = z.strictObject({ claim_flushes: z.uuid() });
const Identifier = z.strictObject({
  kind: z.enum(['external', 'anonymous']),
  value: z.string(),
  first_seen_at: z.date(),
  last_seen_at: z.date(),
});
const Event = z.strictObject({
  event_id: z.uuid(),
  name: z.string(),
  external_id: z.string().nullable(),
  anonymous_id: z.string().nullable(),
  properties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  occurred_at: z.date(),
  received_at: z.date(),
  source: z.enum(['browser', 'server', 'system']),
});
export type Event = z.output<typeof Event>;

/** Stores a flush and the note of the work it needs, both or neither. One statement, one commit. */
export const acceptEvents = (db: Db, projectId: string, flushId: string, events: EventRow[]) => {
  const column = (read: (event: EventRow) => string | null, type: string) =>
    sql.array(events.map(read), type);
  return db.one(sql.type(Accepted)`
    select stored_ids, duplicates
    from ingest.accept_events(
      project_id => ${projectId},
      flush_id => ${flushId},
      event_ids => ${column((event) => event.event_id, 'uuid')},
      message_ids => ${column((event) => event.message_id, 'text')},
      names => ${column((event) => event.name, 'text')},
      external_ids => ${column((event) => event.external_id, 'text')},
      anonymous_ids => ${column((event) => event.anonymous_id, 'text')},
      properties => ${column((event) => event.properties, 'jsonb')},
      occurred_ats => ${column((event) => event.occurred_at, 'timestamptz')},
      key_kinds => ${column((event) => event.key_kind, 'text')},
      sources => ${column((event) => event.source, 'text')}
    )
  `);
};

export const claimFlushes = async (
  { tx, projectId }: Scope,
  flushesMax: number,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(FlushId)`
    select claim_flushes from ingest.claim_flushes(project_id => ${projectId}, flushes_max => ${flushesMax})
  `);
  return rows.map((row) => row.claim_flushes);
};

/** Everybody the events name, once each, in the order that identities are locked in. */
export const listIdentifiers = ({ tx, projectId }: Scope, flushIds: string[]) =>
  tx.any(sql.type(Identifier)`
    select seen.kind, seen.value, min(event.occurred_at) as first_seen_at, max(event.occurred_at) as last_seen_at
    from ingest.pending_events(project_id => ${projectId}, flush_ids => ${sql.array(flushIds, 'uuid')}) as event
    cross join lateral (
      values ('external', event.external_id), ('anonymous', event.anonymous_id)
    ) as seen (kind, value)
    where seen.value is not null
    group by seen.kind, seen.value
    order by seen.kind, seen.value
  `);

export const deleteFlushes = ({ tx, projectId }: Scope, flushIds: string[]) =>
  tx.query(sql.unsafe`
    delete from ingest.pending
    where project_id = ${projectId} and flush_id = any (${sql.array(flushIds, 'uuid')})
  `);

export const findEvent = ({ tx, projectId }: Scope, eventId: string, occurredAt: Date) =>
  tx.maybeOne(sql.type(Event)`
    select event_id, name, external_id, anonymous_id, properties, occurred_at, received_at, source
    from ingest.events
    where project_id = ${projectId}
    and event_id = ${eventId}
    and occurred_at = ${sql.timestamp(occurredAt)}
  `);
