import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type pg from 'pg';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'db', 'analytics');

/** The documented queries by name. */
export const EXAMPLES = globSync('*.sql', { cwd: FOLDER })
  .map((file) => basename(file, '.sql'))
  .toSorted();

export const readExample = (name: string): string =>
  readFileSync(join(FOLDER, `${name}.sql`), 'utf8');

/** The rows that a documented query answers, as it stands in the file; whole numbers as numbers. */
export const runExample = async (
  analyst: pg.Client,
  name: string,
): Promise<Record<string, unknown>[]> => {
  const { rows } = await analyst.query<Record<string, unknown>>(readExample(name));
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => [
        column,
        typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value,
      ]),
    ),
  );
};
