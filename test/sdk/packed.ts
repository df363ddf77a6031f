import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** What is made or installed here, and is not the project. */
const NOT_COPIED = ['.git', '.trunkline', 'dist', 'node_modules'];
/** Less than those who ask for it have time. */
const PACKED_WITHIN_MS = 110_000;

const run = promisify(execFile);

/** Packed in a copy: package.json is another one meanwhile. Answers the tarball. */
const packInto = async (into: string): Promise<string> => {
  const copy = await mkdtemp(join(tmpdir(), 'trunkline-packed-'));
  try {
    const filter = (path: string) => !NOT_COPIED.includes(relative(ROOT, path));
    await cp(ROOT, copy, { recursive: true, filter });
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', into], {
      cwd: copy,
    });
    return join(into, /"filename": "([^"]+)"/.exec(stdout)?.[1] ?? '');
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
};

/**
 * The tarball that `npm pack` makes: once for a run, by whoever asks first. Whoever asks meanwhile waits for it, and
 * hears what went wrong.
 */
export const pack = async (): Promise<string> => {
  const folder = inject('runFolder');
  const [tarball, failure] = [join(folder, 'trunkline.tgz'), join(folder, 'not_packed')];
  const isFirst = await mkdir(join(folder, 'packing')).then(
    () => true,
    () => false,
  );
  if (isFirst)
    await packInto(join(folder, 'packing')).then(
      (made) => rename(made, tarball),
      (error: unknown) => writeFile(failure, String(error)),
    );
  else
    await until('it is packed', () => existsSync(tarball) || existsSync(failure), PACKED_WITHIN_MS);
  if (existsSync(failure)) throw new Error(`npm pack: ${readFileSync(failure, 'utf8')}`);
  return tarball;
};
