import { beforeEach, expect, test } from 'vitest';
import { ISSUES_MAX } from '../../src/base/parse.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { eraseNow } from '../support/erase.ts';
import { refreshOn } from './recount.ts';

const database = testDatabase();
const api = testApi(database);
let segment = '';

const post = (path: string, body: unknown = {}) =>
  api.call('POST', path, { key: api.project.server_key, body });
const idOf = async (query: string): Promise<string> => {
  const { body } = await api.call('GET', `/v1/profiles?${query}`, { key: api.project.server_key });
  return body.items[0].id as string;
};
const identify = (external_id: string, more: object = {}) =>
  post('/v1/identify', { external_id, traits: { email: `${external_id}@example.com` }, ...more });
const importThose = (body: object) => post(`/v1/segments/${segment}/imports`, body);
const listMembers = async (): Promise<string[]> => {
  await refreshOn(database, api.project.project_id);
  const { body } = await api.call('GET', `/v1/segments/${segment}/members`, {
    key: api.project.server_key,
  });
  return (body.items as { profile_id: string }[]).map(({ profile_id }) => profile_id);
};

beforeEach(async () => {
  api.project = await createProject(database.deps, 'test');
  const { body } = await post('/v1/segments', { name: 'Guests' });
  expect(body).toMatchObject({ kind: 'static', definition: null });
  segment = body.id as string;
  for (const who of ['ann', 'bob', 'cid']) await identify(who);
});

test('201: people are found by id and by address, and who is nobody is counted', async () => {
  const people = [{ external_id: 'ann' }, { email: 'BOB@example.com' }, { external_id: 'nobody' }];
  const { body } = await importThose({ people });
  expect(body).toMatchObject({ people: 2, unknown: 1, errors: [] });
  expect(await listMembers()).toEqual(
    [await idOf('external_id=ann'), await idOf('external_id=bob')].toSorted(),
  );
});

test('201: a CSV is read by its head, and a line that names nobody does not hold up the others', async () => {
  const csv =
    '\uFEFFname,external_id,email\r\n"Ann, the first",ann,\r\n,,\r\nBob,,bob@example.com\r\nX,,\r\n';
  const { body } = await importThose({ csv });
  expect(body).toMatchObject({ people: 2, unknown: 0 });
  expect(body.errors).toEqual([{ line: 5, message: 'names nobody' }]);
  expectRefusal(await importThose({ csv: 'name\nann' }), 'invalid_request');
});

test('200: what an import added can be taken back; who is on another list stays', async () => {
  const { body: first } = await importThose({
    people: [{ external_id: 'ann' }, { external_id: 'bob' }],
  });
  await importThose({ people: [{ external_id: 'bob' }, { external_id: 'cid' }] });
  expect(await listMembers()).toHaveLength(3);
  for (let times = 0; times < 2; times += 1) {
    const { status } = await post(`/v1/segment-imports/${first.import_id}/undo`);
    expect(status).toBe(200);
    expect(await listMembers()).toEqual(
      [await idOf('external_id=bob'), await idOf('external_id=cid')].toSorted(),
    );
  }
});

test('a list frees nobody: who is suppressed or unsubscribed is not a member', async () => {
  await post('/v1/suppressions', { email: 'ann@example.com' });
  await post('/v1/unsubscribes', { email: 'bob@example.com' });
  const people = ['ann', 'bob', 'cid'].map((external_id) => ({ external_id }));
  expect((await importThose({ people })).body.people).toBe(3);
  expect(await listMembers()).toEqual([await idOf('external_id=cid')]);
  for (const who of ['ann', 'bob']) {
    const { body } = await api.call('GET', `/v1/suppressions/${who}@example.com`, {
      key: api.project.server_key,
    });
    expect([body.suppressed, body.unsubscribed_at]).not.toEqual([false, null]);
  }
  await post('/v1/unsubscribes', { email: 'cid@example.com' });
  expect(await listMembers()).toEqual([]);
});

test('who is linked and unlinked, or erased, takes their place on the list along', async () => {
  const event = { event: 'page_viewed', anonymous_id: 'phone' };
  await post('/v1/events', event);
  await api.processEvents();
  await importThose({ people: [{ external_id: 'ann' }] });
  const { body: made } = await post('/v1/identify/alias', {
    anonymous_id: 'phone',
    external_id: 'ann',
  });
  expect(await listMembers()).toEqual([await idOf('anonymous_id=phone')]);
  await post(`/v1/identity-links/${made.link.id}/undo`);
  expect(await listMembers()).toEqual([await idOf('external_id=ann')]);
  await eraseNow(database, api.project.project_id, await idOf('external_id=ann'));
  expect(await listMembers()).toEqual([]);
  const { rows } = await database.owner.query(
    'select from segments.imported where segment_id = $1',
    [segment],
  );
  expect(rows).toEqual([]);
});

test('400 invalid_request: what cannot be read of `people` is named by its place, and nobody is taken', async () => {
  const people = [{ external_id: 'ann' }, { email: 'not an address' }, { external_id: 'bob' }];
  const issues = expectRefusal(await importThose({ people }), 'invalid_request');
  expect(issues.map(({ path }) => path)).toEqual(['/people/1/email']);
  expectRefusal(await importThose({ people: [{ external_id: 'ann' }, {}] }), 'invalid_request');
  expect(await listMembers()).toEqual([]);
  const { rows } = await database.owner.query(
    'select from segments.imports where segment_id = $1',
    [segment],
  );
  expect(rows).toEqual([]);
});

test('201: each line of a CSV that cannot be read is said, by its number in the file', async () => {
  const long = 'x'.repeat(256);
  const csv = `external_id,email,"a\nnote"\nann,,"two\nlines"\n,bob(at)example.com,\n${long},,\n,cid@example.com,`;
  const { body } = await importThose({ csv });
  expect(body).toMatchObject({ people: 2, unknown: 0, unread: 2 });
  expect(body.errors).toEqual([
    { line: 5, message: 'email: must be one e-mail address, such as ann@example.com' },
    { line: 6, message: 'external_id: at most 255 characters' },
  ]);
});

test('201: of more bad lines than are said, it is said how many there are', async () => {
  const csv = `external_id,name\nann,\n${',x\n'.repeat(ISSUES_MAX + 1)}`;
  const { body } = await importThose({ csv });
  expect(body).toMatchObject({ people: 1, unread: ISSUES_MAX + 1 });
  expect(body.errors).toHaveLength(ISSUES_MAX);
});

test('400 invalid_request: a CSV of which no line can be read says why of each, and is no import', async () => {
  const answer = await importThose({ csv: 'email\nann(at)example.com\n,x\n' });
  expect(expectRefusal(answer, 'invalid_request')).toEqual([
    { path: '/csv', message: expect.stringMatching(/^line 2: email: must be one/) as string },
    { path: '/csv', message: 'line 3: names nobody' },
  ]);
  expect(answer.body.detail).toMatch(/nothing was imported/);
  const empty = expectRefusal(await importThose({ csv: 'email\n' }), 'invalid_request');
  expect(empty).toEqual([{ path: '/csv', message: 'names nobody' }]);
  const { rowCount } = await database.owner.query(
    'select from segments.imports where segment_id = $1',
    [segment],
  );
  expect(rowCount).toBe(0);
  expect((await importThose({ csv: 'external_id\nnobody-we-know' })).body.unknown).toBe(1);
});

test('201: the same import again, after it was taken back, does not bring anybody back', async () => {
  const key = { 'idempotency-key': 'once' };
  const again = () =>
    api.call('POST', `/v1/segments/${segment}/imports`, {
      key: api.project.server_key,
      body: { people: [{ external_id: 'ann' }] },
      headers: key,
    });
  const { body } = await again();
  await post(`/v1/segment-imports/${body.import_id}/undo`);
  expect((await again()).body).toEqual(body);
  expect(await listMembers()).toEqual([]);
});
