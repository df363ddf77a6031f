// The cases of the openspf test suite for RFC 7208, from their facts. `make test-spf` runs the suite itself.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FACTS, runCase, runSuite, describeResult } from './openspf.ts';
import type { Scenario } from './openspf.ts';

const scenarios = JSON.parse(readFileSync(FACTS, 'utf8')) as Scenario[];

describe.each(scenarios)('$name', ({ zone, cases }) => {
  test.each(cases)('$id', async (one) => {
    expect(one.results).toContain(await runCase(zone, one));
  });
});

test('all 203 cases are here, and the count is printed', async () => {
  const result = await runSuite(scenarios);
  console.log(describeResult(result));
  expect(result).toEqual({ run: 203, failed: [] });
});

test('a case that fails is counted and named', async () => {
  const [first] = scenarios;
  const wrong = first?.cases.slice(0, 1).map((one) => ({ ...one, results: ['pass'] })) ?? [];
  const result = await runSuite([{ name: 'a', zone: first?.zone ?? {}, cases: wrong }]);
  expect(result).toMatchObject({ run: 1, failed: [expect.stringContaining('a: toolonglabel')] });
});
