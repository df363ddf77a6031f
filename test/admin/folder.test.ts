// A project's files over the admin API: exported, compared, applied as they were seen, and what is refused.
import { beforeEach, describe, expect, test } from 'vitest';
import {
  FOLDER_BODY_BYTES_MAX,
  FOLDER_EXPORT,
  FOLDER_FILE_CHARS_MAX,
  FOLDER_FILES_MAX,
} from '../../src/admin/folder_limits.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../src/admin/door.ts';
import { createAdminClient } from '../../src/admin/client.ts';
import type { AdminClient } from '../../src/admin/client.ts';
import { EXAMINE_MS_MAX } from '../../src/rendering/apart.ts';
import { createProject } from '../../src/projects/projects.ts';
import { automationsThroughApi } from '../automations/through_api.ts';
import { testAdmin } from '../support/admin.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { longestHold } from '../support/processor.ts';
import { readRows } from '../support/rows.ts';

const database = testDatabase();
const { api } = automationsThroughApi(database);
const admin = testAdmin(database, api);

let projectId: string;
let cookie: string;
let editor: AdminClient;
let viewer: AdminClient;
beforeEach(async () => {
  projectId = api.project.project_id;
  cookie = (await makePerson(database, { projectId, role: 'editor' })).cookie;
  editor = createAdminClient({ url: api.url, cookie });
  const reader = await makePerson(database, { projectId, role: 'viewer' });
  viewer = createAdminClient({ url: api.url, cookie: reader.cookie });
});

type Files = Record<string, string>;
const read = async (): Promise<Files> =>
  (await viewer.folder.exportFiles.query({ projectId })).files;
const compare = async (files: Files) =>
  (await viewer.folder.compareFiles.mutate({ projectId, files })).items;
const apply = (files: Files, seen?: Record<string, string | null>) =>
  editor.folder.applyFiles.mutate({ projectId, files, ...(seen ? { seen } : {}) });
const changedIn = (items: Awaited<ReturnType<typeof compare>>) =>
  items.filter(({ changes }) => changes.length > 0).map(({ file }) => file);
const template = (name: string, html: string, more: object = {}): Files => ({
  [`templates/${name}.json`]: JSON.stringify({ name, subject: 'Hi', ...more }),
  [`templates/${name}.html`]: html,
});
const HELLO = template('hello', '<p>Hello {{ profile.first_name }}</p>');

test('what is exported changes nothing, and one automation comes with what it needs', async () => {
  const files = await read();
  expect(Object.keys(files).toSorted()).toContain('automations/welcome.json');
  expect(changedIn(await compare(files))).toEqual([]);
  const one = await viewer.folder.exportFiles.query({ projectId, automation: 'Welcome' });
  expect(Object.keys(one.files).toSorted()).toEqual([
    'automations/welcome.json',
    'templates/welcome.html',
    'templates/welcome.json',
  ]);
});

test('of a project that is too large for one answer, one automation comes as of any other', async () => {
  const asked = { projectId, automation: 'Welcome' };
  const before = await viewer.folder.exportFiles.query(asked);
  await database.owner.query(
    `with head as (
       insert into rendering.heads (project_id, template_id, name, latest_version, created_at, updated_at)
       select $1, id, 'of many ' || id, 1, now(), now()
       from (select gen_random_uuid() as id from generate_series(1, $2::int)) as made
       returning project_id, template_id, name
     )
     insert into rendering.templates (project_id, template_id, version, name, subject, html, created_at)
     select project_id, template_id, 1, name, 'Hi', '', now() from head`,
    [projectId, FOLDER_EXPORT.filesMax / 2],
  );
  await expect(read()).rejects.toMatchObject({
    message: 'invalid_request',
    data: {
      httpStatus: 400,
      detail: expect.stringMatching(/more than 2000 files .* Export one automation/) as string,
    },
  });
  expect(await viewer.folder.exportFiles.query(asked)).toEqual(before);
});

test('who may only read compares, and changes nothing', async () => {
  const before = await readRows(database, projectId);
  const [told] = await compare(HELLO);
  expect(told).toMatchObject({ file: 'templates/hello', was: null });
  expect(told?.changes).toContain('+ /subject "Hi"');
  expect(await readRows(database, projectId)).toEqual(before);
});

test('what was compared is applied, once: the same again changes nothing', async () => {
  const items = await compare(HELLO);
  const seen = Object.fromEntries(items.map(({ file, was }) => [file, was]));
  const applied = (await apply(HELLO, seen)).items;
  expect(changedIn(applied)).toEqual(['templates/hello']);
  expect(applied).toMatchObject([{ was: null, version: 1 }]);
  expect((await read())['templates/hello.html']).toBe(HELLO['templates/hello.html']);
  expect(changedIn((await apply(HELLO)).items)).toEqual([]);
});

describe('409 folder_changed: nothing is applied', () => {
  const refused = async (files: Files, seen: Record<string, string | null>, says: RegExp) => {
    const before = await readRows(database, projectId);
    await expect(apply(files, seen)).rejects.toMatchObject({
      message: 'folder_changed',
      data: { httpStatus: 409, detail: expect.stringMatching(says) as string },
    });
    expect(await readRows(database, projectId)).toEqual(before);
  };
  const seenOf = async (files: Files) =>
    Object.fromEntries((await compare(files)).map(({ file, was }) => [file, was]));

  test('somebody changed a template since it was compared, or made it', async () => {
    const seen = await seenOf(HELLO);
    await apply(template('hello', '<p>Quicker</p>'));
    await refused(HELLO, seen, /changed templates\/hello since you looked/);
    const again = await seenOf(HELLO);
    await apply(template('hello', '<p>Quicker still</p>'));
    await refused(HELLO, again, /changed templates\/hello since you looked/);
  });

  test('somebody switched an automation on since it was compared', async () => {
    const files = await read();
    const seen = await seenOf(files);
    const { items } = await editor.automations.list.query({ projectId });
    await editor.automations.activate.mutate({ projectId, automationId: items[0]?.id ?? '' });
    await refused(files, seen, /changed automations\/welcome since you looked/);
  });

  test('two make the same at once: one of them does', async () => {
    const { project_id: other } = await createProject(database.deps, 'empty');
    const apart = await Promise.all(
      ['one', 'two'].map(async (html) => {
        const somebody = await makePerson(database, { projectId: other, role: 'editor' });
        const client = createAdminClient({ url: api.url, cookie: somebody.cookie });
        return { client, asked: { projectId: other, files: template('hello', html) } };
      }),
    );
    const seen = { 'templates/hello': null };
    const told = await Promise.allSettled(
      apart.map(({ client, asked }) => client.folder.applyFiles.mutate({ ...asked, seen })),
    );
    expect(told.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(told.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { message: 'folder_changed' },
    });
    const { rows } = await database.owner.query(
      'select name, latest_version from rendering.heads where project_id = $1',
      [other],
    );
    expect(rows).toEqual([{ name: 'hello', latest_version: 1 }]);
  });

  test('a file is of an older version than there is', async () => {
    const files = await read();
    const { items } = await apply({ ...files, 'templates/welcome.html': 'newer' });
    expect(items.map(({ file, version }) => [file, version])).toEqual([
      ['segments/guests', 1],
      ['segments/new_on_pro', 1],
      ['templates/welcome', 2],
      ['automations/welcome', 2],
    ]);
    const older = { ...files, 'templates/welcome.html': 'older' };
    await refused(older, {}, /is of version 1, and there is version 2: export it again/);
  });
});

describe('400 invalid_request: says which file, and why', () => {
  const refused = async (files: Files, says: RegExp | string) => {
    const before = await readRows(database, projectId);
    const { body, status } = await admin.call('folder.applyFiles', {
      type: 'mutation',
      input: { projectId, files },
      cookie,
    });
    expect([status, body.error.message]).toEqual([400, 'invalid_request']);
    const { detail, issues } = body.error.data;
    expect(JSON.stringify([detail, issues])).toMatch(says);
    expect(await readRows(database, projectId)).toEqual(before);
  };

  test.each<[string, Files, RegExp]>([
    ['no JSON', { 'segments/a.json': '{' }, /segments\/a.json/],
    ['another shape', { 'segments/a.json': '{"nome": 1}' }, /segments\/a.json/],
    [
      'a template without a body',
      { 'templates/a.json': '{"name":"a","subject":"a"}' },
      /its body in one file/,
    ],
    [
      'Liquid that fails',
      template('a', '\n{{ profile.x | nofilter }}'),
      /templates\/a: \/html line 2/,
    ],
    ['a subject that is too long', template('a', 'x', { subject: 'x'.repeat(4_001) }), /subject/],
    ['a name that is too long', template('a', 'x', { name: 'x'.repeat(201) }), /name/],
    ['U+0000', template('a', 'x', { subject: 'a\0b' }), /U\+0000/],
    ['half a character', template('a', 'x', { subject: 'a\uD800b' }), /Unicode/],
    [
      'what is nested too deep',
      { 'segments/a.json': `${'['.repeat(60)}${']'.repeat(60)}` },
      /levels deep/,
    ],
    ['a segment of no name', { 'segments/a.json': '{"name": ""}' }, /segments\/a.json/],
    [
      'an automation of a long name',
      {
        'automations/a.json': JSON.stringify({ name: 'x'.repeat(201), definition: { steps: {} } }),
      },
      /automations\/a.json/,
    ],
    [
      'an automation that is none',
      { 'automations/a.json': '{"name":"a","definition":{"steps":{}}}' },
      /automations\/a/,
    ],
  ])('%s', async (_, files, says) => {
    await refused(files, says);
  });

  test.each([
    'templates/../x.json',
    '/etc/passwd',
    'x.json',
    'templates/.x.json',
    'templates/a/b.json',
    'templates/a.exe',
    'templates\\a.json',
  ])('a file called %s', async (file) => {
    await refused({ [file]: '{}' }, /templates\/…/);
  });

  test('no file, and more files than a request takes', async () => {
    await refused({}, /must have a file/);
    const names = (many: number) =>
      Object.fromEntries(Array.from({ length: many }, (_, at) => [`templates/x${at}.txt`, '']));
    await refused(names(FOLDER_FILES_MAX + 1), /at most 1000 files/);
    expect(await compare(names(FOLDER_FILES_MAX))).toEqual([]);
  });

  test('a file that is too large', async () => {
    const sized = (chars: number): Files => ({ 'templates/x.txt': 'x'.repeat(chars) });
    await refused(sized(FOLDER_FILE_CHARS_MAX + 1), /at most 1048576 characters/);
    expect(await compare(sized(FOLDER_FILE_CHARS_MAX))).toEqual([]);
  });
});

test('a template that would never end is ended and refused, and nobody waits for it', async () => {
  const inner = '{% for b in (1..100000) %}{{ b }}{% endfor %}';
  const endless = `{% for a in (1..100000) %}${inner}{% endfor %}`;
  let isRefused = false;
  const refused = expect(
    compare(template('a', endless)).finally(() => (isRefused = true)),
  ).rejects.toMatchObject({ message: 'invalid_request' });
  const held = await longestHold(async () => {
    while (!isRefused) expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  });
  await refused;
  expect(held).toBeLessThan(EXAMINE_MS_MAX / 2);
});

test('413 body_too_large: a folder has 8 MiB, and anything else 256 KiB', async () => {
  const sized = (bytes: number) => {
    const rest = JSON.stringify({ projectId, files: {}, filler: '' });
    return rest.replace('"filler":""', `"filler":"${'x'.repeat(bytes - rest.length)}"`);
  };
  const post = async (bytes: number, headers: Record<string, string>) =>
    (await api.call('POST', '/admin/trpc/folder.compareFiles', { body: sized(bytes), headers }))
      .status;
  const signedIn = { cookie, origin: api.url };
  expect(await post(FOLDER_BODY_BYTES_MAX, signedIn)).toBe(400);
  expect(await post(FOLDER_BODY_BYTES_MAX + 1, signedIn)).toBe(413);
  const other = await api.call('POST', '/admin/trpc/segments.preview', {
    body: sized(ADMIN_BODY_BYTES_MAX + 1),
    headers: signedIn,
  });
  expect(other.status).toBe(413);
});

test('a ready automation whose template is there twice is refused, and is no fault of ours', async () => {
  const draft = { name: 'Win-back: offer', subject: 'Hi', html: '<p>Hi</p>' };
  for (const _ of [1, 2]) await editor.templates.create.mutate({ projectId, template: draft });
  const { items } = await editor.providers.list.query({ projectId });
  const adopted = editor.readyMade.adopt.mutate({
    projectId,
    key: 'win_back',
    providerId: items[0]?.id ?? '',
  });
  await expect(adopted).rejects.toMatchObject({
    message: 'invalid_request',
    data: { detail: expect.stringContaining('Two templates are called') as string },
  });
});
