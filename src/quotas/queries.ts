import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { NEW_PROFILES_PER_DAY, STORED_BYTES_PER_DAY } from './schema.ts';
import type { Quotas } from './schema.ts';

const UseRow = z.strictObject({
  key_id: z.uuid(),
  new_profiles: z.int(),
  stored_bytes: z.int(),
  new_profiles_per_day: z.int().nullable(),
  stored_bytes_per_day: z.int().nullable(),
  seconds_left: z.number(),
});
/** Today's use of a key, and the quotas of its project. */
export type UseRow = z.output<typeof UseRow>;

/** Reads today's use of some keys: one row for each, also for a key that stored nothing. */
export const readUse = ({ tx, projectId }: Scope, keyIds: readonly string[]) =>
  tx.any(sql.type(UseRow)`
    select key_id, new_profiles, stored_bytes, new_profiles_per_day, stored_bytes_per_day, seconds_left
    from quotas.read_use(
      project_id => ${projectId},
      key_ids => ${sql.array([...keyIds], 'uuid')},
      new_profiles_default => ${NEW_PROFILES_PER_DAY},
      stored_bytes_default => ${STORED_BYTES_PER_DAY}
    )
  `);

/** What to add to the use of a key. */
export type Use = { keyId: string; newProfiles: number; storedBytes: number };

/** Adds to today's use of keys, under one counter. */
export const countUse = (
  { tx, projectId }: Scope,
  countedBy: 'accept' | 'identify' | 'process',
  used: readonly Use[],
) =>
  tx.query(sql.unsafe`
    select quotas.count_use(
      project_id => ${projectId},
      counted_by => ${countedBy},
      key_ids => ${sql.array(
        used.map(({ keyId }) => keyId),
        'uuid',
      )},
      new_profiles => ${sql.array(
        used.map(({ newProfiles }) => newProfiles),
        'int4',
      )},
      stored_bytes => ${sql.array(
        used.map(({ storedBytes }) => storedBytes),
        'int8',
      )}
    )
  `);

const BroughtRow = z.strictObject({ key_id: z.uuid(), brought: z.int() });

/** Counts which of some identifiers the browser events of some flushes name, by publishable key. */
export const listBrought = (
  { tx, projectId }: Scope,
  flushIds: readonly string[],
  identifiers: readonly { kind: string; value: string }[],
) =>
  tx.any(sql.type(BroughtRow)`
    select key_id, brought from quotas.list_brought(
      project_id => ${projectId},
      flush_ids => ${sql.array([...flushIds], 'uuid')},
      kinds => ${sql.array(
        identifiers.map(({ kind }) => kind),
        'text',
      )},
      identifiers => ${sql.array(
        identifiers.map(({ value }) => value),
        'text',
      )}
    )
  `);

const Oldest = z.strictObject({ now: z.date(), waits_since: z.date().nullable() });

/** Reads since when the oldest accepted events of a project wait for a worker, and the time of the database. */
export const readWaiting = ({ tx, projectId }: Scope) =>
  tx.one(sql.type(Oldest)`
    select clock_timestamp() as now, (
      select received_at from ingest.pending
      where project_id = ${projectId} and retry_at is null
      order by flush_id
      limit 1
    ) as waits_since
  `);

/** Sets the quotas of a project; null is no quota. */
export const setQuotas = ({ tx, projectId }: Scope, { newProfiles, storedBytes }: Quotas) =>
  tx.query(sql.unsafe`
    insert into quotas.settings (project_id, new_profiles_per_day, stored_bytes_per_day, updated_at)
    values (${projectId}, ${newProfiles}, ${storedBytes}, now())
    on conflict on constraint settings_pkey do update
    set new_profiles_per_day = excluded.new_profiles_per_day,
      stored_bytes_per_day = excluded.stored_bytes_per_day, updated_at = excluded.updated_at
  `);

const Pruned = z.strictObject({ pruned: z.int() });

/** Deletes the use of days that are older than so many days. Returns how many rows went. */
export const pruneOldUse = ({ tx, projectId }: Scope, keptDays: number) =>
  tx.one(sql.type(Pruned)`
    select prune_use as pruned
    from quotas.prune_use(project_id => ${projectId}, kept_days => ${keptDays})
  `);
