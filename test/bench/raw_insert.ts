import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 } from 'uuid';
import { nextEvent } from './some_events.ts';

/** What anybody would write who wants events in a table, and no more: no ids remembered, no work noted. */
const INSERT = {
  name: 'raw-insert',
  text: `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
      properties, source, key_kind)
    select $1, item.event_id, item.occurred_at, now(), item.name, item.external_id, item.anonymous_id, item.properties,
      'server', 'server'
    from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::jsonb[])
      as item (event_id, occurred_at, name, external_id, anonymous_id, properties)`,
};

export type RawInsert = {
  /** Inserts and commits so many events. */
  insert: (count: number) => Promise<void>;
  close: () => Promise<void>;
};

/** One connection of the owner's, whom row-level security lets pass, into the very same table. */
export const openRawInsert = async (url: string): Promise<RawInsert> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const projectId = randomUUID();
  return {
    insert: async (count) => {
      const events = Array.from({ length: count }, nextEvent);
      await client.query({
        ...INSERT,
        values: [
          projectId,
          events.map(() => v7()),
          events.map((event) => event.occurred_at),
          events.map((event) => event.event),
          events.map((event) => event.external_id),
          events.map((event) => event.anonymous_id),
          events.map((event) => event.properties),
        ],
      });
    },
    close: () => client.end(),
  };
};

/** Events a second that one connection stores, so many a commit. */
export const insertFor = async (
  { insert }: RawInsert,
  eventsPerCommit: number,
  forMs: number,
): Promise<number> => {
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < forMs; count += eventsPerCommit)
    await insert(eventsPerCommit);
  return (count / (performance.now() - startedAt)) * 1_000;
};
