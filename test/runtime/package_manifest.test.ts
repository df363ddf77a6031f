// The package.json that is packed stands in for the service's own, and always goes again.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeLean, putBack, toLean } from '../../src/runtime/package_manifest.ts';

const WHOLE = {
  name: 'a',
  version: '1.0.0',
  private: true,
  type: 'module',
  engines: { node: '>=26' },
  exports: { './server': './server.js' },
  files: ['dist'],
  scripts: { postinstall: 'do things' },
  dependencies: { koa: '3.0.0', '@trpc/server': '11.1.0' },
};
const LONG_AGO = new Date('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const run = promisify(execFile);

let root: string;
const read = async () => JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'trunkline-manifest-'));
  await writeFile(join(root, 'package.json'), JSON.stringify(WHOLE));
  await utimes(join(root, 'package.json'), LONG_AGO, LONG_AGO);
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('the lean one has what the SDKs are, and nothing of what the service needs', async () => {
  await makeLean(root);
  expect(await read()).toEqual(toLean(WHOLE));
  expect(toLean(WHOLE)).toMatchObject({ name: 'a', type: 'module', engines: { node: '>=18' } });
  for (const name of ['dependencies', 'scripts']) expect(toLean(WHOLE)).not.toHaveProperty(name);
});

test('the service’s own comes back as it was, and as old', async () => {
  await makeLean(root);
  await putBack(root);
  expect(await read()).toEqual(WHOLE);
  expect((await stat(join(root, 'package.json'))).mtime).toEqual(LONG_AGO);
});

test('who packs at the same time waits for the other', async () => {
  await makeLean(root);
  const order: string[] = [];
  const second = makeLean(root).then(() => order.push('second'));
  order.push('first is back');
  await putBack(root);
  await second;
  expect(order).toEqual(['first is back', 'second']);
  await putBack(root);
  expect(await read()).toEqual(WHOLE);
});

test('what npm leaves that is killed before postpack is put back by itself', async () => {
  const script = join(root, 'src', 'runtime', 'package_manifest.ts');
  await mkdir(dirname(script), { recursive: true });
  await copyFile(join(import.meta.dirname, '../../src/runtime/package_manifest.ts'), script);
  const anHourOn = `const now = Date.now; Date.now = () => now() + ${HOUR_MS};`;
  await writeFile(join(root, 'late.mjs'), anHourOn);
  const env = { NODE_OPTIONS: `--import=${join(root, 'late.mjs')}` };
  await run(process.execPath, [script, 'lean'], { env });
  await expect.poll(read).toEqual(WHOLE);
  expect((await stat(join(root, 'package.json'))).mtime).toEqual(LONG_AGO);
});

test('what somebody left who was stopped is cleared up, and what was changed since is kept', async () => {
  const later = () => Date.now() + HOUR_MS;
  await makeLean(root);
  await makeLean(root, later);
  await putBack(root);
  expect(await read()).toEqual(WHOLE);

  await makeLean(root);
  await writeFile(join(root, 'package.json'), JSON.stringify({ ...WHOLE, version: '2.0.0' }));
  await makeLean(root, later);
  await putBack(root);
  expect(await read()).toMatchObject({ version: '2.0.0', scripts: WHOLE.scripts });
});
