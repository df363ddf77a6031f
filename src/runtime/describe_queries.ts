import { ROLES } from '../base/roles.ts';

/** Schemas that others make, and change, by themselves. */
const FOREIGN_SCHEMAS = [
  'information_schema',
  'public',
  'graphile_worker',
  'graphile_migrate',
  'migrations',
];

const list = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

const OURS = `n.nspname !~ '^pg_' and n.nspname not in (${list(FOREIGN_SCHEMAS)})`;
const RELATIONS = `from pg_class as c join pg_namespace as n on n.oid = c.relnamespace and ${OURS}`;
const TABLES = `${RELATIONS} and c.relkind in ('r', 'p') and not c.relispartition`;
const AT = 'n.nspname as schema, c.relname as name';
const ROLE = `case grantee when 0 then 'public' else pg_get_userbyid(grantee)::text end`;
const PRIVILEGES = `string_agg(lower(privilege_type), ', ' order by privilege_type)`;

/** Everything granted, except what owners hold anyway. */
const granted = (acl: string, kind: 'n' | 'r' | 'f', owner: string): string =>
  `aclexplode(coalesce(${acl}, acldefault('${kind}', ${owner}))) where grantee <> ${owner}`;

/** One of the service's roles by its name; whoever migrated is "current_user", for the name differs everywhere. */
const owner = (column: string): string =>
  `case when pg_get_userbyid(${column}) in (${list(ROLES)}) then pg_get_userbyid(${column}) else 'current_user' end`;

export const SCHEMAS = `
  select n.nspname as name, ${owner('n.nspowner')} as owner, array(
    select format('grant %s on schema %I to %s;', ${PRIVILEGES}, n.nspname, ${ROLE})
    from ${granted('n.nspacl', 'n', 'n.nspowner')} group by grantee order by ${ROLE}
  ) as grants
  from pg_namespace as n where ${OURS} order by 1`;

export const TABLE_TAILS = `
  select ${AT}, concat(
    case when c.relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) end,
    ' with (' || array_to_string(c.reloptions, ', ') || ')'
  ) as line
  ${TABLES} order by 1, 2`;

export const COLUMNS = `
  select ${AT}, format('%I', a.attname) as column, concat(
    format_type(a.atttypid, a.atttypmod),
    ' collate ' || (select collname from pg_collation where oid = a.attcollation and oid <> t.typcollation),
    case when a.attnotnull then ' not null' end,
    case a.attgenerated when '' then ' default ' else ' generated always as ' end || pg_get_expr(d.adbin, d.adrelid),
    case when a.attidentity <> '' then ' generated as identity' end
  ) as line
  ${TABLES}
  join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type as t on t.oid = a.atttypid
  left join pg_attrdef as d on d.adrelid = c.oid and d.adnum = a.attnum
  order by 1, 2, a.attnum`;

export const CONSTRAINTS = `
  select ${AT}, format('constraint %I %s', con.conname, pg_get_constraintdef(con.oid)) as line
  ${TABLES}
  join pg_constraint as con on con.conrelid = c.oid and con.contype <> 'n'
  order by 1, 2, position(con.contype::text in 'pufcx'), con.conname`;

const INDEXES = `
  select ${AT}, pg_get_indexdef(i.indexrelid) || ';' as line
  ${TABLES}
  join pg_index as i on i.indrelid = c.oid
  where not exists (select from pg_constraint where conindid = i.indexrelid and conrelid = c.oid)`;

const TRIGGERS = `
  select ${AT}, pg_get_triggerdef(t.oid) || ';' as line
  ${TABLES} join pg_trigger as t on t.tgrelid = c.oid and not t.tgisinternal`;

const ROW_SECURITY = `
  select ${AT}, format('alter table %s %s;', c.oid::regclass, concat_ws(', ',
    case when c.relrowsecurity then 'enable row level security' end,
    case when c.relforcerowsecurity then 'force row level security' end)) as line
  ${TABLES} where c.relrowsecurity or c.relforcerowsecurity`;

const POLICIES = `
  select ${AT}, concat(
    format('create policy %I on %s', p.policyname, c.oid::regclass),
    case when p.permissive <> 'PERMISSIVE' then ' as restrictive' end,
    format(' for %s to %s', lower(p.cmd), array_to_string(p.roles, ', ')),
    ' using (' || p.qual || ')', ' with check (' || p.with_check || ')', ';'
  ) as line
  ${TABLES} join pg_policies as p on p.schemaname = n.nspname and p.tablename = c.relname`;

const TABLE_OWNERS = `
  select ${AT}, format('alter table %s owner to %s;', c.oid::regclass, ${owner('c.relowner')}) as line
  ${TABLES} where c.relowner <> n.nspowner`;

const TABLE_GRANTS = `
  select ${AT}, line
  ${TABLES}
  cross join lateral (
    select format('grant %s on %s to %s;', ${PRIVILEGES}, c.oid::regclass, ${ROLE}) as line
    from ${granted('c.relacl', 'r', 'c.relowner')} group by grantee
    union all
    select format('grant %s (%s) on %s to %s;', lower(privilege_type), string_agg(attname, ', ' order by attnum),
      c.oid::regclass, ${ROLE})
    from pg_attribute, aclexplode(attacl) where attrelid = c.oid and attnum > 0 group by grantee, privilege_type
  ) as granted`;

/** What is said after a table, in this order; each sorted by its reader, whose order is no server's collation. */
export const AFTER_TABLES = [TABLE_OWNERS, INDEXES, TRIGGERS, ROW_SECURITY, POLICIES, TABLE_GRANTS];

/** What is said after a view: whose it is, what it means, who may read it. */
const AFTER_VIEW = `array(
    select format('alter view %s owner to %s;', c.oid::regclass, ${owner('c.relowner')}) where c.relowner <> n.nspowner
  ) || array(
    select format('comment on %s is %L;', case d.objsubid when 0 then 'view ' || c.oid::regclass
      else format('column %s.%I', c.oid::regclass, a.attname) end, d.description)
    from pg_description as d
    left join pg_attribute as a on a.attrelid = d.objoid and a.attnum = d.objsubid and d.objsubid > 0
    where d.classoid = 'pg_class'::regclass and d.objoid = c.oid order by d.objsubid
  ) || array(
    select format('grant %s on %s to %s;', ${PRIVILEGES}, c.oid::regclass, ${ROLE})
    from ${granted('c.relacl', 'r', 'c.relowner')} group by grantee order by ${ROLE}
  )`;

export const VIEWS = `
  select ${AT}, case c.relkind
    when 'S' then format('create sequence %s;', c.oid::regclass)
    else format('create %s %s%s as%s', case c.relkind when 'm' then 'materialized view' else 'view' end,
      c.oid::regclass, ' with (' || array_to_string(c.reloptions, ', ') || ')', chr(10) || pg_get_viewdef(c.oid, true))
  end as line, case when c.relkind = 'S' then '{}' else ${AFTER_VIEW} end as after
  ${RELATIONS} where c.relkind in ('v', 'm', 'S') order by 1, 2`;

const ARGUMENTS = `(
  select ordinal, coalesce(p.proargmodes[ordinal]::text, 'i') as mode,
    concat_ws(' ', p.proargnames[ordinal], format_type(type, null),
      'default ' || pg_get_function_arg_default(p.oid, ordinal::integer)) as line
  from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as a (type, ordinal)
) as argument`;

export const FUNCTIONS = `
  select n.nspname as schema, p.oid::regproc::text as name,
    array(select line from ${ARGUMENTS} where mode <> 't' order by ordinal) as inputs,
    array(select line from ${ARGUMENTS} where mode = 't' order by ordinal) as outputs,
    pg_get_function_result(p.oid) as result,
    concat_ws(' ', 'language ' || (select lanname from pg_language where oid = p.prolang),
      case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
      case when p.proisstrict then 'strict' end,
      case when p.prosecdef then 'security definer' end
    ) as traits,
    array(
      select format('set %s = %s', split_part(setting, '=', 1),
        replace(substr(setting, strpos(setting, '=') + 1), '""', ''''''))
      from unnest(p.proconfig) as setting
    ) as settings,
    array(
      select format('alter function %s owner to %s;', p.oid::regproc, ${owner('p.proowner')})
      where p.proowner <> n.nspowner
    ) || array(
      select format('grant %s on function %s to %s;', ${PRIVILEGES}, p.oid::regproc, ${ROLE})
      from ${granted('p.proacl', 'f', 'p.proowner')} group by grantee order by ${ROLE}
    ) as after
  from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace and ${OURS}
  order by 1, 2, pg_get_function_identity_arguments(p.oid)`;
