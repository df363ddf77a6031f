// Runs when every other test is done: judges all SQL that they made the service send to Postgres.
import pg from 'pg';
import { beforeAll, expect, inject, test } from 'vitest';
import { testDatabase } from './support/database.ts';
import { listFunctionStatements, readRecord, readRuleFacts } from './support/recorded.ts';
import type { Recording } from './support/recorded.ts';
import { findTables, parseStatements } from './support/sql_tree.ts';
import { judge, judgeAcrossProjects } from './support/statement_rules.ts';
import type { Facts } from './support/statement_rules.ts';

const database = testDatabase();
let recording: Recording;
let facts: Facts;

beforeAll(async () => {
  const server = new pg.Client({ connectionString: inject('serverUrl') });
  await server.connect();
  recording = await readRecord(server);
  await server.end();
  facts = await readRuleFacts(database.owner);
  if (!recording.isThere) console.log(`skipped: nothing was recorded: ${recording.why}`);
});

const isAboutTenants = (statement: Parameters<typeof judge>[0]): boolean =>
  findTables(statement).some((table) => facts.tables.tenant.has(table));

type Judged = { count: number; wrong: string[] };

/** Judges what a role ran. A text that cannot be read is wrong too: nothing escapes unread. */
const judgeRole = async (role: string, rules: typeof judge): Promise<Judged> => {
  const judged: Judged = { count: 0, wrong: [] };
  for (const { query } of recording.statements.filter((recorded) => recorded.role === role)) {
    try {
      for (const statement of await parseStatements(query)) {
        if (isAboutTenants(statement)) judged.count += 1;
        judged.wrong.push(...rules(statement, facts).map((said) => `${said}\n${query}`));
      }
    } catch (error) {
      judged.wrong.push(`${String(error)}\n${query}`);
    }
  }
  return judged;
};

test('every statement of the service keeps to one project and to what a sharded Postgres can run', async ({
  skip,
}) => {
  skip(!recording.isThere, `nothing was recorded: ${recording.why}`);
  expect(recording.isWhole, 'the server forgot statements: raise pg_stat_statements.max').toBe(
    true,
  );
  const { count, wrong } = await judgeRole('trunkline_runtime', judge);
  console.log(`statements: ${count} on tenant tables judged`);
  expect(wrong).toEqual([]);
  expect(count, 'the service did nothing: run the whole suite').toBeGreaterThan(0);
});

test('13: what looks across projects only reads, and locks nothing', async ({ skip }) => {
  skip(!recording.isThere, `nothing was recorded: ${recording.why}`);
  const { count, wrong } = await judgeRole('trunkline_queue', judgeAcrossProjects);
  console.log(`statements: ${count} across projects judged`);
  expect(wrong).toEqual([]);
  expect(count, 'nobody looked across projects: run the whole suite').toBeGreaterThan(0);
});

test('the statements inside functions keep to the same rules, whether a test called them or not', async () => {
  const inside = await listFunctionStatements(database.owner);
  const wrong = inside.flatMap(({ name, statement }) =>
    judge(statement, facts).map((said) => `${name}: ${said}`),
  );
  console.log(`statements: ${inside.length} inside functions judged`);
  expect(wrong).toEqual([]);
  expect(inside.length).toBeGreaterThan(0);
});
