// `make bench [only=ingest]`: each figure beside what it is compared with, in the same run, interleaved.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { readHome } from '../../src/runtime/home.ts';
import { report } from './measure.ts';
import type { Comparison } from './measure.ts';
import { automations } from './automations.ts';
import { bytes } from './bytes.ts';
import { erase } from './erase.ts';
import { firstByte } from './first_byte.ts';
import { growth } from './growth.ts';
import { ingest } from './ingest.ts';
import { neighbour } from './neighbour.ts';
import { processing } from './process.ts';
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
  neighbour,
  growth,
  erase,
  segments,
  automations,
  sdk,
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
const wanted = process.argv.slice(2);
const reports = [];
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
process.exit(0);
