import { describe, expect, test } from 'vitest';
import pg from 'pg';
import { queueUrl, runtimeUrl } from '../../src/base/roles.ts';
import { ROLE_TIMEOUT_SECONDS } from '../../src/runtime/migrate.ts';
import { holds } from '../../src/segments/value_tests.ts';
import { ValueTest } from '../../src/segments/value_schema.ts';
import { dayOf, toDate } from '../../src/segments/moments.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { processorMs } from '../support/processor.ts';

const database = testDatabase();
const api = testApi(database);

const TODAY = dayOf(Date.parse('2026-05-20T00:00:00Z'));

/** What is a pattern somewhere: of LIKE, of SIMILAR TO, of POSIX, of JavaScript, of JSON paths. */
const PATTERNS = [
  '%',
  '_',
  'a%',
  '%b',
  '\\%',
  '.*',
  '^a',
  'b$',
  '(a|x)',
  '[abc]',
  'a{1,}',
  '(?i)A',
  '$.*',
  '@ like_regex ".*"',
  '(a+)+$',
];
const TEXT = 'ab';

test.each(PATTERNS)('what looks like a pattern is a text, in SQL as here: %j', async (pattern) => {
  for (const is of ['equals', 'contains', 'starts_with'] as const) {
    const asked = ValueTest.parse({ is, value: pattern });
    const ask = async (value: string): Promise<boolean> => {
      const { rows } = await database.owner.query<{ holds: boolean }>(
        'select segments.holds(value => $1, test => $2, today => $3) as holds',
        [JSON.stringify(value), JSON.stringify(asked), toDate(TODAY)],
      );
      expect(rows[0]?.holds).toBe(holds(value, asked, TODAY));
      return rows[0]?.holds ?? false;
    };
    expect(await ask(TEXT)).toBe(false);
    expect(await ask(pattern)).toBe(true);
  }
});

test('400 invalid_request: there is no kind of condition that takes a pattern', async () => {
  const create = (is: string) => {
    const where = { kind: 'trait', trait: 'a', test: { is, value: '(a+)+$' } };
    const body = { name: 'a', definition: { where } };
    return api.call('POST', '/v1/segments', { key: api.project.server_key, body });
  };
  // It is the kind alone that is wrong with the others.
  expect((await create('contains')).status).toBe(201);
  const tests = ['matches', 'regex', 'like', 'ilike', 'similar_to', 'jsonpath', 'ends_with_regex'];
  for (const is of tests) expectRefusal(await create(is), 'invalid_request');
});

test('a trap for engines that try again is answered at once', () => {
  const trap = ValueTest.parse({ is: 'contains', value: '(a+)+$' });
  const startedAt = processorMs();
  expect(holds(`${'a'.repeat(8_000)}!`, trap, TODAY)).toBe(false);
  expect(processorMs() - startedAt).toBeLessThan(1_000);
});

describe('statements', () => {
  test('the statements of both roles end after a time', async () => {
    const { deps, url } = database;
    for (const reached of [runtimeUrl(url, deps.keys), queueUrl(deps)]) {
      const client = new pg.Client({ connectionString: reached });
      await client.connect();
      const { rows } = await client.query<{ statement_timeout: string }>('show statement_timeout');
      await client.end();
      expect([new URL(reached).username, rows[0]?.statement_timeout]).toEqual([
        expect.any(String),
        `${ROLE_TIMEOUT_SECONDS / 60}min`,
      ]);
    }
  });
});
