// How far names are looked for: so many, and then it is said that there are more.
import { beforeAll, expect, test } from 'vitest';
import { listAll, LOOKED_THROUGH_MAX } from '../../src/cli/project.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const { as } = testCli(database, api);

/** Numbers from 0 on, so many, in pages as they are asked for. */
const numbers = (many: number) => {
  const asked: number[] = [];
  const list = async ({ limit, cursor = '0' }: { limit: number; cursor?: string }) => {
    asked.push(limit);
    const from = Number(cursor);
    const to = Math.min(many, from + limit);
    const items = Array.from({ length: to - from }, (_, at) => from + at);
    return { items, next_cursor: to < many ? String(to) : null };
  };
  return { asked, list };
};

test('all are listed up to the bound, and one past it is said to be there', async () => {
  for (const [many, isMore] of [
    [0, false],
    [201, false],
    [LOOKED_THROUGH_MAX, false],
    [LOOKED_THROUGH_MAX + 1, true],
  ] as const) {
    const { items, isMore: told } = await listAll(numbers(many).list);
    const most = Math.min(many, LOOKED_THROUGH_MAX);
    expect([items.length, items.at(-1) ?? -1, told]).toEqual([most, most - 1, isMore]);
  }
});

test('a service that never ends is asked no further', async () => {
  let asked = 0;
  const endless = async () => {
    asked += 1;
    return { items: [], next_cursor: 'again' };
  };
  expect((await listAll(endless)).isMore).toBe(true);
  expect(asked).toBeLessThanOrEqual(LOOKED_THROUGH_MAX);
});

let boss: SignedInPerson;
beforeAll(async () => {
  boss = await makePerson(database, { isAdmin: true });
  await database.owner.query(
    `insert into projects.projects (project_id, name, created_at)
     select ('0199ffff-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid, 'Shop ' || number, now()
     from generate_series(1, $1::integer) as number`,
    [LOOKED_THROUGH_MAX],
  );
});

test('the newest projects are listed, and it is said that there are more', async () => {
  const { code, stdout, stderr } = await as(boss, ['projects', '--json']);
  expect([code, stderr]).toEqual([0, '']);
  const { items, is_more } = JSON.parse(stdout);
  expect([items.length, is_more]).toEqual([LOOKED_THROUGH_MAX, true]);
  const shown = await as(boss, ['projects']);
  expect(shown.stderr).toBe(
    'Only the newest 10000 were looked through: another is named by its id.\n',
  );
});

test('2: a name past the bound is not found, and an id is', async () => {
  const { code, stderr } = await as(boss, ['keys', '--project', 'Shop 1']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('named by its id, with --project')]);
  const first = '0199ffff-0000-7000-8000-000000000001';
  expect((await as(boss, ['keys', '--project', first])).code).toBe(0);
});

test('2: where one of many is to be chosen, only some are named', async () => {
  const { code, stderr } = await as(boss, ['keys']);
  expect(code).toBe(2);
  expect(stderr.split('\n').length).toBeLessThan(60);
  expect(stderr).toContain('… and more: trunkline projects');
});
