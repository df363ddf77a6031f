import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';

const Past = z.strictObject({
  event_id: z.uuid(),
  name: z.string(),
  external_id: z.string().nullable(),
  anonymous_id: z.string().nullable(),
  properties: jsonObject<string | number | boolean>(),
  occurred_at: z.date(),
  received_at: z.date(),
  source: z.enum(['browser', 'server', 'system']),
});
export type Past = z.output<typeof Past>;

/** The newest events of a name since a moment, oldest first. */
export const listPast = async (
  { tx, projectId }: Scope,
  { name, from, to, limit }: { name: string; from: Date; to: Date; limit: number },
): Promise<Past[]> => {
  const rows = await tx.any(sql.type(Past)`
    select event_id, name, external_id, anonymous_id, properties, occurred_at, received_at, source
    from ingest.events
    where project_id = ${projectId} and name = ${name}
    and occurred_at >= ${sql.timestamp(from)} and occurred_at <= ${sql.timestamp(to)}
    order by occurred_at desc, event_id desc
    limit ${limit}
  `);
  return rows.toReversed();
};
