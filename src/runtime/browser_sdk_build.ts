// The browser SDK: `node src/runtime/browser_sdk_build.ts` builds it; `make start` does when a source is newer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { SDK_FOLDER, SDK_SCRIPT } from '../base/sdk_folder.ts';

const SOURCES = join(import.meta.dirname, '..', 'sdk', 'browser');
const PACKAGES = join(import.meta.dirname, '..', '..', 'package-lock.json');
const MODULE = join('browser', 'browser.js');

/** What browsers of the last years run as it is. */
const TARGET = 'es2021';

type Format = { entry: string; format: 'iife' | 'es' };

/** Puts what an entry needs into one file. */
const bundle = async ({ entry, format }: Format): Promise<string> => {
  const { build } = await import('vite');
  const [built] = (await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      target: TARGET,
      write: false,
      minify: true,
      lib: { entry: join(SOURCES, entry), formats: [format], name: 'script' },
    },
  })) as { output: { code: string }[] }[];
  const [chunk] = built?.output ?? [];
  if (!chunk) throw new Error(`${entry} could not be built`);
  return chunk.code;
};

/** Writes the declarations of the module and of what it names. */
const declare = async (folder: string): Promise<void> => {
  const tsc = createRequire(import.meta.url).resolve('typescript/package.json');
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly'];
  const args = [join(dirname(tsc), 'bin', 'tsc'), '-p', SOURCES, ...options, '--outDir', folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  child.stdout.on('data', (chunk) => said.push(String(chunk)));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (exitCode !== 0) throw new Error(`The browser SDK has type errors:\n${said.join('')}`);
};

/** Builds the SDK into dist/sdk, file by file, so that whoever loads one meanwhile gets it whole. */
export const buildBrowserSdk = async (folder = SDK_FOLDER): Promise<void> => {
  await mkdir(join(folder, 'browser'), { recursive: true });
  // Beside it, where the Console's build removes what was killed.
  const made = await mkdtemp(join(dirname(folder), 'building-'));
  const startedAt = new Date();
  try {
    await mkdir(join(made, 'browser'));
    await declare(join(made, 'browser'));
    await writeFile(join(made, MODULE), await bundle({ entry: 'browser.ts', format: 'es' }));
    await writeFile(join(made, SDK_SCRIPT), await bundle({ entry: 'script.ts', format: 'iife' }));
    // As old as what it was made of: a source that was changed since is newer.
    await utimes(join(made, SDK_SCRIPT), startedAt, startedAt);
    for (const name of await readdir(join(made, 'browser')))
      await rename(join(made, 'browser', name), join(folder, 'browser', name));
    await rename(join(made, SDK_SCRIPT), join(folder, SDK_SCRIPT));
  } finally {
    await rm(made, { recursive: true, force: true });
  }
};

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Builds it when a source is newer than the build. */
export const keepBrowserSdk = async (): Promise<void> => {
  const builtAt = changedAt(join(SDK_FOLDER, SDK_SCRIPT));
  const sources = globSync('**/*', { cwd: SOURCES }).map((file) => join(SOURCES, file));
  if ([PACKAGES, ...sources].some((file) => changedAt(file) > builtAt)) await buildBrowserSdk();
};

if (import.meta.main) await buildBrowserSdk();
