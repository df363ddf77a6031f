import type pg from 'pg';

/** A rule that the system tables must obey: a query that lists what breaks it, and proof that it can. */
export type Rule = {
  name: string;
  /** Answers one text column: who breaks the rule, and how. */
  query: string;
  /** What would break the rule, and a part of what is then said. */
  examples: Example[];
};
export type Example = { wrong: string; says: string; roles?: Partial<Roles> };
export type Roles = { runtime: string; queue: string };

/** Small look-up tables, copied to every node: the named exception to what binds tenant tables. */
export const REFERENCE_SCHEMAS = ['projects'];
/** Local to the main node: nothing of tenants. */
export const LOCAL_SCHEMAS = ['base', 'queue', 'admin', 'migrations', 'public'];
/** Made by libraries, which answer for them. */
const FOREIGN_SCHEMAS = ['information_schema', 'graphile_worker', 'graphile_migrate'];

const list = (names: string[]): string => names.map((name) => `'${name}'`).join(', ');

/** Subqueries that the rules are written with. */
const GIVEN = `with
  room as (
    select oid, nspname as name, case
      when nspname in (${list(REFERENCE_SCHEMAS)}) then 'reference'
      when nspname in (${list(LOCAL_SCHEMAS)}) then 'local'
      when nspname ~ '^pg_' or nspname in (${list(FOREIGN_SCHEMAS)}) then 'foreign'
      else 'tenant'
    end as kind
    from pg_namespace
  ),
  every_table as (
    select c.*, c.oid::regclass::text as name, room.kind, (
      select attnum from pg_attribute where attrelid = c.oid and attname = 'project_id' and not attisdropped
    ) as project_column
    from pg_class as c join room on room.oid = c.relnamespace
    where c.relkind in ('r', 'p')
  ),
  tenant_table as (select * from every_table where kind = 'tenant' and not relispartition),
  routine as (
    select p.*, p.oid::regproc::text as name, room.kind, room.name as room, lanname as language
    from pg_proc as p
    join room on room.oid = p.pronamespace and room.kind <> 'foreign'
    join pg_language as l on l.oid = p.prolang
  )
`;

const ROLES: Roles = { runtime: 'trunkline_runtime', queue: 'trunkline_queue' };

/** What breaks a rule in a database, in the rule's own words. */
export const listViolations = async (
  client: pg.Client,
  { query }: Rule,
  roles: Partial<Roles> = {},
): Promise<string[]> => {
  const { runtime, queue } = { ...ROLES, ...roles };
  const text =
    GIVEN + query.replaceAll(':runtime', `'${runtime}'`).replaceAll(':queue', `'${queue}'`);
  const { rows } = await client.query<{ violation: string }>(
    `select violation from (${text}) as found (violation)`,
  );
  return rows.map(({ violation }) => violation);
};

/** What a rule says once something wrong was made; nothing of it stays. */
export const listViolationsOf = async (
  client: pg.Client,
  rule: Rule,
  { wrong, roles }: Example,
): Promise<string[]> => {
  await client.query('begin');
  try {
    await client.query(wrong);
    return await listViolations(client, rule, roles);
  } finally {
    await client.query('rollback');
  }
};

/** The qualified names of all tables of a kind, partitions included. */
export const listTables = async (
  client: pg.Client,
  kind: 'tenant' | 'reference' | 'local',
): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `${GIVEN} select name from every_table where kind = $1 order by name`,
    [kind],
  );
  return rows.map(({ name }) => name);
};

/** The same without the partitions: what the service names. */
export const listTenantTables = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `${GIVEN} select name from tenant_table order by name`,
  );
  return rows.map(({ name }) => name);
};
