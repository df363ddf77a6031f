import { describe, expect, test } from 'vitest';
import { parseStatements } from './sql_tree.ts';
import { judge, judgeAcrossProjects } from './statement_rules.ts';
import type { Facts, Volatility } from './statement_rules.ts';

const volatilities: Record<string, Volatility> = {
  now: 'stable',
  to_char: 'stable',
  clock_timestamp: 'volatile',
  random: 'volatile',
};
const facts: Facts = {
  tables: {
    tenant: new Set(['a.things', 'a.parts', 'b.others']),
    reference: new Set(['projects.projects']),
  },
  timeColumns: new Set(['at', 'seen_at', 'wake_at']),
  volatilityOf: (name) => volatilities[name] ?? 'immutable',
};

const rulesBroken = async (text: string): Promise<string[]> => {
  const said = (await parseStatements(text)).flatMap((statement) => judge(statement, facts));
  return [...new Set(said.map((line) => line.split(':')[0] ?? ''))];
};

describe('rule 12: every tenant table in a statement is restricted to the project', () => {
  test.each([
    'select * from a.things where project_id = $1',
    'select * from a.things as thing where thing.project_id = $1::uuid and thing.name = $2',
    'select * from a.things where $1 = project_id',
    'select * from a.things as thing where (thing.id, thing.project_id) = ($1, $2)',
    // The argument of the function that the statement is in, and a local variable.
    'select * from a.things as thing where thing.project_id = find_thing.project_id',
    'select * from a.things as thing where thing.project_id = v_project_id',
    'select * from a.things t join a.parts p on p.project_id = t.project_id and p.id = t.id where t.project_id = $1',
    'select * from a.things t join a.parts p on p.project_id = $2 and p.id = t.id and t.project_id = p.project_id',
    'select * from a.things t left join a.parts p on p.project_id = t.project_id where t.project_id = $1',
    `select * from a.things t, a.parts p, b.others o
      where t.project_id = p.project_id and o.project_id = p.project_id and o.project_id = $1`,
    'select (select count(*) from a.parts p where p.project_id = t.project_id) from a.things t where t.project_id = $1',
    `select * from a.things t
      where t.project_id = $1 and exists (select from a.parts p where p.project_id = t.project_id)`,
    'select * from (select * from a.things where project_id = $1) as t join a.parts p on p.project_id = t.project_id',
    `select * from a.things t, lateral (select project_id from a.parts p where p.project_id = t.project_id) as x
      where t.project_id = $1`,
    `with mine as (select project_id, id from a.things where project_id = $1)
      select * from mine join a.parts p on p.project_id = mine.project_id`,
    'select * from a.pending(project_id => $1, ids => $2) as e join a.things t on t.project_id = e.project_id',
    'select id from a.things where project_id = $1 union all select id from a.parts where project_id = $1',
    'select 1 from unnest($1::uuid[]) as item',
    'select * from projects.projects',
    'insert into a.things (project_id, id) values ($1, $2), ($3, $4)',
    'insert into a.things (id, project_id) select item.id, $1 from unnest($2::uuid[]) as item (id)',
    'insert into a.things (project_id, id) select p.project_id, p.id from a.parts p where p.project_id = $1',
    'insert into a.things (project_id, id) select add_thing.project_id, add_thing.id',
    'update a.things set name = $2 where project_id = $1',
    'update a.things as t set name = p.name from a.parts p where t.project_id = $1 and p.project_id = t.project_id',
    'delete from a.things t using a.parts p where t.project_id = $1 and p.project_id = $1',
  ])('%s', async (text) => {
    expect(await rulesBroken(text)).toEqual([]);
  });

  test.each([
    'select * from a.things',
    'select * from a.things where id = $1',
    'select * from a.things where project_id = any ($1)',
    'select * from a.things where project_id in ($1, $2)',
    'select * from a.things where project_id = $1 or name = $2',
    'select * from a.things where project_id <> $1',
    'select * from a.things where (project_id, id) > ($1, $2)',
    // Which side a merged column comes from is not followed: write the comparison out.
    'select * from a.things join a.parts using (project_id) where project_id = $1',
    'select * from a.things where project_id = id',
    'select * from a.things t where t.project_id = t.project_id',
    'select * from a.things t join a.parts p on p.id = t.id where t.project_id = $1',
    'select * from a.things t join a.parts p on p.project_id = t.project_id',
    // What an outer join says about the side that keeps all its rows restricts nothing.
    'select * from a.things t left join a.parts p on t.project_id = $1 and p.project_id = $1',
    'select * from a.things t full join a.parts p on t.project_id = $1 and p.project_id = $1',
    'select (select count(*) from a.parts) from a.things where project_id = $1',
    'select * from a.things t where t.project_id = $1 and t.id in (select id from a.parts)',
    'select * from (select * from a.things) as t where t.project_id = $1',
    'select * from (select unnest($1::uuid[]) as project_id) as x join a.things t on t.project_id = x.project_id',
    'with mine as (select * from a.things) select * from mine',
    'select id from a.things where project_id = $1 union all select id from a.parts',
    'insert into a.things values ($1, $2)',
    'insert into a.things (id) values ($1)',
    'insert into a.things (project_id, id) values ($1, $2), (gen_random_uuid(), $3)',
    'insert into a.things (project_id, id) select p.project_id, p.id from a.parts p',
    'insert into a.things (project_id, id) select item.project_id, $1 from unnest($2::uuid[]) as item (project_id)',
    'update a.things set name = $1',
    'update a.things as t set name = p.name from a.parts p where t.project_id = $1 and p.id = t.id',
    'delete from a.things',
    'truncate a.things',
    'lock table a.things',
  ])('not: %s', async (text) => {
    expect(await rulesBroken(text)).toEqual(['12']);
  });
});

type Case = { rule: string; good: string[]; bad: string[] };

const MINE = 'where project_id = $1';
const INSERT =
  'insert into a.things as kept (project_id, name) values ($1, $2) on conflict (project_id)';

const cases: Case[] = [
  {
    rule: '1',
    good: [`update a.things set name = $2 ${MINE}`],
    bad: [
      `update a.things set project_id = $2 ${MINE}`,
      `${INSERT} do update set project_id = excluded.project_id`,
    ],
  },
  {
    rule: '14',
    good: [
      `${INSERT} do nothing`,
      `${INSERT} do update set name = excluded.name where kept.name < lower(excluded.name)`,
      `${INSERT} do update set seen_at = greatest(kept.seen_at, $3)`,
      `${INSERT} do update set seen_at = $3::timestamptz where kept.n + 1 < $4 and kept.id::text = $5`,
    ],
    bad: [
      `${INSERT} do update set seen_at = now()`,
      `${INSERT} do update set seen_at = current_timestamp`,
      `${INSERT} do update set name = excluded.name where kept.seen_at < now()`,
      `${INSERT} do update set seen_at = excluded.seen_at + interval '1 day'`,
      `${INSERT} do update set seen_at = $3 + make_interval(secs => $4)`,
      `${INSERT} do update set name = excluded.seen_at::text`,
      `${INSERT} do update set seen_at = excluded.name::timestamptz`,
      `${INSERT} do update set name = (select max(name) from a.things ${MINE})`,
    ],
  },
  {
    rule: '15',
    good: [
      `update a.things set seen_at = now() ${MINE}`,
      `update a.things as t set seen_at = to_char(put.at) where t.project_id = put.project_id`,
      `update a.things set name = coalesce($2, lower(name)) ${MINE}`,
      `select random() from a.things ${MINE}`,
      `insert into a.things (project_id, at) values ($1, clock_timestamp())`,
      `update a.things set wake_at = now() + interval '1 day' ${MINE}`,
      `update a.things set wake_at = v_now + make_interval(secs => $2), n = n + 1 ${MINE}`,
      `update a.things set wake_at = $2 + put_off.wait * interval '1 second' ${MINE}`,
      `update a.things set at = coalesce(at, $2::timestamptz, 'infinity'::timestamptz) ${MINE}`,
      `update a.things set name = v_seen_at::text, at = v_name::timestamptz, n = id::text ${MINE}`,
      `update a.things set name = $2 ${MINE} returning seen_at < $3::timestamptz, name::text`,
      `select at + interval '1 day', seen_at::text from a.things ${MINE}`,
    ],
    bad: [
      `update a.things set n = random() ${MINE}`,
      `delete from a.things ${MINE} and at < clock_timestamp()`,
      `update a.things set name = to_char(at) ${MINE}`,
      `update a.things set at = coalesce(at, now()) ${MINE}`,
      `update a.things set at = case when at is null then now() end ${MINE}`,
      `update a.things set name = $2 ${MINE} returning now()`,
      `update a.things set wake_at = wake_at + interval '1 day' ${MINE}`,
      `update a.things set wake_at = $2 + make_interval(secs => n) ${MINE}`,
      `update a.things as t set wake_at = put.at + 2 * interval '1 s' from a.parts as put
        where t.project_id = $1 and put.project_id = $1`,
      // As it is recorded: what is constant has become a parameter.
      `update a.things set wake_at = wake_at - interval $2 ${MINE}`,
      `delete from a.things ${MINE} and wake_at < $2 - n::interval`,
      `delete from a.things ${MINE} and seen_at::date < $2`,
      `update a.things set name = seen_at::text ${MINE}`,
      `update a.things as t set seen_at = cast(t.name as timestamp with time zone) where t.project_id = $1`,
      `update a.things set at = coalesce(at, $2 + interval '1 day') ${MINE}`,
      `update a.things set at = case when at is null then v_now - make_interval(days => $2) end ${MINE}`,
      `update a.things set name = $2 ${MINE} returning seen_at < $3 - interval '1 day'`,
      `update a.things set name = $2 ${MINE} returning at::text`,
    ],
  },
  {
    rule: '16',
    good: [`with old as (select * from a.things ${MINE}) select * from old`],
    bad: [
      `insert into a.things (project_id, id) values ($1, (select $2))`,
      `delete from a.things ${MINE} and ctid = $2`,
      `select * from a.things tablesample system (1) ${MINE}`,
      `with gone as (delete from a.things ${MINE} returning id) select id from gone`,
    ],
  },
  {
    rule: '17',
    good: [
      'select from projects.projects where project_id = $1 for update',
      'select count(*) from projects.projects',
      `select from a.things ${MINE} for update skip locked`,
    ],
    bad: [
      'select from projects.projects for share',
      'select name, count(*) from projects.projects group by rollup (name)',
      'with recursive r as (select 1) select from r, projects.projects',
    ],
  },
  {
    rule: '18',
    good: ['select txid_current()'],
    bad: [
      'select pg_advisory_xact_lock($1)',
      `select pg_try_advisory_lock($2) from a.things ${MINE}`,
      'select pg_advisory_lock($1)',
      'select pg_advisory_unlock_all()',
    ],
  },
  {
    rule: '23',
    good: [
      'set local statement_timeout = 5',
      'set transaction isolation level repeatable read',
      'begin isolation level repeatable read read only',
      `select set_config('a.b', $1, true)`,
      // As it is recorded.
      'select set_config($1, $2.project_id::text, $3)',
      'declare page cursor for select 1',
      'select pg_notify($1, $2)',
      `insert into a.things (project_id, name) values ($1, 'listen')`,
    ],
    bad: [
      'set statement_timeout = 5',
      'set session statement_timeout = 5',
      'set statement_timeout = $1',
      `set time zone 'UTC'`,
      'set role postgres',
      'set session characteristics as transaction read only',
      'reset all',
      'discard all',
      `select set_config('a.b', $1, false)`,
      `select set_config('a.b', name, n > 1) from a.things ${MINE}`,
      `select pg_catalog.set_config($1, $2, false) from a.things ${MINE}`,
      'create temporary table kept (id uuid)',
      'create temp table kept as select 1 as id',
      `select * into temp kept from a.things ${MINE}`,
      'create temp view kept as select 1',
      'create table pg_temp.kept (id uuid)',
      'insert into pg_temp.kept values ($1)',
      'prepare one as select 1',
      'execute one',
      'deallocate one',
      'listen jobs',
      'unlisten *',
      'notify jobs',
      'declare page cursor with hold for select 1',
    ],
  },
];

describe.each(cases)('rule $rule', ({ rule, good, bad }) => {
  test.each(good)('allows: %s', async (text) => {
    expect(await rulesBroken(text)).toEqual([]);
  });
  test.each(bad)('refuses: %s', async (text) => {
    expect(await rulesBroken(text)).toEqual([rule]);
  });
});

test('rule 16: merge and "where current of" are refused', async () => {
  expect(
    await rulesBroken(
      'merge into a.things t using a.parts p on t.id = p.id when matched then delete',
    ),
  ).toContain('16');
  expect(await rulesBroken('delete from a.things where current of places')).toContain('16');
});

describe('rule 13: what looks across projects only reads', () => {
  const across = async (text: string): Promise<string[]> =>
    (await parseStatements(text)).flatMap((statement) => judgeAcrossProjects(statement, facts));

  test.each(['select distinct project_id from a.things', 'update c.local set name = $1'])(
    'allows: %s',
    async (text) => {
      expect(await across(text)).toEqual([]);
    },
  );
  test.each(['select from a.things for share', 'delete from a.things', 'truncate a.things'])(
    'refuses: %s',
    async (text) => {
      expect(await across(text)).toHaveLength(1);
    },
  );
});
