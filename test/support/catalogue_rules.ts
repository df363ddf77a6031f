import { DEFAULTS } from './defaults.ts';
import type { Rule } from './catalogue.ts';

/** The daily job keeps this many months ahead of events. */
const MONTHS_AHEAD = 3;
/** A sharded table's name gets a suffix; names end at 63 bytes. */
const PARTITION_NAME_MAX = 40;

/** How tables must be made so that the database can be spread by project: one rule, one query. */
export const tableRules: Rule[] = [
  {
    name: '1: every tenant table has project_id: uuid, not null, given by the writer',
    query: `
      select name || ' has no project_id' from tenant_table where project_column is null
      union all
      select format('%s.project_id is %s%s%s', t.name, format_type(a.atttypid, a.atttypmod),
        case when not a.attnotnull then ', nullable' end,
        case when a.atthasdef or a.attidentity <> '' then ', made by the table' end)
      from tenant_table as t join pg_attribute as a on a.attrelid = t.oid and a.attnum = t.project_column
      where a.atttypid <> 'uuid'::regtype or not a.attnotnull or a.atthasdef or a.attidentity <> ''`,
    examples: [
      { wrong: 'create table ingest.wrong (id uuid)', says: 'ingest.wrong has no project_id' },
      { wrong: 'create table ingest.wrong (project_id text primary key)', says: 'is text' },
      { wrong: 'create table ingest.wrong (project_id uuid)', says: 'nullable' },
      {
        wrong: 'create table ingest.wrong (project_id uuid not null default gen_random_uuid())',
        says: 'made by the table',
      },
    ],
  },
  {
    name: '1: projects are keyed by project_id alone',
    query: `
      select 'projects.projects is not keyed by project_id'
      where not exists (
        select from pg_constraint as con join every_table as t on t.oid = con.conrelid
        where t.name = 'projects.projects' and con.contype = 'p' and con.conkey = array[t.project_column]
      )`,
    examples: [
      {
        wrong: 'alter table projects.projects drop constraint projects_pkey cascade',
        says: 'not keyed by project_id',
      },
    ],
  },
  {
    name: '2: every key starts with project_id, and every tenant table has a primary key',
    query: `
      select format('%s: %s does not start with project_id', t.name, i.indexrelid::regclass)
      from tenant_table as t join pg_index as i on i.indrelid = t.oid
      where (i.indisunique or i.indisexclusion) and i.indkey[0] is distinct from t.project_column
      union all
      select name || ' has no primary key' from tenant_table
      where not exists (select from pg_index where indrelid = tenant_table.oid and indisprimary)`,
    examples: [
      {
        wrong: 'create table ingest.wrong (id uuid primary key, project_id uuid not null)',
        says: 'wrong_pkey does not start with project_id',
      },
      {
        wrong: 'create unique index wrong on delivery.sends (provider_message_id, project_id)',
        says: 'wrong does not start with project_id',
      },
      { wrong: 'create table ingest.wrong (project_id uuid not null)', says: 'has no primary key' },
    ],
  },
  {
    name: '3: keys between tenant tables carry project_id at the same place, and only ever cascade or refuse',
    query: `
      select format('%s: %s', child.name, con.conname)
      from pg_constraint as con
      join tenant_table as child on child.oid = con.conrelid
      join tenant_table as parent on parent.oid = con.confrelid
      where con.contype = 'f' and (
        array_position(con.conkey, child.project_column) is null
        or array_position(con.conkey, child.project_column)
          is distinct from array_position(con.confkey, parent.project_column)
        or con.confdeltype not in ('a', 'r', 'c')
        or con.confupdtype <> 'a'
      )`,
    examples: [
      {
        wrong: `create unique index wrong on delivery.sends (send_id);
          alter table delivery.contents add constraint wrong foreign key (send_id) references delivery.sends (send_id)`,
        says: 'delivery.contents: wrong',
      },
      {
        wrong: `alter table delivery.contents add constraint wrong foreign key (project_id, send_id)
          references delivery.sends (project_id, send_id) on delete set null`,
        says: 'delivery.contents: wrong',
      },
      {
        wrong: `alter table delivery.contents add constraint wrong foreign key (project_id, send_id)
          references delivery.sends (project_id, send_id) on update cascade`,
        says: 'delivery.contents: wrong',
      },
    ],
  },
  {
    name: '4: no keys between tenant tables and local tables, nor from shared tables to tenant tables',
    query: `
      select format('%s (%s) -> %s (%s)', child.name, child.kind, parent.name, parent.kind)
      from pg_constraint as con
      join every_table as child on child.oid = con.conrelid
      join every_table as parent on parent.oid = con.confrelid
      where con.contype = 'f' and (
        child.kind = 'tenant' and parent.kind not in ('tenant', 'reference')
        or parent.kind = 'tenant' and child.kind <> 'tenant'
      )`,
    examples: [
      {
        wrong: `alter table delivery.sends add constraint wrong foreign key (lease_owner) references queue.workers`,
        says: 'delivery.sends (tenant) -> queue.workers (local)',
      },
      {
        wrong: `alter table projects.api_keys add constraint wrong foreign key (project_id, key_id)
          references delivery.sends (project_id, send_id)`,
        says: 'projects.api_keys (reference) -> delivery.sends (tenant)',
      },
    ],
  },
  {
    name: '5: tables that are copied to every node are seldom written: they count nothing, and remember no use',
    query: `
      select format('%s.%s is written by use', t.name, a.attname)
      from every_table as t join pg_attribute as a on a.attrelid = t.oid
      where t.kind = 'reference' and a.attnum > 0 and not a.attisdropped and (
        a.atttypid in ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'numeric'::regtype)
        or a.attname ~ '^last_.*_at$|_(used|seen)_at$'
      )`,
    examples: [
      {
        wrong: 'alter table projects.api_keys add column last_used_at timestamptz(3)',
        says: 'projects.api_keys.last_used_at is written by use',
      },
      {
        wrong: 'alter table projects.projects add column event_count bigint',
        says: 'projects.projects.event_count is written by use',
      },
    ],
  },
  {
    name: '7: tenant tables are partitioned by range of one column, on one level, without a default',
    query: `
      select name || ' is not partitioned by range of one column' from tenant_table
      join pg_partitioned_table as p on p.partrelid = tenant_table.oid
      where p.partstrat <> 'r' or p.partnatts <> 1
      union all
      select name || ' is a default partition' from every_table
      where relispartition and oid in (select partdefid from pg_partitioned_table)
      union all
      select name || ' is partitioned itself' from every_table where relispartition and relkind = 'p'
      union all
      select name || ' has a long name' from every_table
      where relispartition and length(relname) > ${PARTITION_NAME_MAX}`,
    examples: [
      {
        wrong:
          'create table ingest.wrong (project_id uuid not null) partition by hash (project_id)',
        says: 'ingest.wrong is not partitioned by range of one column',
      },
      {
        wrong: 'create table ingest.wrong partition of ingest.events default',
        says: 'ingest.wrong is a default partition',
      },
      {
        wrong: `create table ingest.wrong partition of ingest.events for values from ('1990-01-01') to ('1990-02-01')
          partition by range (event_id)`,
        says: 'ingest.wrong is partitioned itself',
      },
      {
        wrong: `create table ingest.${'w'.repeat(PARTITION_NAME_MAX + 1)} partition of ingest.events
          for values from ('1990-01-01') to ('1990-02-01')`,
        says: 'has a long name',
      },
    ],
  },
  {
    name: '7: a partition is there for every month that is accepted, and ahead of it',
    query: `
      select 'ingest.events has no partition for ' || to_char(month, 'YYYY-MM')
      from generate_series(
        date_trunc('month', now() at time zone 'UTC') - interval '${DEFAULTS.retentionMonths} months',
        date_trunc('month', now() at time zone 'UTC') + interval '${MONTHS_AHEAD} months',
        interval '1 month'
      ) as month
      where not exists (
        select from pg_inherits
        join pg_class as c on c.oid = inhrelid
        cross join regexp_match(pg_get_expr(c.relpartbound, c.oid), $$FROM \\('(.*)'\\) TO \\('(.*)'\\)$$) as bound
        where inhparent = 'ingest.events'::regclass
        and bound[1]::timestamptz <= month at time zone 'UTC'
        and bound[2]::timestamptz >= (month + interval '1 month') at time zone 'UTC'
      )`,
    examples: [
      {
        wrong: `do $$ begin
            execute format('drop table ingest.events_%s', to_char(now() at time zone 'UTC', 'YYYYMM'));
          end $$`,
        says: 'ingest.events has no partition for 20',
      },
    ],
  },
];
