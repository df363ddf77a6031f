// What a disk says no to: what is in the way is named, with what to do, and nothing hangs.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import {
  fromDisk,
  makeFolder,
  onDisk,
  readFolder,
  writeFolder,
} from '../../src/admin/folder/disk.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const { trunkline } = testCli(database, api);
const place = mkdtempSync(join(tmpdir(), 'trunkline-disk-'));
afterAll(() => rmSync(place, { recursive: true }));

const FILES = new Map([['templates/a.html', 'x']]);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(place, 'crm-'));
});
const inWay = (path: string, code: string) => `${path} (${code}): `;

test('folders are made with those above them, and what is there stays', () => {
  const deep = join(folder, 'a', 'b', 'crm');
  writeFolder(deep, FILES);
  writeFolder(deep, FILES);
  expect(readFileSync(join(deep, 'templates', 'a.html'), 'utf8')).toBe('x');
  makeFolder(join(folder, 'own', 'only'), 0o700);
  for (const path of ['own', join('own', 'only')])
    expect(statSync(join(folder, path)).mode & 0o777).toBe(0o700);
});

test('where a system lets nobody make a folder it says so, and ends', async ({ skip }) => {
  skip(process.platform !== 'linux', 'there is no /proc');
  expect(() => writeFolder('/proc/x/y', FILES)).toThrow(inWay('/proc/x', 'ENOENT'));
  const env = { XDG_CONFIG_HOME: '/proc/x' };
  const args = ['login', '--email', OWNER.email, '--password-stdin'];
  const { code, stderr } = await trunkline(args, { env, input: OWNER.password });
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be made there')]);
});

test('a file where a folder has to be is named, wherever on the way it is', () => {
  const file = join(folder, 'crm');
  writeFileSync(file, 'a file');
  for (const path of [file, join(file, 'deeper', 'still')])
    expect(() => writeFolder(path, FILES)).toThrow(inWay(file, 'ENOTDIR'));
  writeFileSync(join(folder, 'templates'), 'a file');
  expect(() => writeFolder(folder, FILES)).toThrow(
    `${inWay(join(folder, 'templates'), 'ENOTDIR')}it is in the way: a folder has to be there. Move it away`,
  );
  expect(readFileSync(file, 'utf8')).toBe('a file');
});

test('a folder where a file has to be is named, and so is a link to nowhere', () => {
  mkdirSync(join(folder, 'templates', 'a.html'), { recursive: true });
  expect(() => writeFolder(folder, FILES)).toThrow(
    `${inWay(join(folder, 'templates', 'a.html'), 'EISDIR')}it is a folder`,
  );
  symlinkSync(join(place, 'nowhere'), join(folder, 'link'));
  expect(() => writeFolder(join(folder, 'link'), FILES)).toThrow(
    inWay(join(folder, 'link'), 'EEXIST'),
  );
  expect(existsSync(join(place, 'nowhere'))).toBe(false);
});

test('what somebody may not read or write is said so', ({ skip }) => {
  skip(process.getuid?.() === 0, 'root may do everything');
  chmodSync(folder, 0o500);
  expect(() => writeFolder(folder, FILES)).toThrow(/\(EACCES\): you may not read or write there/);
  chmodSync(folder, 0o000);
  expect(() => readFolder(folder)).toThrow(/\(EACCES\): you may not read it/);
  chmodSync(folder, 0o700);
});

test('what is not there is not made where somebody only reads, and is said so', async () => {
  const gone = join(folder, 'gone');
  expect(readFolder(gone)).toEqual(new Map());
  const { code, stderr } = await trunkline(['apply', gone, '--dry-run']);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`There is no folder ${gone}.`)]);
  expect(existsSync(gone)).toBe(false);
  const read = () => fromDisk(() => readFileSync(gone, 'utf8'));
  expect(read).toThrow(`${inWay(gone, 'ENOENT')}it is not there. Say another place.`);
});

test('a name that is too long, and a circle of links', () => {
  expect(() => writeFolder(join(folder, 'x'.repeat(300)), FILES)).toThrow('the name is too long');
  symlinkSync(join(folder, 'b'), join(folder, 'a'));
  symlinkSync(join(folder, 'a'), join(folder, 'b'));
  expect(() => writeFolder(join(folder, 'a', 'crm'), FILES)).toThrow('lead in a circle');
  expect(readdirSync(folder).toSorted()).toEqual(['a', 'b']);
});

test('what is no refusal of a disk is thrown as it is', () => {
  const bug = new TypeError('a bug');
  expect(() =>
    onDisk(() => {
      throw bug;
    }),
  ).toThrow(bug);
});
