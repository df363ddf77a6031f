// Everything that a change must pass, step by step: `make check`. Ends with the tests' summary.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** So many lines are said of each failure at the end. */
const LINES_SAID = 6;
/** In a folder of its own: a name that another user can guess is theirs to create first. */
const FOLDER = mkdtempSync(join(tmpdir(), 'trunkline-check-'));
const REPORT = join(FOLDER, 'tests.json');
process.on('exit', () => rmSync(FOLDER, { recursive: true, force: true }));

const steps: [name: string, command: string, args: string[]][] = [
  ['types', 'tsc', ['-p', '.']],
  ['types of the Console', 'tsc', ['-p', 'src/console']],
  ['types of the browser SDK', 'tsc', ['-p', 'src/sdk/browser']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['packages', 'node', ['test/audit.ts']],
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

/** What vitest's JSON reporter writes, as far as it is read here. */
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: {
    name: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
};

/** Of what is said of a failure, its first lines without the places in the code. */
const gistOf = (message = ''): string => {
  const lines = stripVTControlCharacters(message).split('\n');
  const said = lines.filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  return said.slice(0, LINES_SAID).join('\n    ');
};

/** What each test, and each file, that failed says of it: the last thing a reader of a long log sees. */
const failuresOf = ({ testResults }: Report): string[] =>
  testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(import.meta.dirname, name);
    const tests = assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${fullName}: ${gistOf(failureMessages?.[0])}`);
    if (message !== '') tests.push(gistOf(message));
    return tests.map((line) => `✗ ${file}: ${line}`);
  });

const summarise = (): string => {
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = report;
  const counts = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return [...failuresOf(report), counts].join('\n');
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
