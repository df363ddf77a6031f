// Everything that a change must pass, step by step: `make check`. Ends with the tests' summary.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const REPORT = join(tmpdir(), `trunkline-tests-${process.pid}.json`);

const steps: [name: string, command: string, args: string[]][] = [
  ['types', 'tsc', ['-p', '.']],
  ['types of the Console', 'tsc', ['-p', 'src/console']],
  ['types of the browser SDK', 'tsc', ['-p', 'src/sdk/browser']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['format', 'prettier', ['--check', '--log-level=warn', '.']],
  ['generated files', 'node', ['src/runtime/schema.ts', 'dump']],
  [
    'generated files are committed',
    'git',
    ['diff', '--exit-code', '--stat', '--', 'db/schema.sql'],
  ],
  [
    'tests',
    'vitest',
    [
      'run',
      '--config',
      'test/vitest.config.ts',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${REPORT}`,
    ],
  ],
];

type Report = { numPassedTests: number; numFailedTests: number; numPendingTests: number };

const summarise = (): string => {
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
  rmSync(REPORT);
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = report;
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
};

for (const [name, command, args] of steps) {
  const startedAt = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  const took = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${status === 0 ? '✓' : '✗'} ${name} (${took} s)`);
  if (status === 0) continue;
  if (name === 'tests') console.log(summarise());
  process.exit(status ?? 1);
}
console.log(summarise());
