import type { Rule } from './catalogue.ts';

/** What tenant data must be free of. */
export const purityRules: Rule[] = [
  {
    name: '8: no triggers, rules or materialised views on tenant data, and nobody notifies',
    query: `
      select format('%s has the trigger %s', t.name, tg.tgname)
      from every_table as t join pg_trigger as tg on tg.tgrelid = t.oid
      where t.kind = 'tenant' and not tg.tgisinternal
      union all
      select format('%s has the rule %s', t.name, r.rulename)
      from every_table as t join pg_rewrite as r on r.ev_class = t.oid where t.kind = 'tenant'
      union all
      select c.oid::regclass || ' is a materialised view'
      from pg_class as c join room on room.oid = c.relnamespace and room.kind <> 'foreign' where c.relkind = 'm'
      union all
      select name || ' notifies' from routine where kind = 'tenant' and prosrc ~* '\\m(pg_)?notify\\M\\s*[(a-z]'`,
    examples: [
      {
        wrong: `create function ingest.wrong() returns trigger language plpgsql as 'begin return new; end';
          create trigger wrong before insert on ingest.pending for each row execute function ingest.wrong()`,
        says: 'ingest.pending has the trigger wrong',
      },
      {
        wrong: 'create rule wrong as on delete to ingest.pending do instead nothing',
        says: 'ingest.pending has the rule wrong',
      },
      {
        wrong: 'create materialized view ingest.wrong as select name from ingest.events',
        says: 'ingest.wrong is a materialised view',
      },
      {
        wrong: `create function ingest.wrong() returns void language sql as $$ select pg_notify('a', 'b') $$`,
        says: 'ingest.wrong notifies',
      },
    ],
  },
  {
    name: '9: ids are made by the application: no sequences, no identities, no defaults for uuids',
    query: `
      select c.oid::regclass || ' is a sequence'
      from pg_class as c join room on room.oid = c.relnamespace and room.kind = 'tenant' where c.relkind = 'S'
      union all
      select format('%s.%I has a default', t.name, a.attname)
      from tenant_table as t join pg_attribute as a on a.attrelid = t.oid
      where a.atttypid = 'uuid'::regtype and a.atthasdef`,
    examples: [
      {
        wrong: 'create table ingest.wrong (project_id uuid, id bigserial)',
        says: 'ingest.wrong_id_seq is a sequence',
      },
      {
        wrong:
          'create table ingest.wrong (project_id uuid, id integer generated always as identity)',
        says: 'ingest.wrong_id_seq is a sequence',
      },
      {
        wrong: 'create table ingest.wrong (project_id uuid, id uuid default gen_random_uuid())',
        says: 'ingest.wrong.id has a default',
      },
    ],
  },
  {
    name: '11: collations are deterministic, and nothing has a tablespace of its own',
    query: `
      select format('%s.%I has a collation that is not deterministic', t.name, a.attname)
      from every_table as t
      join pg_attribute as a on a.attrelid = t.oid
      join pg_collation as co on co.oid = a.attcollation
      where t.kind <> 'foreign' and not co.collisdeterministic
      union all
      select c.oid::regclass || ' has a tablespace'
      from pg_class as c join room on room.oid = c.relnamespace and room.kind <> 'foreign' where c.reltablespace <> 0`,
    examples: [
      {
        wrong: `create collation ingest.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
          create table ingest.wrong (project_id uuid, name text collate ingest.loose)`,
        says: 'ingest.wrong.name has a collation that is not deterministic',
      },
    ],
  },
  {
    name: '20: functions of tenant data take the project first',
    query: `
      select name || ' does not take project_id uuid first' from routine
      where kind = 'tenant'
      and (proargnames[1] is distinct from 'project_id' or (proargtypes::oid[])[0] is distinct from 'uuid'::regtype)
      -- Read no rows at all.
      and provolatile <> 'i'
      -- Make, list and drop tables; touch no rows.
      and name not in ('ingest.keep_partitions', 'ingest.expired_partitions', 'ingest.drop_partition')`,
    examples: [
      {
        wrong: `create function ingest.wrong(flush_id uuid, project_id uuid) returns void language sql as 'select'`,
        says: 'ingest.wrong does not take project_id uuid first',
      },
    ],
  },
  {
    name: 'plpgsql and security definer functions have a closed search path; plain SQL ones none, to be inlined',
    query: `
      select format('%s has the search path %s', name, coalesce(path, '(none)'))
      from routine
      cross join lateral (
        select (select substr(s, 13) from unnest(proconfig) as s where s like 'search_path=%') as path
      ) as config
      where case when language = 'plpgsql' or prosecdef
        then path is null or path not in ('""', 'pg_catalog, pg_temp')
        else path is not null
      end`,
    examples: [
      {
        wrong: `create function ingest.wrong() returns void language plpgsql as 'begin end'`,
        says: 'ingest.wrong has the search path (none)',
      },
      {
        wrong: `create function ingest.wrong() returns void language sql security definer as 'select'`,
        says: 'ingest.wrong has the search path (none)',
      },
      {
        wrong: `create function ingest.wrong() returns void language plpgsql set search_path = public as 'begin end'`,
        says: 'ingest.wrong has the search path public',
      },
    ],
  },
  {
    name: 'a function that writes or locks is volatile',
    query: `
      select name || ' writes or locks, but is not volatile' from routine
      where provolatile <> 'v'
      and prosrc ~* '\\m(insert\\s+into|update\\s+\\w+\\.\\w+|delete\\s+from|for\\s+(update|share)|set_config)\\M'`,
    examples: [
      {
        wrong: `create function ingest.wrong() returns setof uuid language sql stable
          as 'select flush_id from ingest.pending for update'`,
        says: 'ingest.wrong writes or locks, but is not volatile',
      },
    ],
  },
];
