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
    select events, emails, last_ordinal, last_at
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

const Mentions = z.strictObject({
  events: z.int(),
  mentions: z.int(),
  last_at: z.date().nullable(),
});

/** Takes devices out of somebody's events after a moment; answers how many it looked at and changed. */
export const eraseMentionsAfter = (
  { tx, projectId }: Scope,
  { externalId, devices }: { externalId: string; devices: string[] },
  after: Date,
  eventsMax: number,
) =>
  tx.one(sql.type(Mentions)`
    select events, mentions, last_at
    from ingest.erase_mentions(
      project_id => ${projectId},
      external_id => ${externalId},
      anonymous_ids => ${sql.array(devices, 'text')},
      after => ${sql.timestamp(after)},
      events_max => ${eventsMax}
    )
  `);

const Companion = z.strictObject({ external_id: z.string() });

/** Known people who were seen with one of some devices; somebody may come up once for each. */
export const listCompanions = async (
  { tx, projectId }: Scope,
  devices: string[],
  limit: number,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Companion)`
    select seen.external_id
    from unnest(${sql.array(devices, 'text')}) as device (anonymous_id)
    cross join lateral (
      select known.external_id from ingest.devices as known
      where known.project_id = ${projectId} and known.anonymous_id = device.anonymous_id
      order by known.external_id
      limit ${limit}
    ) as seen
    limit ${limit}
  `);
  return [...new Set(rows.map(({ external_id }) => external_id))];
};

const Device = z.strictObject({ anonymous_id: z.string() });

/** Devices that somebody was seen with. */
export const listDevices = async (
  { tx, projectId }: Scope,
  externalId: string,
  limit: number,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Device)`
    select anonymous_id from ingest.devices
    where project_id = ${projectId} and external_id = ${externalId}
    order by anonymous_id
    limit ${limit}
  `);
  return rows.map(({ anonymous_id }) => anonymous_id);
};

/** Forgets that somebody was seen with devices; answers with how many of them they were. */
export const deletePairs = async (
  { tx, projectId }: Scope,
  { externalId, devices }: { externalId: string; devices: string[] },
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from ingest.devices
    where project_id = ${projectId} and external_id = ${externalId}
    and anonymous_id = any (${sql.array(devices, 'text')})
  `);
  return rowCount;
};

const Held = z.strictObject({ flush_ids: z.array(z.uuid()).nullable() });

/** Waits until nobody works on the next flushes, and keeps it so; answers their ids. */
export const holdFlushes = async (
  { tx, projectId }: Scope,
  after: string | null,
  flushesMax: number,
): Promise<string[]> => {
  const { flush_ids } = await tx.one(sql.type(Held)`
    select ingest.hold_flushes(project_id => ${projectId}, after => ${after}, flushes_max => ${flushesMax}) as flush_ids
  `);
  return flush_ids ?? [];
};

const Forgotten = z.strictObject({ events: z.int() });

/** Takes devices out of the events of known people in some flushes; answers how many events it was. */
export const forgetDevices = async (
  { tx, projectId }: Scope,
  flushIds: string[],
  devices: string[],
): Promise<number> => {
  const { events } = await tx.one(sql.type(Forgotten)`
    select ingest.forget_devices(
      project_id => ${projectId},
      flush_ids => ${sql.array(flushIds, 'uuid')},
      anonymous_ids => ${sql.array(devices, 'text')},
      but_of => null
    ) as events
  `);
  return events;
};

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
