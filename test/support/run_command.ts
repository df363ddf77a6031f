import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

export type Ran = { status: number | null; stdout: string; stderr: string };

/** Runs a command-line tool of src to its end, as make would, with these settings besides its own. */
export const runCommand = (file: string, args: string[], env: Record<string, string>): Ran => {
  const options = { env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  return spawnSync('node', [join(ROOT, file), ...args], options);
};
