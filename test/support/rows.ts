import type { TestDatabase } from './database.ts';

/**
 * Asks every table that keeps something of projects for all of one; made once, as every database is a copy of one.
 * Without `quotas.key_days`, which an api writes every few seconds about requests of before.
 */
let asking: Promise<string> | undefined;

const makeQuery = async ({ owner }: TestDatabase): Promise<string> => {
  const { rows } = await owner.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.columns
    where column_name = 'project_id' and table_schema not in ('http', 'base', 'analytics')
    and table_schema !~ '^(pg_|graphile|information)' and table_name !~ '^(events_|key_days$)'`,
  );
  if (rows.length === 0) throw new Error('no table keeps anything of projects');
  return rows
    .map(
      ({ name }) => `select '${name} ' || t::text as row from ${name} as t where project_id = $1`,
    )
    .join(' union all ');
};

/** Every row of a project, as text: to see that nothing of it changed. */
export const readRows = async (database: TestDatabase, projectId: string): Promise<string[]> => {
  asking ??= makeQuery(database);
  const { rows } = await database.owner.query<{ row: string }>({
    name: 'rows_of_project',
    text: `${await asking} order by 1`,
    values: [projectId],
  });
  return rows.map(({ row }) => row);
};
