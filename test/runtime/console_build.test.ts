import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishConsole, removeKilled } from '../../src/runtime/console_build.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trunkline-console-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A build whose page names its scripts. */
const buildOf = async (names: readonly string[]): Promise<string> => {
  const built = await mkdtemp(join(root, 'building-'));
  await mkdir(join(built, 'assets'));
  for (const name of names) await writeFile(join(built, 'assets', name), name);
  await writeFile(join(built, 'index.html'), names.join(' '));
  return built;
};

test('whoever loads the page while it is built again, by several at once, finds all that it names', async () => {
  const folder = join(root, 'served');
  await publishConsole(await buildOf(['first.js', 'shared.js']), folder);
  let isOver = false;
  const look = async (): Promise<number> => {
    let looks = 0;
    for (; !isOver; looks += 1) {
      const page = await readFile(join(folder, 'index.html'), 'utf8');
      for (const name of page.split(' '))
        expect(await readFile(join(folder, 'assets', name), 'utf8')).toBe(name);
    }
    return looks;
  };
  const looking = look();
  for (let round = 0; round < 20; round += 1) {
    const builds = [
      [`a-${round}.js`, 'shared.js'],
      [`b-${round}.js`, 'shared.js'],
    ].map(buildOf);
    await Promise.all((await Promise.all(builds)).map((built) => publishConsole(built, folder)));
  }
  isOver = true;
  expect(await looking).toBeGreaterThan(0);
});

test('what no page names any more goes after a day', async () => {
  const folder = join(root, 'aging');
  await publishConsole(await buildOf(['old.js', 'shared.js']), folder);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  await utimes(join(folder, 'assets', 'old.js'), yesterday, yesterday);
  await publishConsole(await buildOf(['younger.js', 'shared.js']), folder);
  await publishConsole(await buildOf(['new.js', 'shared.js']), folder);
  expect((await readdir(join(folder, 'assets'))).toSorted()).toEqual([
    'new.js',
    'shared.js',
    'younger.js',
  ]);
  expect(existsSync(join(folder, 'index.html'))).toBe(true);
});

test('what a build has left that was killed goes after an hour; one that is under way stays', async () => {
  const parent = await mkdtemp(join(root, 'parent-'));
  const anHourAgo = new Date(Date.now() - 3_601_000);
  for (const name of ['building-killed', 'building-now', 'console']) {
    await mkdir(join(parent, name, 'assets'), { recursive: true });
    await writeFile(join(parent, name, 'index.html'), name);
    if (name !== 'building-now') await utimes(join(parent, name), anHourAgo, anHourAgo);
  }
  await removeKilled(parent);
  expect((await readdir(parent)).toSorted()).toEqual(['building-now', 'console']);
});
