// What was applied has new versions, and its files say them: the next edit rests on this one, and nobody else's does.
import {
  chmodSync,
  copyFileSync,
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
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { withVersion } from '../../src/admin/folder/file_version.ts';
import { renewVersions } from '../../src/admin/folder/disk.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { automationsThroughApi } from '../automations/through_api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();
const { api } = automationsThroughApi(database);
const { as } = testCli(database, api);
const place = mkdtempSync(join(tmpdir(), 'trunkline-versions-'));
afterAll(() => rmSync(place, { recursive: true }));

/** Each is a process of its own, of several. */
const COMMANDS_MS_MAX = 120_000;

let folder: string;
let editor: SignedInPerson;
const edit = (...args: string[]) => as(editor, args);
const at = (file: string) => join(folder, file);
const write = (html: string, to = folder) =>
  writeFileSync(join(to, 'templates', 'welcome.html'), html);
const versionOf = (file: string): unknown => JSON.parse(readFileSync(at(file), 'utf8')).version;
const all = () =>
  new Map(
    ['automations', 'segments', 'templates'].flatMap((kind) =>
      readdirSync(at(kind)).map((name) => [
        `${kind}/${name}`,
        readFileSync(join(folder, kind, name), 'utf8'),
      ]),
    ),
  );

beforeEach(async () => {
  editor = await makePerson(database, { projectId: api.project.project_id, role: 'editor' });
  folder = mkdtempSync(join(place, 'crm-'));
  expect((await edit('export', folder)).code).toBe(0);
});

test('a folder is edited and applied again and again, without an export between', async () => {
  for (const [html, version] of [
    ['one', 2],
    ['two', 3],
    ['three', 4],
  ] as const) {
    write(html);
    const { code, stderr } = await edit('apply', folder, '--yes');
    expect([html, code, stderr]).toEqual([html, 0, '2 files given the new version.\n']);
    expect(['templates', 'automations'].map((kind) => versionOf(`${kind}/welcome.json`))).toEqual([
      version,
      version,
    ]);
  }
  const mine = all();
  await edit('export', folder);
  expect(all()).toEqual(mine);
});

test('a segment, too; and of the question the same holds as of --yes', async () => {
  const file = at('segments/new_on_pro.json');
  for (const days of [31, 32]) {
    const text = readFileSync(file, 'utf8').replace(/"within_days": \d+/, `"within_days": ${days}`);
    writeFileSync(file, text);
    const asked = await as(editor, ['apply', folder], { isTerminal: true, input: 'y\r' });
    expect([asked.code, asked.stderr]).toEqual([
      0,
      expect.stringMatching(/so\? \[y\/N\] 1 file given the new version\.\n$/),
    ]);
    expect(versionOf('segments/new_on_pro.json')).toBe(days - 29);
  }
});

test('nothing else of the files is touched, and those that say no version go on saying none', async () => {
  const json = at('templates/welcome.json');
  const odd = readFileSync(json, 'utf8')
    .replace(/\n {2}"version": 1,/, '')
    .replace(/\}\s*$/, '  ,"version" :\t1  }\r\n\r\n');
  writeFileSync(json, odd);
  const automation = at('automations/welcome.json');
  writeFileSync(automation, readFileSync(automation, 'utf8').replace(/\n {2}"version": 1,/, ''));
  chmodSync(json, 0o640);
  write('changed');
  const before = all();
  const told = JSON.parse((await edit('apply', folder, '--yes', '--json')).stdout);
  expect(told).toMatchObject({ applied: true, renewed: ['templates/welcome.json'], left: [] });
  before.set('templates/welcome.json', odd.replace(':\t1 ', ':\t2 '));
  expect(all()).toEqual(before);
  expect(statSync(json).mode & 0o777).toBe(0o640);
});

test('5: the lock is as it was: whoever has not seen the change is refused, and loses nothing', async () => {
  const theirs = mkdtempSync(join(place, 'theirs-'));
  await edit('export', theirs);
  write('mine');
  await edit('apply', folder, '--yes');
  write('theirs', theirs);
  const refused = await edit('apply', theirs, '--yes');
  expect([refused.code, refused.stderr]).toEqual([
    EXIT_CODES.changed,
    expect.stringContaining('is of version 1, and there is version 2: export it again'),
  ]);
  expect(readFileSync(join(theirs, 'templates', 'welcome.json'), 'utf8')).toContain('"version": 1');
  await edit('export', theirs);
  write('theirs', theirs);
  expect((await edit('apply', theirs, '--yes')).code).toBe(0);
  write('mine again');
  expect((await edit('apply', folder, '--yes')).code).toBe(EXIT_CODES.changed);
});

test('only looking writes nothing; where the answer was lost the same again mends the number', async () => {
  const old = mkdtempSync(join(place, 'old-'));
  const json = at('templates/welcome.json');
  copyFileSync(json, join(old, 'welcome.json'));
  write('changed');
  await edit('apply', folder, '--dry-run');
  expect(versionOf('templates/welcome.json')).toBe(1);
  await edit('apply', folder, '--yes');
  copyFileSync(join(old, 'welcome.json'), json);
  expect(await edit('apply', folder, '--dry-run')).toMatchObject({ stderr: '' });
  expect(versionOf('templates/welcome.json')).toBe(1);
  expect(await edit('apply', folder, '--yes')).toEqual({
    code: 0,
    stdout: 'Nothing to change.\n',
    stderr: '1 file given the new version.\n',
  });
  expect(versionOf('templates/welcome.json')).toBe(2);
});

test('a file that was changed while it was applied, or is a link by now, is left alone and named', () => {
  const json = at('templates/welcome.json');
  const sent = readFileSync(json, 'utf8');
  const renew = () =>
    renewVersions(folder, new Map([['templates/welcome.json', sent]]), [
      { file: 'templates/welcome', version: 2 },
    ]);
  const left = { renewed: [], left: ['templates/welcome.json'] };
  writeFileSync(json, `${sent}\n`);
  expect(renew()).toEqual(left);
  expect(readFileSync(json, 'utf8')).toBe(`${sent}\n`);
  rmSync(json);
  expect(renew()).toEqual(left);
  const elsewhere = join(mkdtempSync(join(place, 'elsewhere-')), 'x.json');
  writeFileSync(elsewhere, sent);
  symlinkSync(elsewhere, json);
  expect(renew()).toEqual(left);
  expect(readFileSync(elsewhere, 'utf8')).toBe(sent);
});

test('make project-apply does the same', { timeout: COMMANDS_MS_MAX }, () => {
  const run = (...args: string[]) =>
    runCommand(
      'src/runtime/export_apply.ts',
      [api.project.project_id, 'apply', folder, ...args],
      database.env,
    );
  write('one');
  expect(run('', '').stdout).not.toContain('new version');
  expect(versionOf('templates/welcome.json')).toBe(1);
  expect(run('', 'yes').stdout).toContain('2 files given the new version');
  write('two');
  expect(run('', 'yes')).toMatchObject({ status: 0 });
  expect(versionOf('templates/welcome.json')).toBe(3);
});

describe('the version in a file', () => {
  test.each([
    ['{"version":1}', '{"version":12}'],
    ['{ "a" : "version", "version" : 1 , "b": 2 }', '{ "a" : "version", "version" : 12 , "b": 2 }'],
    ['{"definition":{"version":1},"version":3}', '{"definition":{"version":1},"version":12}'],
    ['{"list":[{"version":1}],"version":3}', '{"list":[{"version":1}],"version":12}'],
    ['{"a":"\\"version\\":1","version":3}', '{"a":"\\"version\\":1","version":12}'],
    ['{"version":1,"version":3}', '{"version":1,"version":12}'],
    ['{"a":"}","version":3}', '{"a":"}","version":12}'],
  ])('of %s becomes %s', (json, then) => {
    expect(withVersion(json, 12)).toBe(then);
    expect(JSON.parse(then)).toEqual({ ...JSON.parse(json), version: 12 });
  });

  test.each(['{}', '[{"version":1}]', '{"definition":{"version":1}}', '{"version":null}', '1', ''])(
    'of %j is none',
    (json) => {
      expect(withVersion(json, 12)).toBeNull();
    },
  );
});
