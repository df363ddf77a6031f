// A project's templates, segments and automations as a folder: written, compared, applied, here and elsewhere.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { Folder } from '../../src/admin/folder/files.ts';
import { readFolder, writeFolder } from '../../src/admin/folder/files.ts';
import { applyFolder, exportFolder } from '../../src/admin/folder/folder.ts';
import { listChanges } from '../../src/admin/list_changes.ts';
import { automationsThroughApi, keepShownProvider } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();
const { api, ask } = automationsThroughApi(database);
const path = mkdtempSync(join(tmpdir(), 'folder-'));
afterAll(() => rmSync(path, { recursive: true }));

const inOf = <T>(projectId: string, work: (scope: Scope) => Promise<T>) =>
  inProject(database.deps, projectId, work);
const read = (projectId = api.project.project_id) => inOf(projectId, exportFolder);
const apply = (folder: Folder, projectId = api.project.project_id) =>
  inOf(projectId, (scope) => applyFolder(scope, folder));
const changed = (told: Awaited<ReturnType<typeof apply>>) =>
  told.flatMap(({ file, changes }) => (changes.length > 0 ? [file] : []));
const anotherProject = async (): Promise<string> => {
  const { project_id } = await createProject(database.deps, 'other');
  await keepShownProvider(database, project_id);
  return project_id;
};
const ask1 = async (method: string, to: string, body: object) => {
  const answer = await ask(method, to, body);
  expect([to, answer.status < 300, answer.body]).toEqual([to, true, answer.body]);
  return answer.body;
};
const templates = () => `/v1/projects/${api.project.project_id}/templates`;
const IDS = /[\da-f]{8}-[\da-f]{4}-7/;

/** Besides what is shown: MJML with a text, and a segment that asks about another. */
const SEGMENT = { name: 'In both', definition: {} as object };
beforeEach(async () => {
  await ask1('POST', templates(), {
    name: 'With MJML',
    subject: 'Hi',
    mjml: '<mjml><mj-body><mj-raw>{{ profile.x }}</mj-raw></mj-body></mjml>',
    text: 'line one\r\nline two, without an end',
    sample: { profile: { x: 1 }, event: {} },
  });
  const { items } = (await ask('GET', '/v1/segments')).body;
  const [used] = items.map(({ id }: { id: string }) => id);
  SEGMENT.definition = { where: { kind: 'segment', segment_id: used } };
  await ask1('POST', '/v1/segments', SEGMENT);
});

test('nothing in a folder is an id of one project; bodies are files of their own', async () => {
  const folder = await read();
  expect([...folder.keys()].toSorted()).toEqual([
    'automations/welcome.json',
    'segments/guests.json',
    'segments/in_both.json',
    'segments/new_on_pro.json',
    'templates/welcome.html',
    'templates/welcome.json',
    'templates/with_mjml.json',
    'templates/with_mjml.mjml',
    'templates/with_mjml.txt',
  ]);
  for (const content of folder.values()) expect(content).not.toMatch(IDS);
  expect(JSON.parse(folder.get('automations/welcome.json') ?? '')).toMatchObject({
    templates: {},
    definition: { steps: { welcome: { template: 'welcome', provider: 'shown@example.com' } } },
  });
});

test('round trip: what was exported changes nothing, on disk or off it, and is exported the same', async () => {
  const folder = await read();
  writeFolder(path, folder);
  const back = readFolder(path);
  expect(back).toEqual(new Map([...folder].toSorted(([a], [b]) => (a < b ? -1 : 1))));
  expect(changed(await apply(back))).toEqual([]);
  expect(await read()).toEqual(folder);
});

test('a folder makes another project the same, and applied again changes nothing there either', async () => {
  const folder = await read();
  const other = await anotherProject();
  expect(changed(await apply(folder, other)).length).toBeGreaterThan(5);
  expect(changed(await apply(folder, other))).toEqual([]);
  const bodies = (all: Folder) => [...all].filter(([file]) => !file.endsWith('.json'));
  const there = await read(other);
  expect(bodies(there)).toEqual(bodies(folder));
  expect([...there.keys()].toSorted()).toEqual([...folder.keys()].toSorted());
});

test('a change of a template is its next version, and the automation that sends it goes along', async () => {
  await ask1(
    'POST',
    `/v1/automations/${(await ask('GET', '/v1/automations')).body.items[0].id}/activate`,
    {},
  );
  const folder = await read();
  folder.set('templates/welcome.html', '<p>Changed {{ unsubscribe_url }}</p>');
  const told = await apply(folder);
  expect(changed(told)).toEqual(['templates/welcome', 'automations/welcome']);
  expect(told.find(({ file }) => file === 'templates/welcome')?.changes).toEqual([
    '- /html "Welcome"',
    '+ /html "<p>Changed {{ unsubscribe_url }}</p>"',
  ]);
  expect((await ask('GET', '/v1/automations')).body.items[0]).toMatchObject({
    active_version: 2,
    latest_version: 2,
  });
});

test('an automation that stays on an older version of a template keeps it, in a file of its own', async () => {
  const { items } = (await ask('GET', templates())).body;
  const { id } = items.find(({ name }: { name: string }) => name === 'Welcome');
  await ask1('POST', `${templates()}/${id}/versions`, {
    after_version: 1,
    subject: 'New',
    html: 'New',
  });
  const folder = await read();
  expect(JSON.parse(folder.get('automations/welcome.json') ?? '')).toMatchObject({
    templates: { welcome_own: { subject: 'Welcome' } },
  });
  expect(changed(await apply(folder))).toEqual([]);
});

describe('refused, and nothing of the folder is applied', () => {
  const refused = async (folder: Folder, message: RegExp) => {
    const before = await read();
    await expect(apply(folder)).rejects.toThrow(message);
    expect(await read()).toEqual(before);
  };

  test('a change of an older version of a template, a segment, or an automation', async () => {
    const folder = await read();
    const newer = new Map(folder);
    newer.set('templates/welcome.html', 'newer');
    await apply(newer);
    folder.set('templates/welcome.html', 'older');
    await refused(
      folder,
      /templates\/welcome.json is of version 1, and there is version 2: export it again/,
    );
  });

  test('what it names and does not have', async () => {
    const without = async (file: string) => {
      const folder = await read();
      folder.delete(file);
      return folder;
    };
    await refused(await without('segments/guests.json'), /asks about "\w+": there is no/);
    await refused(await without('templates/with_mjml.mjml'), /needs its body in one file/);
  });

  test('a template that is wrong, by its place', async () => {
    const folder = await read();
    folder.set('templates/welcome.html', '\n{{ nobody.here }}');
    await refused(folder, /templates\/welcome: \/html line 2, column 4/);
  });

  test('a file that cannot be read, by its name', async () => {
    const folder = await read();
    folder.set('segments/guests.json', '{');
    await refused(folder, /segments\/guests.json/);
    folder.set('segments/guests.json', '{"nome": "x"}');
    await refused(folder, /segments\/guests.json/);
  });
});

test('two whose names make one file name have two, and come back as two', async () => {
  const before = [...(await read()).keys()];
  await ask1('POST', templates(), { name: 'with mjml!', subject: 'Hi', html: '<p>x</p>' });
  const folder = await read();
  const added = [...folder.keys()].filter((file) => !before.includes(file));
  const digest = createHash('sha256').update('with mjml!').digest('hex').slice(0, 8);
  expect(added.toSorted()).toEqual(
    ['html', 'json'].map((kind) => `templates/with_mjml_${digest}.${kind}`),
  );
  const projectId = await anotherProject();
  await apply(folder, projectId);
  expect([...(await read(projectId)).keys()].toSorted()).toEqual([...folder.keys()].toSorted());
});

test('two of one name cannot be told apart: the export says so', async () => {
  for (const subject of ['Hi', 'Ho'])
    await ask1('POST', templates(), { name: 'twin', subject, html: '<p>x</p>' });
  await expect(read()).rejects.toThrow('Two templates are called "twin". Rename one first.');
});

test('changes are told leaf by leaf: what went, and what came', () => {
  const from = { a: 1, b: { c: [1, 2] }, d: 'x' };
  const to = { a: 1, b: { c: [1, 3, 4] }, e: {} };
  expect(listChanges(from, to)).toEqual([
    '- /b/c/1 2',
    '+ /b/c/1 3',
    '+ /b/c/2 4',
    '- /d "x"',
    '+ /e {}',
  ]);
  expect(listChanges(from, structuredClone(from))).toEqual([]);
});

/** Each is a process of its own, of several. */
describe('the command', { timeout: 120_000 }, () => {
  const run = (...args: string[]) =>
    runCommand('src/runtime/export_apply.ts', [api.project.project_id, ...args], database.env);
  const folder = join(path, 'command');

  test('writes a folder, says what would change, and changes it when it is meant', async () => {
    expect(run('export', folder)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('9 files') as string,
    });
    const body = join(folder, 'templates', 'welcome.html');
    expect(readFileSync(body, 'utf8')).toBe('Welcome');
    writeFileSync(body, 'Changed');
    const looked = run('apply', folder, '', '');
    expect(looked.stdout).toContain('+ /html "Changed"');
    expect(looked.stdout).toContain('Nothing was changed. Say go=yes to do it.');
    expect((await read()).get('templates/welcome.html')).toBe('Welcome');
    expect(run('apply', folder, '', 'yes').status).toBe(0);
    expect((await read()).get('templates/welcome.html')).toBe('Changed');
  });

  test('writes one automation with what it needs, and switches on what it is told to', async () => {
    const one = join(path, 'one');
    expect(run('export', one, 'Welcome')).toMatchObject({ status: 0 });
    expect([...readFolder(one).keys()]).toEqual([
      'automations/welcome.json',
      'templates/welcome.html',
      'templates/welcome.json',
    ]);
    expect(run('apply', one, '', 'yes', 'yes').stdout).toContain('version 1 is active');
    const { items } = (await ask('GET', '/v1/automations')).body;
    expect(items).toMatchObject([{ name: 'Welcome', status: 'active' }]);
    expect(run('export', one, 'Nobody').stderr).toContain('There is no automation "Nobody"');
  });

  test.each([
    ['no folder', ['export', ''], 'folder='],
    ['a folder with nothing in it', ['apply', tmpdir()], 'There is nothing in'],
    ['another verb', ['remove', folder], 'export or apply'],
  ])('says what is wrong with %s', (_name, args, said) => {
    const { status, stderr } = run(...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(said)]);
  });
});
