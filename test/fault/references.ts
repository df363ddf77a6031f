import type pg from 'pg';

/** A column that names a row of another table, by that table's key; both tables are of tenants. */
export type Reference = { table: string; column: string; other: string; key: string };

/**
 * What names what, by the catalogue: a column is called as the key of the table that it names, or ends so. That
 * table is known by its key, which is of the project and of one id that is nobody else's.
 */
const REFERENCES = `
  with tenant as (
    select named.oid, format('%I.%I', space.nspname, named.relname) as name
    from pg_class as named join pg_namespace as space on space.oid = named.relnamespace
    where named.relkind in ('r', 'p') and not named.relispartition and exists (
      select from pg_attribute as owner where owner.attrelid = named.oid and owner.attname = 'project_id'
    )
  ), id as (
    select known.attrelid as oid, known.attnum, known.attname as name
    from pg_attribute as known
    where known.atttypid = 'uuid'::regtype and known.attname ~ '_id$' and known.attname <> 'project_id'
  ), home as (
    select tenant.oid, tenant.name, min(id.name) as key
    from tenant join pg_constraint as made on made.conrelid = tenant.oid and made.contype = 'p'
    join pg_attribute as part on part.attrelid = tenant.oid and part.attnum = any (made.conkey)
      and part.attname not in ('project_id', 'occurred_at')
    left join id on id.oid = tenant.oid and id.attnum = part.attnum
    group by tenant.oid, tenant.name
    having count(*) = 1 and count(id.name) = 1 and not bool_or(exists (
      select from pg_constraint as foreign_key where foreign_key.conrelid = tenant.oid
      and foreign_key.contype = 'f' and foreign_key.conkey @> array[part.attnum]
    ))
  )
  select tenant.name as table, id.name as column, home.name as other, home.key
  from tenant join id on id.oid = tenant.oid
  join home on id.name = home.key or right(id.name, length(home.key) + 1) = '_' || home.key
  where home.oid <> tenant.oid or id.name <> home.key
  order by 1, 2, 3`;

export const listReferences = async (client: pg.Client): Promise<Reference[]> =>
  (await client.query<Reference>(REFERENCES)).rows;
