import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { Event, isNamed } from '../ingest/ingest.ts';

/** The newest events of a name since a moment, oldest first. */
export const listPast = async (
  { tx, projectId }: Scope,
  { name, from, to, limit }: { name: string; from: Date; to: Date; limit: number },
): Promise<Event[]> => {
  const rows = await tx.any(sql.type(Event)`
    select event_id, name, external_id, anonymous_id, properties, occurred_at, received_at, source
    from ingest.events as event
    where project_id = ${projectId} and ${isNamed(name)}
    and occurred_at >= ${sql.timestamp(from)} and occurred_at <= ${sql.timestamp(to)}
    order by occurred_at desc, event_id desc
    limit ${limit}
  `);
  return rows.toReversed();
};
