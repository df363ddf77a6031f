import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { KnownIdentity } from '../base/whole_person.ts';

const Batch = z.strictObject({
  events: z.int(),
  /** The last identifier that had events, counted from 1, and the moment of its last one. */
  last_ordinal: z.int().nullable(),
  last_at: z.date().nullable(),
});
export type Batch = z.output<typeof Batch>;

const ErasedEvents = Batch.extend({
  message_ids: z.int(),
  emails: z.array(z.string()).nullable(),
});

type Place = { identities: readonly KnownIdentity[]; since: Date };

/** Removes events of identities, of the first one from a moment on; `eventsMax` at most. */
export const eraseEventsFrom = (
  { tx, projectId }: Scope,
  { identities, since }: Place,
  eventsMax: number,
) =>
  tx.one(sql.type(ErasedEvents)`
    select events, message_ids, emails, last_ordinal, last_at
    from ingest.erase_events(
      project_id => ${projectId},
      kinds => ${sql.array(
        identities.map(({ kind }) => kind),
        'text',
      )},
      identifiers => ${sql.array(
        identities.map(({ value }) => value),
        'text',
      )},
      since => ${sql.timestamp(since)},
      events_max => ${eventsMax}
    )
  `);

/** Takes anonymous identities out of events of others, as `eraseEventsFrom` does. */
export const eraseMentionsFrom = (
  { tx, projectId }: Scope,
  { identities, since }: Place,
  eventsMax: number,
) =>
  tx.one(sql.type(Batch)`
    select events, last_ordinal, last_at
    from ingest.erase_mentions(
      project_id => ${projectId},
      anonymous_ids => ${sql.array(
        identities.map(({ value }) => value),
        'text',
      )},
      since => ${sql.timestamp(since)},
      events_max => ${eventsMax}
    )
  `);

const MessageId = z.strictObject({ message_id: z.string() });

/**
 * Removes message ids that an identify claimed for identities; answers how many, `idsMax` at most. Limited
 * inside, so that the planner can only look things up, never read everybody's to compare.
 */
export const deleteMessageIds = async (
  { tx, projectId }: Scope,
  identityIds: string[],
  idsMax: number,
): Promise<number> => {
  const rows = await tx.any(sql.type(MessageId)`
    select claimed.message_id from unnest(${sql.array(identityIds, 'uuid')}) as known (identity_id)
    cross join lateral (
      select message_id from ingest.message_ids
      where project_id = ${projectId} and identity_id = known.identity_id
      limit ${idsMax}
    ) as claimed
    limit ${idsMax}
  `);
  const ids = rows.map(({ message_id }) => message_id);
  if (ids.length === 0) return 0;
  await tx.query(sql.unsafe`
    delete from ingest.message_ids
    where project_id = ${projectId} and message_id = any (${sql.array(ids, 'text')})
  `);
  return ids.length;
};

/** Says whom a message id was claimed for that belongs to no event. */
export const setMessageIdentity = (
  { tx, projectId }: Scope,
  messageId: string,
  identityId: string,
) =>
  tx.query(sql.unsafe`
    update ingest.message_ids set identity_id = ${identityId}
    where project_id = ${projectId} and message_id = ${messageId}
  `);

const PendingFlush = z.strictObject({ flush_id: z.uuid() });

/** Flushes that are still to be processed, in the order of their ids. */
export const listPending = async (
  { tx, projectId }: Scope,
  after: string | null,
  limit: number,
): Promise<string[]> => {
  const later = after === null ? sql.fragment`` : sql.fragment`and flush_id > ${after}`;
  const rows = await tx.any(sql.type(PendingFlush)`
    select flush_id from ingest.pending
    where project_id = ${projectId} ${later}
    order by flush_id
    limit ${limit}
  `);
  return rows.map(({ flush_id }) => flush_id);
};

const EventMessage = z.strictObject({ event_id: z.uuid(), message_id: z.string() });

/** The message ids of events; the range of their times says in which months they are. */
export const listMessageIds = (
  { tx, projectId }: Scope,
  eventIds: string[],
  between: readonly [Date, Date],
) =>
  tx.any(sql.type(EventMessage)`
    select event_id, message_id from ingest.events
    where project_id = ${projectId} and event_id = any (${sql.array(eventIds, 'uuid')})
    and occurred_at between ${sql.timestamp(between[0])} and ${sql.timestamp(between[1])}
    and message_id is not null
  `);

const Claimed = z.strictObject({ message_id: z.string(), occurred_at: z.date() });
export type Claimed = z.output<typeof Claimed>;

/** Message ids that an identify claimed for an identity, page by page. */
export const listClaimedMessages = (
  { tx, projectId }: Scope,
  identityId: string,
  { after, limit }: { after: string | null; limit: number },
) => {
  const later = after === null ? sql.fragment`` : sql.fragment`and message_id > ${after}`;
  return tx.any(sql.type(Claimed)`
    select message_id, occurred_at from ingest.message_ids
    where project_id = ${projectId} and identity_id = ${identityId} ${later}
    order by message_id
    limit ${limit}
  `);
};
