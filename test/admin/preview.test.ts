import { beforeAll, describe, expect, test, vi } from 'vitest';
import { PREVIEW_SECONDS } from '../../src/admin/preview.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { inHalves } from '../support/session.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let session: string;
let sendId: string;
beforeAll(async () => {
  session = await admin.openSession();
  const send = newSend();
  sendId = send.sendId;
  await sendsOf(database, api.project.project_id).plan(send);
  await database.owner.query(
    `insert into delivery.contents (project_id, send_id, subject, html, text)
     values ($1, $2, 'Welcome', '<h1>Hello</h1>', 'Hello')`,
    [api.project.project_id, sendId],
  );
});

/** A frame sends the cookie and nothing else. */
const get = (path: string, of = session, init: RequestInit = {}) =>
  fetch(api.url + path, { headers: { cookie: inHalves(of)['cookie'] ?? '' }, ...init });
/** Asks for the address of a preview. */
const pathOf = async (projectId: string, id: string, cookie = session): Promise<string> => {
  const input = { projectId, sendId: id };
  const { status, body } = await admin.call('previews.open', { type: 'query', input, cookie });
  expect(status).toBe(200);
  return body.result.data.path as string;
};
const ownPath = (cookie = session) => pathOf(api.project.project_id, sendId, cookie);

test('200: the email as it was rendered, in which nothing runs, loads or is sent', async () => {
  const answer = await get(await ownPath());
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe('<h1>Hello</h1>');
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("sandbox; default-src 'none'");
  expect(policy).toContain("form-action 'none'; frame-ancestors 'self'");
  expect(policy).not.toMatch(/script-src|allow-/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
});

test('401 not_signed_in: without a session no email is shown', async () => {
  const path = await ownPath();
  for (const cookie of ['', 'trunkline_session=', `trunkline_session=${'A'.repeat(43)}`])
    expect((await get(path, cookie)).status).toBe(401);
});

describe('the address of a preview', () => {
  test('attack: the cookie alone shows no email, with a ticket that is missing, changed or made up', async () => {
    const path = await ownPath();
    const [bare = '', ticket = ''] = path.split('?ticket=');
    const [until = '', mac = ''] = ticket.split('.');
    const tickets = [
      `${Number(until) + 1}.${mac}`,
      `${until}.${'A'.repeat(43)}`,
      `${until}.`,
      until,
      `x.${mac}`,
      `-1.${mac}`,
      '',
    ];
    expect((await get(bare)).status).toBe(401);
    for (const one of tickets)
      expect([one, (await get(`${bare}?ticket=${one}`)).status]).toEqual([one, 401]);
    expect((await get(path)).status).toBe(200);
  });

  test('works for one email, in the session that asked for it', async () => {
    const path = await ownPath();
    const [, ticket = ''] = path.split('?');
    const other = newId();
    const elsewhere = path.replace(sendId, other);
    expect((await get(elsewhere)).status).toBe(401);
    const { cookie } = await makePerson(database, { isAdmin: true });
    expect((await get(path, cookie)).status).toBe(401);
    expect((await get(await ownPath(cookie), cookie)).status).toBe(200);
    expect((await get(`/admin/preview/${api.project.project_id}/${sendId}?${ticket}`)).status).toBe(
      200,
    );
  });

  test(`works for ${PREVIEW_SECONDS} seconds`, async ({ onTestFinished }) => {
    const path = await ownPath();
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.setSystemTime(now + (PREVIEW_SECONDS - 2) * 1_000);
    expect((await get(path)).status).toBe(200);
    vi.setSystemTime(now + (PREVIEW_SECONDS + 1) * 1_000);
    expect((await get(path)).status).toBe(401);
  });

  test('shows nothing after its session has ended', async () => {
    const { cookie, personId } = await makePerson(database, { isAdmin: true });
    const path = await ownPath(cookie);
    await database.owner.query('delete from admin.sessions where person_id = $1', [personId]);
    expect((await get(path, cookie)).status).toBe(401);
  });
});

test('404 not_found: of another project, of none, and an email that was never rendered', async () => {
  const { project_id } = await createProject(database.deps, 'other');
  for (const path of [
    await pathOf(project_id, sendId),
    await pathOf(api.project.project_id, newId()),
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
});

test('404 not_found: a person without a role in the project sees nothing', async () => {
  const path = await ownPath();
  await database.owner.query('update admin.people set is_admin = false');
  expect((await get(path)).status).toBe(404);
  await database.owner.query('update admin.people set is_admin = true');
});

test('405 method_not_allowed: it is only read', async () => {
  expect((await get(await ownPath(), session, { method: 'POST' })).status).toBe(405);
});
