import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { KnownIdentity } from '../base/whole_person.ts';

const ErasedEvents = z.strictObject({
  events: z.int(),
  message_ids: z.int(),
  emails: z.array(z.string()).nullable(),
  last_at: z.date().nullable(),
});

export const eraseEventsSince = (
  { tx, projectId }: Scope,
  { kind, value }: KnownIdentity,
  since: Date,
  eventsMax: number,
) =>
  tx.one(sql.type(ErasedEvents)`
    select events, message_ids, emails, last_at
    from ingest.erase_events(
      project_id => ${projectId},
      kind => ${kind},
      identifier => ${value},
      since => ${sql.timestamp(since)},
      events_max => ${eventsMax}
    )
  `);

const Mentions = z.strictObject({ mentions: z.int() });

export const eraseMentions = async (
  { tx, projectId }: Scope,
  anonymousId: string,
  eventsMax: number,
): Promise<number> => {
  const { mentions } = await tx.one(sql.type(Mentions)`
    select ingest.erase_mentions(
      project_id => ${projectId}, anonymous_id => ${anonymousId}, events_max => ${eventsMax}
    ) as mentions
  `);
  return mentions;
};

const MessageId = z.strictObject({ message_id: z.string() });

/** Removes message ids that an identify claimed for an identity; answers how many, `idsMax` at most. */
export const deleteMessageIds = async (
  { tx, projectId }: Scope,
  identityId: string,
  idsMax: number,
): Promise<number> => {
  const rows = await tx.any(sql.type(MessageId)`
    select message_id from ingest.message_ids
    where project_id = ${projectId} and identity_id = ${identityId}
    limit ${idsMax}
  `);
  const ids = rows.map(({ message_id }) => message_id);
  await tx.query(sql.unsafe`
    delete from ingest.message_ids
    where project_id = ${projectId} and message_id = any (${sql.array(ids, 'text')})
    and identity_id = ${identityId}
  `);
  return ids.length;
};

const Left = z.strictObject({ identity_id: z.uuid() });

/**
 * Those of some identities of which there is anything: one look per identity and place. Limited inside,
 * so that the planner can only look things up, never read everybody's events to compare.
 */
export const listWithEvents = ({ tx, projectId }: Scope, identities: readonly KnownIdentity[]) => {
  const column = (read: (identity: KnownIdentity) => string, type: string) =>
    sql.array(identities.map(read), type);
  return tx.any(sql.type(Left)`
    select known.identity_id
    from unnest(
      ${column(({ identity_id }) => identity_id, 'uuid')}, ${column(({ kind }) => kind, 'text')},
      ${column(({ value }) => value, 'text')}
    ) as known (identity_id, kind, value)
    cross join lateral (
      (select from ingest.events
      where project_id = ${projectId} and known.kind = 'external' and external_id = known.value limit 1)
      union all
      (select from ingest.events
      where project_id = ${projectId} and known.kind = 'anonymous' and external_id is null
      and anonymous_id = known.value limit 1)
      union all
      (select from ingest.events
      where project_id = ${projectId} and known.kind = 'anonymous' and external_id is not null
      and anonymous_id = known.value limit 1)
      union all
      (select from ingest.message_ids where project_id = ${projectId} and identity_id = known.identity_id limit 1)
      limit 1
    ) as found
  `);
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
