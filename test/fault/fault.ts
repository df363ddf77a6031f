// `make fault [for=5m] [seed=…] [only=F10]`: the service under load and faults, then judged by every invariant.
import { z } from 'zod';
import { faults, schedules } from './faults.ts';
import type { Fault } from './faults.ts';
import type { Inject } from './injections.ts';
import { report } from './report.ts';
import { run } from './run.ts';
import { sayElsewhere } from './shown_elsewhere.ts';

const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };
const SEED_END = 2 ** 32;

const Options = z.strictObject({
  for: z
    .string()
    .regex(/^\d+[smh]$/, 'a time such as 90s, 5m or 1h')
    .default('5m')
    .transform((text) => Number(text.slice(0, -1)) * (UNITS_MS[text.slice(-1)] ?? 0)),
  seed: z.coerce
    .number()
    .int()
    .min(0)
    .max(SEED_END - 1)
    .default(() => Math.floor(Math.random() * SEED_END)),
  only: z
    .string()
    .default(faults.map(({ id }) => id).join())
    .transform((names) => names.split(',').flatMap((name) => schedules[name] ?? [name]))
    .refine(
      (names) => names.every((name) => faults.some(({ id }) => id === name)),
      `of ${faults.map(({ id }) => id).join()}, or ${Object.keys(schedules).join()}`,
    ),
});

const given = process.argv
  .slice(2)
  .map((arg) => arg.split('='))
  .filter(([, value]) => value !== undefined && value !== '');
const read = Options.safeParse(Object.fromEntries(given));
if (!read.success) {
  for (const { path, message } of read.error.issues) console.error(`${path.join('.')}: ${message}`);
  process.exit(2);
}
const options = { ...read.data, isNamed: given.some(([name]) => name === 'only') };

const isWanted = ({ id }: Fault): boolean => options.only.includes(id);
const canRun = (fault: Fault): fault is Fault & { how: string; inject: readonly Inject[] } =>
  'inject' in fault;
const runnable = faults.filter(isWanted).filter(canRun);
if (runnable.length === 0) {
  for (const fault of faults.filter(isWanted))
    console.log(`${fault.id} ${fault.name}: ${'elsewhere' in fault ? sayElsewhere(fault) : ''}`);
  console.log(
    `nothing to run; there are ${faults
      .filter(canRun)
      .map(({ id }) => id)
      .join()}`,
  );
  process.exit(1);
}

console.log(
  `seed=${options.seed}, for ${options.for / 1_000} s: ${runnable.map(({ id }) => id).join()}`,
);
const ran = await run({ seed: options.seed, forMs: options.for, faults: runnable });
const holds = report(ran, faults.filter(isWanted));
const lacking = runnable.filter(({ id }) => (ran.injected.get(id)?.times ?? 0) === 0);
const said = `${runnable.length - lacking.length} of ${runnable.length} faults came about`;
console.log(`\n${holds ? 'everything held' : 'BROKEN'}; ${said}   seed=${options.seed}`);
const only = options.isNamed ? ` only=${options.only.join()}` : '';
console.log(`the same again: make fault for=${options.for / 1_000}s seed=${options.seed}${only}`);
// Who names a fault wants to know how it goes, also where the time was over before its turn.
const isLacking = options.isNamed && lacking.length > 0;
if (isLacking) console.log(`not come about: ${lacking.map(({ id }) => id).join()}`);
process.exit(holds && !isLacking ? 0 : 1);
