import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..');
/** What is made or installed here, and is not the project. */
const NOT_COPIED = ['.git', '.trunkline', 'dist', 'node_modules'];

const run = promisify(execFile);

/** The tarball that `npm pack` makes, in a folder. Packed in a copy: package.json is another one meanwhile. */
export const pack = async (into: string): Promise<string> => {
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
