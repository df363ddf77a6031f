// The package.json that is packed: `prepack` puts it in the place of the service's own, `postpack` takes it out again.
// Who installs the SDKs gets what they need, which is nothing, and not what the service runs on.
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '..', '..');

/** Nobody packs for so long: what is older was left by somebody who was stopped. */
const PACKING_MS_MAX = 60_000;
const LOOK_AGAIN_MS = 100;

type Manifest = Record<string, unknown>;
const KEPT = ['name', 'version', 'description', 'license', 'private', 'type', 'exports', 'files'];

/** What the SDKs and the command line say of themselves. Only who uses `trunkline/admin` needs tRPC, and has it. */
export const toLean = (whole: Manifest): Manifest => {
  const { '@trpc/server': version } = whole['dependencies'] as Record<string, string>;
  const peers = ['@trpc/client', '@trpc/server'];
  return {
    ...Object.fromEntries(KEPT.filter((name) => name in whole).map((name) => [name, whole[name]])),
    // Not in the service's own: there `npx trunkline` would install the whole of it into a cache first.
    bin: { trunkline: 'dist/sdk/cli/trunkline.js' },
    engines: { node: '>=18' },
    peerDependencies: Object.fromEntries(peers.map((name) => [name, `^${version}`])),
    peerDependenciesMeta: Object.fromEntries(peers.map((name) => [name, { optional: true }])),
  };
};

const toText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;
const read = async (file: string): Promise<Manifest> =>
  JSON.parse(await readFile(file, 'utf8')) as Manifest;

const filesOf = (root: string) => ({
  manifest: join(root, 'package.json'),
  /** The service's own, while another is in its place. */
  whole: join(root, 'dist', 'package.json'),
});

/** Puts the service's own back, as old as it was: whoever is built from it is not older now. */
export const putBack = async (root = ROOT): Promise<void> => {
  const { manifest, whole } = filesOf(root);
  await rename(whole, manifest);
};

/** Somebody else may be as quick. */
const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const clearUp = async (root: string): Promise<void> => {
  const { manifest, whole } = filesOf(root);
  const isLean = toText(toLean(await read(whole))) === (await readFile(manifest, 'utf8'));
  await (isLean ? putBack(root) : rm(whole));
};

/** Waits while somebody packs; clears up after one who was stopped. */
export const awaitTurn = async (root = ROOT, now = Date.now): Promise<void> => {
  for (;;) {
    const found = await stat(filesOf(root).whole).catch(() => null);
    if (!found) return;
    // Changed when it was put there, whatever it says of itself.
    if (now() - found.ctimeMs > PACKING_MS_MAX)
      await clearUp(root).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
    else await wait(LOOK_AGAIN_MS);
  }
};

/** Sees to it that the service's own comes back whatever becomes of who packs: npm may be killed before `postpack`. */
const keepWatch = (): void => {
  const args = [import.meta.filename, 'watch'];
  spawn(process.execPath, args, { detached: true, stdio: 'ignore', cwd: tmpdir() }).unref();
};

/** Puts the lean one in its place, whole at every moment for whoever reads it. */
export const makeLean = async (root = ROOT, now = Date.now): Promise<void> => {
  const { manifest, whole } = filesOf(root);
  await mkdir(join(root, 'dist'), { recursive: true });
  for (;;) {
    await awaitTurn(root, now);
    try {
      await copyFile(manifest, whole, constants.COPYFILE_EXCL);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  const { atime, mtime } = await stat(manifest);
  await utimes(whole, atime, mtime);
  await writeFile(`${manifest}.lean`, toText(toLean(await read(manifest))));
  await rename(`${manifest}.lean`, manifest);
};

const STEPS: Record<string, () => Promise<void>> = {
  lean: async () => {
    await makeLean();
    keepWatch();
  },
  watch: awaitTurn,
  whole: putBack,
};

if (import.meta.main) await STEPS[process.argv[2] ?? 'whole']?.();
