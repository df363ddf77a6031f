import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRoot } from './relay_folder.ts';

/** Only one package with a mail server can be installed: Postfix is unpacked beside Exim, and nothing starts it. */
const UNPACKED = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'postfix');
/** `saslpasswd2` keeps the accounts, and the modules check them. */
const PACKAGES = ['postfix', 'sasl2-bin', 'libsasl2-modules', 'libsasl2-modules-db'];

const hasPostfix = (root: string): boolean =>
  ['usr/lib/postfix/sbin/master', 'usr/sbin/saslpasswd2'].every((file) =>
    existsSync(join(root, file)),
  );

/** The folder that `usr` with Postfix is in, or null. Its master process needs root. */
export const findPostfix = (): string | null =>
  isRoot ? (['/', UNPACKED].find(hasPostfix) ?? null) : null;

/** Folders with libraries of the unpacked packages: some may be missing on this machine, too. */
export const librariesOf = (root: string): string[] => {
  const folders = readdirSync(join(root, 'usr', 'lib')).filter((name) => name.includes('-linux-'));
  return ['postfix', ...folders].map((name) => join(root, 'usr', 'lib', name));
};

/** Names the packages that apt would install now: what is here already is not unpacked again. */
const listMissing = (): string[] => {
  const args = ['install', '-s', '--no-install-recommends', ...PACKAGES];
  const { stdout } = spawnSync('apt-get', args, { encoding: 'utf8' });
  return (stdout ?? '').split('\n').flatMap((line) => /^Inst (\S+)/.exec(line)?.[1] ?? []);
};

/** Downloads Debian's packages and unpacks them into a folder of this checkout. Returns whether Postfix is here. */
export const unpackPostfix = (): boolean => {
  if (!isRoot) return false;
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-packages-'));
  try {
    execFileSync('apt-get', ['download', '-qq', ...listMissing()], { cwd: folder, stdio: 'pipe' });
    mkdirSync(UNPACKED, { recursive: true });
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
      execFileSync('dpkg-deb', ['-x', join(folder, file), UNPACKED]);
    return findPostfix() !== null;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
