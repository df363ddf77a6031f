// `make bench [only=ingest] [keep=yes]`: each figure beside what it is compared with, in the same run, interleaved.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { readHome } from '../../src/runtime/home.ts';
import { report } from './measure.ts';
import type { Comparison, Report } from './measure.ts';
import { automations } from './automations.ts';
import { backlog } from './backlog.ts';
import { bytes } from './bytes.ts';
import { commands } from './commands.ts';
import { consolePages } from './console.ts';
import { erase } from './erase.ts';
import { firstByte } from './first_byte.ts';
import { footprint } from './footprint.ts';
import { freshRuns } from './fresh_runs.ts';
import { growth } from './growth.ts';
import { ingest } from './ingest.ts';
import { neighbour } from './neighbour.ts';
import { priority } from './priority.ts';
import { processing } from './process.ts';
import { mergeResults, showResults } from './results.ts';
import { sdk } from './sdk.ts';
import { sending } from './sending.ts';
import { segments } from './segments.ts';
import { soak } from './soak.ts';

const scenarios: Record<string, () => Promise<Comparison[]>> = {
  ingest,
  bytes,
  processing,
  first_byte: firstByte,
  sending,
  backlog,
  priority,
  neighbour,
  growth,
  erase,
  console: consolePages,
  segments,
  automations,
  commands,
  fresh_runs: freshRuns,
  sdk,
  footprint,
  soak,
};
/** Takes ten minutes, so it runs when asked for. */
const ONLY_BY_NAME = ['soak'];

const GIBIBYTE = 2 ** 30;
const machine = [
  `${process.platform} ${process.arch}`,
  `${cpus().length} × ${cpus()[0]?.model.trim()}`,
  `${Math.round(totalmem() / GIBIBYTE)} GiB`,
  `Node ${process.version}`,
].join(', ');
const isKept = process.argv.includes('keep=yes');
const wanted = process.argv.slice(2).filter((name) => !name.startsWith('keep='));
const unknown = wanted.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  console.error(
    `There is no ${unknown.join(', ')}: there are ${Object.keys(scenarios).join(', ')}.`,
  );
  process.exit(2);
}
const reports: Report[] = [];

const RESULTS = join(import.meta.dirname, 'RESULTS.md');
const README = join(import.meta.dirname, '..', '..', 'README.md');

/** Of what was measured: a `+` where it is not what is committed. */
const currentCommit = (): string => {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src', 'db') && '+');
};

/** Writes the new rows into RESULTS.md, and their ratios into the README. */
const keep = async (rows: readonly Report[]): Promise<void> => {
  const date = new Date().toISOString().slice(0, 10);
  const occasion = { date, commit: currentCommit(), machine };
  const results = mergeResults(await readFile(RESULTS, 'utf8'), rows, occasion);
  await writeFile(RESULTS, results);
  await writeFile(README, showResults(await readFile(README, 'utf8'), results));
};

console.log(`${new Date().toISOString()}  ${machine}`);
for (const [name, run] of Object.entries(scenarios)) {
  if (!(wanted.length > 0 ? wanted.includes(name) : !ONLY_BY_NAME.includes(name))) continue;
  for (const comparison of await run()) {
    const line = report(comparison);
    reports.push(line);
    console.log(`
${line.name}
  measured    ${line.measured} ${line.unit}
  comparison  ${line.comparison} ${line.unit}   ${line.comparedWith}
  ratio       ${line.ratio}   ${line.verdict}`);
  }
}

const { folder } = readHome();
await mkdir(folder, { recursive: true });
const file = join(folder, 'bench.json');
await writeFile(
  file,
  `${JSON.stringify({ at: new Date().toISOString(), machine, reports }, null, 2)}\n`,
);
console.log(`\nalso in ${file}`);
if (isKept) await keep(reports);
process.exit(0);
