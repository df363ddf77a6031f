// A project as a folder of files, on a disk: exported, compared, applied, and what stands in the way.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { writeFolder } from '../../src/admin/folder/disk.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { createProject } from '../../src/projects/projects.ts';
import { automationsThroughApi, keepShownProvider } from '../automations/through_api.ts';
import { testCli } from '../support/cli.ts';
import type { Asking } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const { api } = automationsThroughApi(database);
const { as } = testCli(database, api);
const place = mkdtempSync(join(tmpdir(), 'trunkline-folder-'));
afterAll(() => rmSync(place, { recursive: true }));

let folder: string;
let editor: SignedInPerson;
let viewer: SignedInPerson;
const edit = (...args: string[]) => as(editor, args);
const typing = (
  args: string[],
  input: string,
): Promise<{ code: number; stdout: string; stderr: string }> =>
  as(editor, args, { isTerminal: true, input, env: { NO_COLOR: '1' } } satisfies Asking);
const body = () => join(folder, 'templates', 'welcome.html');
const exported = async (to: string) => {
  await edit('export', to);
  return readFileSync(join(to, 'templates', 'welcome.html'), 'utf8');
};

beforeEach(async () => {
  const projectId = api.project.project_id;
  editor = await makePerson(database, { projectId, role: 'editor' });
  viewer = await makePerson(database, { projectId, role: 'viewer' });
  folder = mkdtempSync(join(place, 'crm-'));
  expect(await edit('export', folder)).toMatchObject({ code: 0, stderr: '' });
});

test('a project is written as files, by whoever may see it; what is not of it is left alone', async () => {
  expect(readdirSync(folder).toSorted()).toEqual(['automations', 'segments', 'templates']);
  writeFileSync(join(folder, 'templates', 'older.html'), 'older');
  writeFileSync(join(folder, 'templates', 'turned\u200F\u061C\u2028\u2029\u200E.html'), 'older');
  const { code, stdout } = await as(viewer, ['export', folder]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^\d files in .*\ntemplates\/older.html is not of this project, and was left/,
  );
  expect(stdout).toContain('templates/turned\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD.html is not of');
  const one = join(folder, 'one');
  const told = await edit('export', one, '--automation', 'Welcome', '--json');
  expect(JSON.parse(told.stdout)).toEqual({
    folder: one,
    files: ['automations/welcome.json', 'templates/welcome.html', 'templates/welcome.json'],
    left: [],
  });
  expect((await edit('export', one, '--automation', 'Nobody')).stderr).toContain(
    'no automation "Nobody"',
  );
});

test('what is different is said, and done when it is meant', async () => {
  writeFileSync(body(), 'Welcome\nto <b>us</b>\n');
  const looked = await edit('apply', folder, '--dry-run');
  expect(looked).toMatchObject({ code: 0, stderr: 'Nothing was changed.\n' });
  expect(looked.stdout).toContain('templates/welcome\n  /html, from line 2\n');
  expect(looked.stdout).toContain('  + to <b>us</b>\n');
  const asked = await typing(['apply', folder], 'y\r');
  expect(asked).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('  + to <b>us</b>\n') as string,
  });
  expect(asked.stderr).toMatch(/Change the project shown at http:\S+ so\? \[y\/N\] /);
  expect(asked.stdout).toMatch(/Changed the project shown at http:\S+\.\n$/);
  expect(await exported(folder)).toBe('Welcome\nto <b>us</b>\n');
  expect(await edit('apply', folder, '--yes')).toEqual({
    code: 0,
    stdout: 'Nothing to change.\n',
    stderr: '',
  });
});

test('whoever says no, or nothing, changes nothing', async () => {
  writeFileSync(body(), 'Changed');
  for (const input of ['n\r', '\r', 'yesterday\r']) {
    const { code, stderr } = await typing(['apply', folder], input);
    expect([code, stderr]).toEqual([
      EXIT_CODES.failed,
      expect.stringContaining('Nothing was changed.'),
    ]);
  }
  expect(await exported(join(folder, 'now'))).toBe('Welcome');
});

test('2: where nobody can be asked, it must be said', async () => {
  writeFileSync(body(), 'Changed');
  const answers = [await edit('apply', folder), await typing(['apply', folder, '--json'], 'y\r')];
  for (const { code, stdout, stderr } of answers)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('--yes')]);
});

test('for programs it is JSON: what changed in which file', async () => {
  writeFileSync(body(), 'Changed');
  const looked = JSON.parse((await edit('apply', folder, '--dry-run', '--json')).stdout);
  expect(looked.applied).toBe(false);
  const item = {
    file: 'templates/welcome',
    changes: ['- /html "Welcome"', '+ /html "Changed"'],
    was: expect.stringMatching(/^[\da-f-]{36} 1$/),
    version: 2,
  };
  expect(looked.items).toContainEqual(item);
  const done = JSON.parse((await edit('apply', folder, '--yes', '--json')).stdout);
  expect(done).toMatchObject({ applied: true, items: looked.items });
});

test('an automation is switched on where that is said, and its provider chosen', async () => {
  const activate = () =>
    edit('apply', folder, '--yes', '--activate', '--provider', 'shown@example.com');
  expect((await activate()).stdout).toContain('version 1 is active');
  expect((await activate()).stdout).toBe('Nothing to change.\n');
  const { rows } = await database.owner.query(
    'select status from automations.automations where project_id = $1',
    [api.project.project_id],
  );
  expect(rows).toEqual([{ status: 'active' }]);
});

test('1: a viewer sees what would change, and may not change it', async () => {
  writeFileSync(body(), 'Changed');
  expect((await as(viewer, ['apply', folder, '--dry-run'])).stdout).toContain('+ /html "Changed"');
  const { code, stderr } = await as(viewer, ['apply', folder, '--yes', '--json']);
  expect([code, JSON.parse(stderr)]).toMatchObject([
    EXIT_CODES.failed,
    { error: 'role_too_low', detail: expect.stringContaining('role editor') as string },
  ]);
});

describe('5: somebody else was there', () => {
  test('since the files were exported', async () => {
    writeFileSync(body(), 'Mine');
    const theirs = join(folder, 'theirs');
    await edit('export', theirs);
    writeFileSync(join(theirs, 'templates', 'welcome.html'), 'Theirs');
    await edit('apply', theirs, '--yes');
    const { code, stderr } = await edit('apply', folder, '--yes');
    expect([code, stderr]).toEqual([
      EXIT_CODES.changed,
      expect.stringContaining('is of version 1, and there is version 2: export it again'),
    ]);
    expect(await exported(theirs)).toBe('Theirs');
  });

  test('since the question was asked', async () => {
    const json = join(folder, 'templates', 'welcome.json');
    const { version: _, ...text } = JSON.parse(readFileSync(json, 'utf8'));
    writeFileSync(json, JSON.stringify(text));
    writeFileSync(body(), 'Mine');
    const slow = as(editor, ['apply', folder], {
      isTerminal: true,
      typed: async function* type() {
        const theirs = mkdtempSync(join(place, 'theirs-'));
        await edit('export', theirs);
        writeFileSync(join(theirs, 'templates', 'welcome.html'), 'Theirs');
        await edit('apply', theirs, '--yes');
        yield 'y\r';
      },
    });
    const { code, stderr } = await slow;
    expect([code, stderr]).toEqual([
      EXIT_CODES.changed,
      expect.stringContaining('Somebody changed templates/welcome since you looked at it.'),
    ]);
  });
});

describe('2: a folder that is none', () => {
  test.each([
    ['nowhere', 'There is no folder'],
    ['', 'There is nothing in'],
  ])('%o', async (name, says) => {
    const empty = join(mkdtempSync(join(place, 'empty-')), name);
    const { code, stderr } = await edit('apply', empty, '--dry-run');
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});

test('1: a file that is wrong is named', async () => {
  writeFileSync(join(folder, 'segments', 'guests.json'), '{');
  const { code, stderr } = await edit('apply', folder, '--yes');
  expect([code, stderr]).toEqual([1, expect.stringContaining('segments/guests.json')]);
});

test('a folder makes another project the same', async () => {
  const { project_id: other } = await createProject(database.deps, 'other');
  await keepShownProvider(database, other);
  await database.owner.query(`insert into admin.members values ($1, $2, 'owner', now())`, [
    other,
    editor.personId,
  ]);
  expect((await edit('apply', folder, '--yes')).stderr).toContain('Say which project');
  const there = await edit('apply', folder, '--yes', '--project', 'other');
  expect(there).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('templates/welcome (new)') as string,
  });
  expect((await edit('apply', folder, '--dry-run', '--project', 'other')).stdout).toBe(
    'Nothing to change.\n',
  );
});

test('1: a link is neither sent nor written through, nor one where a folder of ours is', async () => {
  const secret = join(mkdtempSync(join(place, 'elsewhere-')), 'secret.html');
  const [leads, dangling] = [body(), join(folder, 'templates', 'new.txt')];
  writeFileSync(secret, 'secret');
  const isRefused = async (link: string) => {
    const answers = [
      await edit('apply', folder, '--dry-run'),
      await edit('apply', folder, '--yes'),
      await edit('export', folder),
    ];
    for (const { code, stderr } of answers)
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${link} is a link`)]);
    rmSync(link);
  };
  rmSync(leads);
  symlinkSync(secret, leads);
  await isRefused(leads);
  symlinkSync(join(place, 'not-there'), dangling);
  await isRefused(dangling);
  rmSync(join(folder, 'templates'), { recursive: true });
  symlinkSync(join(secret, '..'), join(folder, 'templates'));
  await isRefused(join(folder, 'templates'));
  expect(readFileSync(secret, 'utf8')).toBe('secret');
});

test('nothing is written outside of the folder, whatever a service says', () => {
  for (const file of [
    '../up.html',
    'templates/../../up.html',
    '/tmp/up.html',
    'templates/a/b.html',
    'x.html',
  ])
    expect(() => writeFolder(folder, new Map([[file, 'x']]))).toThrow('is no file of a folder');
  mkdirSync(join(folder, 'templates', 'folder.html'));
  expect(writeFolder(folder, new Map())).not.toContain('templates/folder.html');
});
