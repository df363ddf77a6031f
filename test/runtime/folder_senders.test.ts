// Who sends what a folder has: chosen, kept, gone, and said in words that name what to do.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { createProvider } from '../../src/providers/records.ts';
import { makeSeed } from '../../src/runtime/seed/make.ts';
import type { Folder } from '../../src/admin/folder/files.ts';
import { applyFolder, exportFolder } from '../../src/admin/folder/folder.ts';
import { automationsThroughApi, mailShown } from '../automations/through_api.ts';
import { SHOWN_ID } from '../http/as_shown.ts';
import { testDatabase } from '../support/database.ts';
import { API_KEY } from '../support/relay_sink.ts';

const database = testDatabase();
const { api, ask, get, make } = automationsThroughApi(database);

const read = (projectId = api.project.project_id) =>
  inProject(database.deps, projectId, (scope) => exportFolder(scope));
const apply = (folder: Folder, options: { sender?: string; projectId?: string } = {}) => {
  const { projectId = api.project.project_id, ...rest } = options;
  return inProject(database.deps, projectId, (scope) => applyFolder(scope, folder, rest));
};
const changesOf = async (folder: Folder, options: Parameters<typeof apply>[1] = {}) =>
  (await apply(folder, options)).flatMap(({ changes }) => changes);
const connectProvider = (from_email: string, projectId = api.project.project_id) =>
  createProvider(database.deps, projectId, newId(), {
    provider: 'relay_api',
    display_name: from_email,
    from_email,
    from_name: null,
    reply_to: null,
    api_key: API_KEY,
  });
const WELCOME = 'automations/welcome.json';
const PROVIDER = /,\s*"provider": "[^"]*"/g;
const without = (folder: Folder, pattern: RegExp, instead = '') =>
  new Map([...folder].map(([file, text]) => [file, text.replaceAll(pattern, instead)]));
const sendersOf = async (): Promise<unknown[]> => {
  const { items } = await get('');
  return Promise.all(
    items.map(async ({ id }: { id: string }) => (await get(`/${id}`)).definition.steps.welcome),
  );
};

test('without any provider it says what to connect, and where', async () => {
  const folder = await read();
  const { project_id: projectId } = await createProject(database.deps, 'empty');
  await expect(apply(folder, { projectId })).rejects.toThrow(
    /^"Welcome" sends mail, and the project has no e-mail provider yet: connect one first in the Console, .*--provider/,
  );
});

test('a file that names a provider that is not there says which there are', async () => {
  const folder = without(await read(), PROVIDER, ', "provider": "gone@example.com"');
  await expect(apply(folder)).rejects.toThrow(
    /names gone@example\.com as who sends, .*or name another in the file\. There are: shown@example\.com$/,
  );
});

test('of several somebody says which, for what is new; who sends already goes on', async () => {
  await connectProvider('other@example.com');
  const folder = without(await read(), PROVIDER);
  expect(await changesOf(folder)).toEqual([]);
  const fresh = without(folder, /"name": "Welcome"/g, '"name": "Hello"');
  await expect(apply(fresh)).rejects.toThrow(
    'Say which provider sends "Hello", by its from_email: --provider (with make: provider=). ' +
      'There are: other@example.com, shown@example.com',
  );
  await expect(apply(fresh, { sender: 'x@example.com' })).rejects.toThrow(
    'The project has no provider x@example.com. Say which provider sends "Hello"',
  );
  expect(await changesOf(fresh, { sender: 'other@example.com' })).toContain(
    '+ /steps/welcome/provider "other@example.com"',
  );
  const given = await changesOf(folder, { sender: 'other@example.com' });
  expect(given).toContain('- /steps/welcome/provider "shown@example.com"');
  expect(given).toContain('+ /steps/welcome/provider "other@example.com"');
  expect(given.filter((line) => !line.includes('/provider "'))).toEqual([]);
});

test('what is different is said in names: of providers, templates, segments and endpoints', async () => {
  const { body } = await ask('POST', '/v1/webhook-endpoints', {
    name: 'Tells',
    url: 'https://crm.example.com/hooks',
  });
  await make(
    {
      trigger: { kind: 'segment_entered', segment_id: SHOWN_ID },
      entry: 'tell',
      steps: {
        tell: { kind: 'webhook', endpoint_id: body.endpoint.id, next: 'mail' },
        mail: mailShown(),
      },
    },
    'Tells',
  );
  const folder = await read();
  const { items } = (await ask('GET', '/v1/automations')).body;
  for (const { id } of items) await ask('POST', `/v1/automations/${id}/archive`);
  const told = await apply(folder);
  const changes = told.flatMap((one) => one.changes);
  expect(changes).toEqual(
    expect.arrayContaining([
      '+ /steps/mail/provider "shown@example.com"',
      '+ /steps/mail/template "welcome"',
      '+ /steps/tell/endpoint "Tells"',
      '+ /trigger/segment "new_on_pro"',
    ]),
  );
  expect(changes.join('\n')).not.toMatch(/[\da-f]{8}-[\da-f]{4}-/);
});

test('an automation whose provider is gone stays as it is, until something else of it is different', async () => {
  const before = await sendersOf();
  expect((await ask('DELETE', `/v1/email-providers/${SHOWN_ID}`)).status).toBe(200);
  await connectProvider('other@example.com');
  const folder = await read();
  expect(folder.get(WELCOME)).not.toContain('"provider"');
  expect(await changesOf(folder)).toEqual([]);
  expect(await sendersOf()).toEqual(before);
  const settings = (folder.get(WELCOME) ?? '').replace(
    '"re_entry": "once"',
    '"re_entry": "every_time"',
  );
  folder.set(WELCOME, settings);
  const changes = await changesOf(folder);
  expect(changes).toContain('+ /steps/welcome/provider "other@example.com"');
  expect(changes.join('\n')).toContain('/settings/re_entry');
});

test('what a seed made is exported and applied without a change, whoever sends in the project', async () => {
  const { project_id: projectId } = await createProject(database.deps, 'seeded');
  await connectProvider('other@example.com', projectId);
  const options = { people: 5, events: 20, days: 30, seed: 1, until: new Date() };
  await makeSeed(database.deps, projectId, options);
  const folder = await read(projectId);
  expect([...folder.keys()].filter((file) => file.startsWith('automations/'))).toHaveLength(1);
  expect(await changesOf(folder, { projectId })).toEqual([]);
});
