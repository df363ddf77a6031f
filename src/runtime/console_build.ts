// The Console's files: `node src/runtime/console_build.ts` builds them; `make start` does when a source is newer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CONSOLE_FOLDER } from '../admin/admin.ts';

const SOURCES = join(import.meta.dirname, '..', 'console');
const PACKAGES = join(import.meta.dirname, '..', '..', 'package-lock.json');

const findVite = (): string => {
  const manifest = createRequire(import.meta.url).resolve('vite/package.json');
  return join(dirname(manifest), 'bin', 'vite.js');
};

/** Builds the Console into dist/console. Throws what the build said when it fails. */
export const buildConsole = async (): Promise<void> => {
  const args = [
    findVite(),
    'build',
    '--config',
    join(SOURCES, 'vite.config.ts'),
    '--logLevel',
    'warn',
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => said.push(String(chunk)));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (exitCode !== 0) throw new Error(`The Console could not be built:\n${said.join('')}`);
};

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether the built page is there and no source is newer. */
export const isConsoleBuilt = (): boolean => {
  const builtAt = changedAt(join(CONSOLE_FOLDER, 'index.html'));
  const sources = globSync('**/*', { cwd: SOURCES }).map((file) => join(SOURCES, file));
  return [PACKAGES, ...sources].every((file) => changedAt(file) <= builtAt);
};

/** Builds the Console when that is needed. */
export const keepConsole = async (): Promise<void> => {
  if (!isConsoleBuilt()) await buildConsole();
};

if (import.meta.main) await buildConsole();
