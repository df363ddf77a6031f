import type { TestDatabase } from './database.ts';

/** Every row of a project, as text: to see that nothing of it changed. */
export const readRows = async ({ owner }: TestDatabase, projectId: string): Promise<string[]> => {
  const { rows } = await owner.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.columns
    where column_name = 'project_id' and table_schema not in ('http', 'base', 'analytics')
    and table_schema !~ '^(pg_|graphile|information)' and table_name !~ '^events_'`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: kept } = await owner.query<{ row: string }>(
      `select t::text as row from ${name} as t where project_id = $1 order by 1`,
      [projectId],
    );
    found.push(...kept.map(({ row }) => `${name} ${row}`));
  }
  return found;
};
