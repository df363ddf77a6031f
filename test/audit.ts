// `make audit`, and a step of `make check`: what the registry knows of the packages that the lock file names.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const TIMEOUT_MS = 60_000;
/** A registry that does not answer at once is not waited for: the same check runs again with the next change. */
const IN_A_HURRY = ['--fetch-retries=0', '--fetch-timeout=15000', '--json'];
/** What fails the check where packages of the running service have it. */
const SERIOUS = ['high', 'critical'];

type Weakness = { name: string; severity: string; range?: string };
type Said = {
  vulnerabilities?: Record<string, Weakness>;
  invalid?: { name: string; version: string }[];
  missing?: unknown[];
  message?: string;
  error?: { summary?: string; code?: string };
};

const ask = (...args: string[]): Said => {
  const { error, stdout, stderr } = spawnSync('npm', ['audit', ...args, ...IN_A_HURRY], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    maxBuffer: 64 * 1024 ** 2,
  });
  if (error) return { message: error.message };
  try {
    return JSON.parse(stdout) as Said;
  } catch {
    return { message: stderr.trim().split('\n', 1)[0] ?? '' };
  }
};

const reasonOf = ({ message, error }: Said): string =>
  message || error?.summary || error?.code || 'it said nothing that npm understands';

const describe = ({ name, severity, range = '' }: Weakness): string =>
  `  ${severity}: ${name} ${range}`.trimEnd();

/** Says what is known of the packages, and returns the serious weaknesses of those that the service runs with. */
const findWeaknesses = (): string[] => {
  const [running, all] = [ask('--omit=dev', '--package-lock-only'), ask('--package-lock-only')];
  if (!running.vulnerabilities) {
    console.log(`not audited: the registry does not answer the audit: ${reasonOf(running)}`);
    return [];
  }
  const known = Object.values(running.vulnerabilities);
  const more = Object.keys(all.vulnerabilities ?? {}).length - known.length;
  console.log(`${known.length} weaknesses in packages of the service, ${more} in tools`);
  return known.filter(({ severity }) => SERIOUS.includes(severity)).map(describe);
};

/** Says whether the registry signed what is installed, and returns packages with a wrong signature. */
const findForged = (): string[] => {
  const said = ask('signatures');
  if (!said.invalid) {
    console.log(`signatures not checked: ${reasonOf(said)}`);
    return [];
  }
  console.log(`${said.invalid.length} wrong signatures, ${said.missing?.length ?? 0} missing`);
  return said.invalid.map(({ name, version }) => `  wrong signature: ${name} ${version}`);
};

const found = [...findWeaknesses(), ...findForged()];
if (found.length > 0) {
  console.error(`${found.join('\n')}\nUpdate these packages, or replace them.`);
  process.exitCode = 1;
}
