import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { sql } from './db.ts';
import type { Db } from './db.ts';

export const COMMITTED_FOLDER = join(import.meta.dirname, '..', '..', 'db', 'committed');

const Migration = z.strictObject({ filename: z.string() });

/** The newest committed migration that this code was written for. */
const newestCommitted = readdirSync(COMMITTED_FOLDER)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .at(-1);

/** Whether the database has every migration that this code needs. A newer schema is fine during a deploy. */
export const isSchemaCurrent = async (db: Db): Promise<boolean> => {
  const newest = await db.maybeOne(sql.type(Migration)`
    select filename from graphile_migrate.migrations order by filename desc limit 1
  `);
  return newest !== null && newestCommitted !== undefined && newest.filename >= newestCommitted;
};
