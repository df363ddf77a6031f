import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let cookie: string;
let sendId: string;
beforeAll(async () => {
  cookie = await admin.openSession();
  const send = newSend();
  sendId = send.sendId;
  await sendsOf(database, api.project.project_id).plan(send);
  await database.owner.query(
    `insert into delivery.contents (project_id, send_id, subject, html, text)
     values ($1, $2, 'Welcome', '<h1>Hello</h1>', 'Hello')`,
    [api.project.project_id, sendId],
  );
});

const get = (path: string, init: RequestInit = { headers: { cookie } }) =>
  fetch(`${api.url}/admin/preview/${path}`, init);

test('200: the mail as it was rendered, in which nothing runs, loads or is sent', async () => {
  const answer = await get(`${api.project.project_id}/${sendId}`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe('<h1>Hello</h1>');
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("sandbox; default-src 'none'");
  expect(policy).toContain("form-action 'none'; frame-ancestors 'self'");
  expect(policy).not.toMatch(/script-src|allow-/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
});

test('401 not_signed_in: nobody sees a mail without a session', async () => {
  for (const headers of [{}, { cookie: `trunkline_session=${'A'.repeat(43)}` }])
    expect((await get(`${api.project.project_id}/${sendId}`, { headers })).status).toBe(401);
});

test('404 not_found: of another project, of none, and what was never rendered', async () => {
  const { project_id } = await createProject(database.deps, 'other');
  const paths = [
    `${project_id}/${sendId}`,
    `${newId()}/${sendId}`,
    `${api.project.project_id}/${newId()}`,
    `x/${sendId}`,
    `${api.project.project_id}/x`,
  ];
  for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 404]);
});

test('404 not_found: who is no administrator sees nothing', async () => {
  await database.owner.query('update admin.people set is_admin = false');
  expect((await get(`${api.project.project_id}/${sendId}`)).status).toBe(404);
  await database.owner.query('update admin.people set is_admin = true');
});

test('405 method_not_allowed: it is only read', async () => {
  const init = { method: 'POST', headers: { cookie } };
  expect((await get(`${api.project.project_id}/${sendId}`, init)).status).toBe(405);
});
