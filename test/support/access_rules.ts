import type { Rule } from './catalogue.ts';

/** The one condition of every tenant table: no subquery, and a setting that ends with the transaction. */
const ONE_PROJECT =
  "(project_id = (NULLIF(current_setting('trunkline.project_id'::text, true), ''::text))::uuid)";

/** The same for analysts, whose login's name says which project. */
const PROJECT_OF_LOGIN =
  "(project_id = (NULLIF(split_part((SESSION_USER)::text, '_'::text, 3), ''::text))::uuid)";

/** Asked for before a project is known, by who asks: what a person, or a token, opens. */
const LOOKED_UP = "'admin.members', 'admin.invitations', 'admin.access_requests'";

const ISOLATED = `create table ingest.wrong (project_id uuid); select base.isolate_table('ingest.wrong')`;
const PII = `grant select (external_id) on ingest.events to trunkline_queue`;

/** Who may see and do what. */
export const accessRules: Rule[] = [
  {
    name: '10: policies contain no subqueries',
    query: `
      select format('%s.%s: %s', schemaname, tablename, policyname) from pg_policies
      where concat(qual, with_check) ~* '\\mselect\\M'`,
    examples: [
      {
        wrong: `create policy wrong on ingest.pending using (project_id = (select project_id from projects.projects))`,
        says: 'ingest.pending: wrong',
      },
    ],
  },
  {
    name: 'every table with project_id is closed to all but the project of the transaction, its owner included',
    query: `
      select name || ' is open' from every_table
      where kind not in ('reference', 'foreign') and project_column is not null and not relispartition
      and name not in (${LOOKED_UP}) and not (relrowsecurity and relforcerowsecurity)
      union all
      select name || ' does not have the project policy' from every_table as t
      where kind not in ('reference', 'foreign') and project_column is not null and not relispartition
      and t.name not in (${LOOKED_UP}) and not exists (
        select from pg_policies as p
        where format('%I.%I', p.schemaname, p.tablename) = t.name
        and p.policyname = 'one_project' and p.permissive = 'PERMISSIVE' and p.cmd = 'ALL' and p.roles = '{public}'
        and p.qual = $$${ONE_PROJECT}$$ and coalesce(p.with_check, p.qual) = p.qual
      )
      union all
      select format('%s.%s has the policy %s for %s to %s', schemaname, tablename, policyname, cmd, roles)
      from pg_policies
      where policyname <> 'one_project' and schemaname not in ('graphile_worker')
      and not (
        policyname = 'work_of_all_projects' and cmd = 'SELECT' and roles = array[:queue]::name[] and qual = 'true'
        or policyname = 'analysts_' || lower(permissive) and cmd = 'SELECT' and roles = '{trunkline_analyst}'
        and qual = $$${PROJECT_OF_LOGIN}$$
      )
      union all
      select t.name || ' shows analysts columns without the two policies' from every_table as t
      where (
        has_table_privilege('trunkline_analyst', t.oid, 'select')
        or has_any_column_privilege('trunkline_analyst', t.oid, 'select, insert, update, references')
      )
      and kind <> 'foreign' and 2 <> (
        select count(*) from pg_policy where polrelid = t.oid and polname ~ '^analysts_(permissive|restrictive)$'
      )`,
    examples: [
      { wrong: 'create table ingest.wrong (project_id uuid)', says: 'ingest.wrong is open' },
      {
        wrong: 'alter table ingest.pending no force row level security',
        says: 'ingest.pending is open',
      },
      {
        wrong: `${ISOLATED}; alter policy one_project on ingest.wrong using (true)`,
        says: 'ingest.wrong does not have the project policy',
      },
      {
        wrong: `${ISOLATED}; alter policy one_project on ingest.wrong with check (true)`,
        says: 'ingest.wrong does not have the project policy',
      },
      {
        wrong: `create policy wrong on ingest.pending for update to trunkline_queue using (true)`,
        says: 'ingest.pending has the policy wrong for UPDATE to {trunkline_queue}',
      },
      {
        wrong: `create policy analysts_permissive on ingest.pending for select to trunkline_analyst using (true)`,
        says: 'ingest.pending has the policy analysts_permissive for SELECT to {trunkline_analyst}',
      },
      {
        wrong: 'drop policy analysts_restrictive on ingest.events',
        says: 'ingest.events shows analysts columns without the two policies',
      },
      {
        wrong: 'grant select (flush_id) on ingest.pending to trunkline_analyst',
        says: 'ingest.pending shows analysts columns without the two policies',
      },
    ],
  },
  {
    name: 'the runtime role owns nothing, is nobody special and a member of nothing',
    query: `
      select format('%s may do more than it should', rolname) from pg_roles
      where rolname = :runtime and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)
      union all
      select format('%s is a member of %s', member::regrole, roleid::regrole) from pg_auth_members
      where member = :runtime::regrole
      union all
      select format('%s owns %s', :runtime, pg_describe_object(classid, objid, objsubid)) from pg_shdepend
      where refclassid = 'pg_authid'::regclass and refobjid = :runtime::regrole and deptype = 'o'
      and dbid in (0, (select oid from pg_database where datname = current_database()))`,
    examples: [
      {
        wrong: 'create role wrong_runtime bypassrls',
        roles: { runtime: 'wrong_runtime' },
        says: 'wrong_runtime may do more than it should',
      },
      {
        wrong:
          'create role wrong_runtime; create role wrong_group; grant wrong_group to wrong_runtime',
        roles: { runtime: 'wrong_runtime' },
        says: 'wrong_runtime is a member of wrong_group',
      },
      {
        wrong: 'alter table ingest.pending owner to trunkline_runtime',
        says: 'trunkline_runtime owns table ingest.pending',
      },
    ],
  },
  {
    name: 'the queue role is nobody special either',
    query: `
      select format('%s may do more than it should', rolname) from pg_roles
      where rolname = :queue and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)
      union all
      select format('%s is a member of %s', member::regrole, roleid::regrole) from pg_auth_members
      where member = :queue::regrole`,
    examples: [
      {
        wrong: 'create role wrong_queue createrole',
        roles: { queue: 'wrong_queue' },
        says: 'wrong_queue may do more than it should',
      },
    ],
  },
  {
    name: 'the queue role may only read ids, states, causes, turns, priorities, counts and times of tenants',
    query: `
      select format('%s may %s %s', :queue, lower(privilege_type), t.name)
      from every_table as t cross join aclexplode(t.relacl)
      where t.kind = 'tenant' and grantee = :queue::regrole
      union all
      select format('%s may %s %s.%s', :queue, lower(privilege_type), t.name, a.attname)
      from every_table as t
      join pg_attribute as a on a.attrelid = t.oid
      cross join aclexplode(a.attacl)
      where t.kind = 'tenant' and grantee = :queue::regrole and (
        privilege_type <> 'SELECT'
        or not (
          a.attname ~ '_id$' and a.atttypid = 'uuid'::regtype
          or a.attname ~ '_(at|until)$' and a.atttypid = 'timestamptz'::regtype
          or a.attname ~ '_entry$' and a.atttypid = 'bigint'::regtype
          or a.attname in (
            'status', 'kind', 'priority', 'source', 'goes_first', 'lease_owner', 'probed_by', 'ramp_day'
          )
        )
      )`,
    examples: [
      {
        wrong: 'grant select on delivery.sends to trunkline_queue',
        says: 'may select delivery.sends',
      },
      { wrong: PII, says: 'may select ingest.events.external_id' },
      {
        wrong: 'grant update (status) on delivery.sends to trunkline_queue',
        says: 'may update delivery.sends.status',
      },
    ],
  },
  {
    name: 'tables are granted to the two roles only, for rows only; partitions to nobody',
    query: `
      select format('%s: %s to %s', t.name, lower(privilege_type),
        case grantee when 0 then 'public' else grantee::regrole::text end)
      from every_table as t cross join aclexplode(t.relacl)
      where t.kind <> 'foreign' and grantee <> t.relowner and (
        grantee not in (:runtime::regrole, :queue::regrole)
        or privilege_type not in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
        or t.relispartition
      )`,
    examples: [
      {
        wrong: 'grant select on ingest.pending to public',
        says: 'ingest.pending: select to public',
      },
      {
        wrong: 'grant truncate on ingest.pending to trunkline_runtime',
        says: 'ingest.pending: truncate to trunkline_runtime',
      },
      {
        wrong: `do $$ begin
            execute format('grant select on ingest.events_%s to trunkline_runtime',
              to_char(now() at time zone 'UTC', 'YYYYMM'));
          end $$`,
        says: 'select to trunkline_runtime',
      },
    ],
  },
  {
    name: 'the timeline only grows: the runtime role may read and add, nothing else',
    query: `
      select format('%s may %s ingest.events', :runtime, lower(privilege))
      from unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) as privilege
      where has_table_privilege(:runtime, 'ingest.events', privilege)`,
    examples: [
      {
        wrong: 'grant update on ingest.events to trunkline_runtime',
        says: 'trunkline_runtime may update ingest.events',
      },
    ],
  },
  {
    name: 'the audit log only grows: the runtime role may read and add, nothing else',
    query: `
      select format('%s may %s %s', :runtime, lower(privilege), log)
      from unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) as privilege,
        unnest(array['admin.audit', 'admin.installation_audit']) as log
      where has_table_privilege(:runtime, log, privilege)
      or privilege = 'UPDATE' and has_any_column_privilege(:runtime, log, privilege)`,
    examples: [
      {
        wrong: 'grant delete on admin.audit to trunkline_runtime',
        says: 'trunkline_runtime may delete admin.audit',
      },
      {
        wrong: 'grant update (actor_id) on admin.installation_audit to trunkline_runtime',
        says: 'trunkline_runtime may update admin.installation_audit',
      },
    ],
  },
  {
    name: 'security definer functions are not for everybody',
    query: `
      select name || ' may be called by everybody' from routine
      where prosecdef
      and exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee = 0)`,
    examples: [
      {
        wrong: `create function ingest.wrong() returns void language sql security definer as 'select'`,
        says: 'ingest.wrong may be called by everybody',
      },
    ],
  },
];
