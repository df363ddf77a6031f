// The Console's files: `node src/runtime/console_build.ts` builds them; `make start` does when a source is newer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CONSOLE_FOLDER } from '../admin/admin.ts';

const SOURCES = join(import.meta.dirname, '..', 'console');
const PACKAGES = join(import.meta.dirname, '..', '..', 'package-lock.json');

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const findVite = (): string => {
  const manifest = createRequire(import.meta.url).resolve('vite/package.json');
  return join(dirname(manifest), 'bin', 'vite.js');
};

/** What a build made stays so long when it is not part of the newest: pages that are open still ask for it. */
const OLD_FILES_KEPT_MS = 24 * 3_600_000;

/**
 * Puts a build where it is served from, file by file and its page last: whoever loads the page meanwhile gets the old
 * one or the new one, whole. Several may do so at once.
 */
export const publishConsole = async (
  built: string,
  folder: string,
  now = Date.now(),
): Promise<void> => {
  const [from, to] = [join(built, 'assets'), join(folder, 'assets')];
  await mkdir(to, { recursive: true });
  const names = await readdir(from);
  for (const name of names) await rename(join(from, name), join(to, name));
  await rename(join(built, 'index.html'), join(folder, 'index.html'));
  for (const name of await readdir(to)) {
    const isOld = now - changedAt(join(to, name)) > OLD_FILES_KEPT_MS;
    if (isOld && !names.includes(name)) await rm(join(to, name), { force: true });
  }
};

const runVite = async (outDir: string): Promise<void> => {
  const config = join(SOURCES, 'vite.config.ts');
  const args = [findVite(), 'build', '--config', config, '--outDir', outDir, '--logLevel', 'warn'];
  // As it is served, whoever builds it: under a test runner it would be made for development, half as large again.
  const env = { ...process.env, NODE_ENV: 'production' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => said.push(String(chunk)));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (exitCode !== 0) throw new Error(`The Console could not be built:\n${said.join('')}`);
};

const BUILDING = 'building-';
/** Nobody builds for so long: whatever is older was left by a build that was killed. */
const BUILDING_MS_MAX = 3_600_000;

/** Removes what builds have left that were killed. One that is under way stays. */
export const removeKilled = async (parent: string, now = Date.now()): Promise<void> => {
  for (const name of await readdir(parent)) {
    const isKilled = now - changedAt(join(parent, name)) > BUILDING_MS_MAX;
    if (name.startsWith(BUILDING) && isKilled)
      await rm(join(parent, name), { recursive: true, force: true });
  }
};

/** Builds the Console into dist/console. Throws what the build said when it fails. */
export const buildConsole = async (): Promise<void> => {
  const parent = dirname(CONSOLE_FOLDER);
  await mkdir(parent, { recursive: true });
  await removeKilled(parent);
  const built = await mkdtemp(join(parent, BUILDING));
  const startedAt = new Date();
  try {
    await runVite(built);
    // As old as what it was made of: a source that was changed since is newer.
    await utimes(join(built, 'index.html'), startedAt, startedAt);
    await publishConsole(built, CONSOLE_FOLDER);
  } finally {
    await rm(built, { recursive: true, force: true });
  }
};

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
