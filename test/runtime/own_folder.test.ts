// Folders that other users of the machine have put where ours would be.
import { existsSync, readlinkSync, statSync } from 'node:fs';
import { chmod, chown, lchown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keepSecrets } from '../../src/runtime/home.ts';
import { checkOwnFolder, findIntrusion } from '../../src/runtime/own_folder.ts';
import { clearLeftovers, makeFolder } from '../../src/runtime/scratch_leftovers.ts';
import { OTHER_USER, whyNoOtherUser } from '../support/other_user.ts';

let place: string;
const made: string[] = [];
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'own-folder-'));
  made.push(place);
});
afterEach(async () => {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const isRoot = process.getuid?.() === 0;

test('a folder of our own, that others cannot write to, is used', async () => {
  await chmod(place, 0o755);
  expect(await findIntrusion(place)).toBeNull();
});

test.each([
  [0o775, 'group'],
  [0o757, 'all'],
  [0o777, 'all'],
])('a folder that others may write to (%o: %s) is refused', async (mode) => {
  await chmod(place, mode);
  await expect(checkOwnFolder(place)).rejects.toThrow('other users may write to it');
});

test('a link is refused, wherever it leads', async () => {
  const link = join(place, 'link');
  await symlink(tmpdir(), link);
  await expect(checkOwnFolder(link)).rejects.toThrow('it is not a folder');
});

test('a folder of another user is refused', async ({ skip }) => {
  const whyNot = await whyNoOtherUser();
  skip(whyNot !== null, whyNot ?? '');
  await chown(place, OTHER_USER, OTHER_USER);
  await expect(checkOwnFolder(place)).rejects.toThrow(`another user (uid ${OTHER_USER})`);
});

describe('the folder of an installation', () => {
  test('is closed to other users, and so are its secrets, whatever they were before', async () => {
    const home = { folder: join(place, 'home') };
    await keepSecrets(home);
    const secrets = join(home.folder, 'secrets.json');
    expect([modeOf(home.folder), modeOf(secrets)]).toEqual([isRoot ? '711' : '700', '600']);
    await chmod(home.folder, 0o777);
    await chmod(secrets, 0o644);
    await keepSecrets(home);
    expect([modeOf(home.folder), modeOf(secrets)]).toEqual([isRoot ? '711' : '700', '600']);
  });

  test('of another user is not used: the secrets would be theirs', async ({ skip }) => {
    const whyNot = await whyNoOtherUser();
    skip(whyNot !== null, whyNot ?? '');
    const folder = join(place, 'home');
    await mkdir(folder);
    await chown(folder, OTHER_USER, OTHER_USER);
    await expect(keepSecrets({ folder })).rejects.toThrow(/TRUNKLINE_HOME.*another user/);
    await rm(folder, { recursive: true });
    await symlink(place, folder);
    await lchown(folder, OTHER_USER, OTHER_USER);
    await expect(keepSecrets({ folder })).rejects.toThrow(/TRUNKLINE_HOME.*another user/);
  });

  test('with data and without its secrets says what to do, and makes no new ones', async () => {
    const folder = join(place, 'home');
    await mkdir(join(folder, 'postgres'), { recursive: true });
    await writeFile(join(folder, 'postgres', 'PG_VERSION'), '18\n');
    await chmod(place, 0o755);
    await expect(keepSecrets({ folder })).rejects.toThrow(
      /secrets\.json is missing.*Restore the file.*make db-reset/s,
    );
    expect(existsSync(join(folder, 'secrets.json'))).toBe(false);
  });

  test('of an older version gets a password for Postgres, and keeps every other secret', async () => {
    const home = { folder: join(place, 'home') };
    const { postgres_password: _, ...older } = await keepSecrets(home);
    await writeFile(join(home.folder, 'secrets.json'), JSON.stringify(older));
    const completed = await keepSecrets(home);
    expect(completed).toEqual({
      ...older,
      postgres_password: expect.stringMatching(/^[\w-]{32}$/),
    });
    expect(await keepSecrets(home)).toEqual(completed);
  });
});

/** Of a process that is gone, as far as this machine can tell. */
const GONE_PID = 2 ** 22;

describe('folders that servers of tests left behind', () => {
  const leave = async (folder: string, more: Record<string, string> = {}): Promise<void> => {
    const pids = existsSync('/proc/self/ns/pid') ? readlinkSync('/proc/self/ns/pid') : '';
    await writeFile(join(folder, 'owner.json'), JSON.stringify({ pid: GONE_PID, pids, ...more }));
  };

  test('ours is deleted', async () => {
    const { folder } = await makeFolder();
    made.push(folder);
    await leave(folder);
    await clearLeftovers();
    expect(existsSync(folder)).toBe(false);
  });

  test('what another user has left says nothing about what we delete', async ({ skip }) => {
    const whyNot = await whyNoOtherUser();
    skip(whyNot !== null, whyNot ?? '');
    const precious = join(place, 'precious');
    await mkdir(precious);
    const { folder } = await makeFolder();
    made.push(folder);
    await leave(folder, { dir: precious });
    await chown(folder, OTHER_USER, OTHER_USER);
    await clearLeftovers();
    expect([existsSync(precious), existsSync(folder)]).toEqual([true, true]);
  });

  test('a file in it names nothing else to delete', async () => {
    const precious = join(place, 'precious');
    await mkdir(precious);
    const { folder } = await makeFolder();
    made.push(folder);
    await leave(folder, { dir: precious });
    await clearLeftovers();
    expect([existsSync(precious), existsSync(folder)]).toEqual([true, false]);
  });
});
