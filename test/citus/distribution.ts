import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { matches } from '../support/tidy/tree.ts';

const FILE = join(import.meta.dirname, '..', '..', 'db', 'citus', 'distribute.sql');

export const DISTRIBUTE = readFileSync(FILE, 'utf8');

/** What the file makes of each table, in its order. */
export const distribution = {
  tenant: matches(DISTRIBUTE, /create_distributed_table\('([\w.]+)', 'project_id'/g),
  reference: matches(DISTRIBUTE, /create_reference_table\('([\w.]+)'\)/g),
  local: matches(DISTRIBUTE, /^--\s{3}((?:[a-z_]+\.[a-z_]+ ?)+)$/gm).flatMap((line) =>
    line.split(' '),
  ),
};

/** Runs it on a migrated database, as an operator does. */
export const distribute = async (owner: pg.Client): Promise<void> => {
  await owner.query(DISTRIBUTE);
};
