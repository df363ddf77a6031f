// The openspf test suite for RFC 7208, whole and as its authors wrote it: `make test-spf`. Fetches the source package
// of pyspf, which holds it. `keep=yes` writes the facts of its cases into the repository.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  FACTS,
  readSuite,
  runSuite,
  describeResult,
  toFacts,
} from './providers/domain_health/openspf.ts';

const VERSION = '2.0.14';
const SHA256 = '57a7ef01bda090173aafb6af0106251686ed73f03db4e911fcd34c57fc347186';
const SUITE = `pyspf-${VERSION}/test/rfc7208-tests.yml`;

const run = (command: string, args: string[]): void => {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (error || status !== 0) throw new Error(`${command} ${args.join(' ')} failed. It is needed.`);
};

/** Fetches the package, checked by its digest, and returns the text of the suite. */
const fetchSuite = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-spf-'));
  try {
    const wanted = join(folder, 'requirements.txt');
    writeFileSync(wanted, `pyspf==${VERSION} --hash=sha256:${SHA256}\n`);
    const source = ['--no-deps', '--no-binary', ':all:', '--require-hashes'];
    run('python3', ['-m', 'pip', 'download', '--quiet', ...source, '-r', wanted, '-d', folder]);
    run('tar', ['-xzf', join(folder, `pyspf-${VERSION}.tar.gz`), '-C', folder, SUITE]);
    return readFileSync(join(folder, SUITE), 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const scenarios = readSuite(fetchSuite());
const result = await runSuite(scenarios);
console.log(describeResult(result));
const facts = toFacts(scenarios);
if (process.argv.includes('keep=yes')) {
  writeFileSync(FACTS, JSON.stringify(facts));
  run('prettier', ['--write', FACTS]);
} else {
  const isKept = JSON.stringify(JSON.parse(readFileSync(FACTS, 'utf8'))) === JSON.stringify(facts);
  console.log(isKept ? 'The facts in the repository are those of the suite.' : 'They differ.');
  if (!isKept) process.exitCode = 1;
}
if (result.failed.length > 0) process.exitCode = 1;
