// What things are called in a folder, and what only looks like a name of something.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { createProject } from '../../src/projects/projects.ts';
import { readFolder } from '../../src/admin/folder/files.ts';
import type { Folder } from '../../src/admin/folder/files.ts';
import { applyFolder, exportFolder } from '../../src/admin/folder/folder.ts';
import { toKey } from '../../src/admin/folder/names.ts';
import { automationsThroughApi, keepShownProvider, mailShown } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const { api, ask, get, make, post } = automationsThroughApi(database);

const read = (projectId = api.project.project_id) =>
  inProject(database.deps, projectId, (scope) => exportFolder(scope));
const apply = (folder: Folder, projectId = api.project.project_id) =>
  inProject(database.deps, projectId, (scope) => applyFolder(scope, folder));
const other = async () => {
  const project = await createProject(database.deps, 'other');
  await keepShownProvider(database, project.project_id);
  return project;
};
const telling = (traits: Record<string, string>): NewDefinition => ({
  trigger: { kind: 'manual' },
  entry: 'tell',
  steps: { tell: { kind: 'update_profile', traits, next: null } },
});
const stepsOf = (folder: Folder, key: string) =>
  JSON.parse(folder.get(`automations/${key}.json`) ?? '{}').definition.steps;

test('a thing is called by its name in whatever letters it is', () => {
  expect(toKey('Willkommen, Jörg!')).toBe('willkommen_jörg');
  expect(toKey('Добро пожаловать')).toBe('добро_пожаловать');
  expect(toKey('ようこそ 2')).toBe('ようこそ_2');
  expect(toKey('हिन्दी')).toBe('हिन्दी');
  expect(toKey('7 days')).toBe('n7_days');
  expect(toKey('Cafe\u0301')).toBe('café');
  expect(toKey('ж'.repeat(90))).toBe('ж'.repeat(50));
});

test('names without any letter are told apart', () => {
  expect(toKey('👩‍🚀')).toMatch(/^n[0-9a-f]{8}$/);
  expect(toKey('👩‍🚀')).not.toBe(toKey('🎉'));
});

test('automations of any script are exported and applied', async () => {
  for (const name of ['Приветствие', 'До свидания', '🎉'])
    await make({ trigger: { kind: 'manual' }, entry: 'a', steps: { a: mailShown() } }, name);
  const folder = await read();
  expect([...folder.keys()].join()).toContain('automations/до_свидания.json');
  const { project_id } = await other();
  await apply(folder, project_id);
  expect([...(await read(project_id)).keys()]).toEqual([...folder.keys()]);
});

test('what a step tells profiles is no segment and no endpoint, whatever it is called', async () => {
  const traits = { segment: 'vip', segment_id: 'b2b', endpoint: 'x', endpoint_id: 'y' };
  await make(telling(traits), 'Tells');
  const folder = await read();
  expect(stepsOf(folder, 'tells').tell.traits).toEqual(traits);
  const { project_id } = await other();
  await apply(folder, project_id);
  expect(stepsOf(await read(project_id), 'tells').tell.traits).toEqual(traits);
});

test('an archived automation of the name is left alone: a new one is made', async () => {
  const id = await make(telling({ plan: 'pro' }), 'Tells');
  const folder = await read();
  await post(`/${id}/archive`);
  await apply(folder);
  const { items } = await get('');
  const named = items.filter(({ name }: { name: string }) => name === 'Tells');
  expect(named.map(({ status }: { status: string }) => status)).toEqual(['draft', 'archived']);
  expect(await read()).toEqual(folder);
});

test('of two automations of one name none is guessed: one is renamed first', async () => {
  const id = await make(telling({ plan: 'pro' }), 'Tells');
  const folder = await read();
  await make(telling({ plan: 'free' }), 'Tells');
  await expect(apply(folder)).rejects.toThrow('Two automations are called "Tells"');
  await expect(read()).rejects.toThrow('Rename one first');
  const renamed = await ask('PATCH', `/v1/automations/${id}`, { name: 'Told' });
  expect([renamed.status, renamed.body.name]).toEqual([200, 'Told']);
  expect([...(await read()).keys()]).toEqual(expect.arrayContaining(['automations/told.json']));
});

test('a webhook step names its endpoint as people do, in each project its own', async () => {
  const webhook = async (key: string, name = 'CRM') => {
    const given = { name, url: 'https://crm.example.com/hooks' };
    const made = await api.call('POST', '/v1/webhook-endpoints', { key, body: given });
    return made.body.endpoint.id as string;
  };
  const endpoint_id = await webhook(api.project.server_key);
  const steps = { tell: { kind: 'webhook' as const, endpoint_id, next: null } };
  await make({ trigger: { kind: 'manual' }, entry: 'tell', steps }, 'Calls');
  const folder = await read();
  expect(stepsOf(folder, 'calls').tell).toMatchObject({ endpoint: 'CRM' });
  const { project_id, server_key } = await other();
  await expect(apply(folder, project_id)).rejects.toThrow(
    'automations/calls.json tells the endpoint "CRM": make it first',
  );
  await webhook(server_key);
  await apply(folder, project_id);
  expect(stepsOf(await read(project_id), 'calls')).toEqual(stepsOf(folder, 'calls'));
  await webhook(server_key);
  await expect(apply(folder, project_id)).rejects.toThrow('several are called so');
});

test('what is wrong with a definition is said by its file', async () => {
  await make(telling({ plan: 'pro' }), 'Tells');
  const folder = await read();
  const file = folder.get('automations/tells.json') ?? '';
  folder.set('automations/tells.json', file.replace('"entry": "tell"', '"entry": "gone"'));
  await expect(apply(folder)).rejects.toThrow(/automations\/tells: .*there is no step "gone"/s);
});

test('segments of the project that the folder does not name may be called as they like', async () => {
  const folder = await read();
  for (const name of ['VIP', 'vip!'])
    expect((await ask('POST', '/v1/segments', { name })).status).toBe(201);
  await apply(folder);
});

test.each(['templates', 'segments', 'automations'])(
  '%s: two files of one name are refused by both, as one would be lost',
  async (kind) => {
    await make(telling({ plan: 'pro' }), 'Tells');
    const folder = await read();
    const [first = ''] = [...folder.keys()].filter((file) =>
      new RegExp(`^${kind}/.*json$`).test(file),
    );
    for (const [file, content] of folder)
      if (file.startsWith(first.replace('.json', '.')))
        folder.set(file.replace(/\.\w+$/, '_again$&'), content);
    const again = first.replace('.json', '_again.json');
    await expect(apply(folder)).rejects.toThrow(`${first} and ${again} are both called "`);
  },
);

test('two files whose names differ in how accents are spelt are refused on any disk that has both', () => {
  const path = mkdtempSync(join(tmpdir(), 'folder-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  mkdirSync(join(path, 'templates'));
  const write = (name: string) => writeFileSync(join(path, 'templates', `${name}.html`), name);
  write('he\u0301llo');
  expect([...readFolder(path).keys()]).toEqual(['templates/h\u00e9llo.html']);
  write('h\u00e9llo');
  expect(() => readFolder(path)).toThrow('h\u00e9llo.html is there twice');
});
