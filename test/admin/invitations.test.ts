import { beforeEach, describe, expect, test } from 'vitest';
import { INVITATION_DAYS } from '../../src/admin/invitations.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { sessionOf } from '../support/session.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let projectId: string;
let owner: SignedInPerson;
let email: string;
beforeEach(async () => {
  projectId = (await createProject(database.deps, 'shop')).project_id;
  owner = await makePerson(database, { projectId, role: 'owner' });
  email = `${newId()}@people.test`;
});

const call = (name: string, input: object, cookie?: string) =>
  admin.call(name, { type: 'mutation', input, ...(cookie === undefined ? {} : { cookie }) });
const invite = async (input: object = {}): Promise<string> => {
  const asked = { projectId, email, role: 'editor', ...input };
  const { body } = await call('invitations.invite', asked, owner.cookie);
  return body.result.data.path.split('#')[1];
};
const open = async (token: string) => (await call('invitations.open', { token })).body;
const accept = (token: string, password = PASSWORD) =>
  call('invitations.accept', { token, password });
const roleOf = async (address: string): Promise<string | undefined> =>
  (
    await database.owner.query(
      `select role from admin.members join admin.people using (person_id)
      where project_id = $1 and lower(email) = lower($2)`,
      [projectId, address],
    )
  ).rows[0]?.role;

test('a link says what it leads to, makes an account, and signs it in as a member', async () => {
  const token = await invite();
  expect((await open(token)).result.data).toEqual({
    email,
    role: 'editor',
    project: 'shop',
    expires_at: expect.any(String),
    is_known: false,
  });
  const { status, headers, body } = await accept(token);
  expect(status).toBe(200);
  const cookie = sessionOf(headers.getSetCookie(), body);
  expect(cookie).toMatch(/^trunkline_session=[\w-]{43}\.[\w-]{43}$/);
  expect(await roleOf(email)).toBe('editor');
  const list = await admin.call('projects.list', { type: 'query', input: {}, cookie });
  expect(list.body.result.data.items).toEqual([{ id: projectId, name: 'shop', role: 'editor' }]);
});

test('whoever has an account signs in with its password, and with no other', async () => {
  const known = await makePerson(database, { email });
  const token = await invite({ email: email.toUpperCase() });
  expect((await open(token)).result.data.is_known).toBe(true);
  const wrong = await accept(token, 'another password');
  expect([wrong.status, wrong.body.error.message]).toEqual([401, 'wrong_login']);
  expect(await roleOf(email)).toBeUndefined();
  expect((await accept(token)).status).toBe(200);
  expect(await roleOf(known.email)).toBe('editor');
});

test('the token is stored as a hash only, and is behind the # of the link', async () => {
  const asked = { projectId, email, role: 'viewer' };
  const { body } = await call('invitations.invite', asked, owner.cookie);
  const [path, token] = body.result.data.path.split('#');
  expect(path).toBe('/console/invitation');
  const { rows } = await database.owner.query('select i::text as row from admin.invitations as i');
  const raw = Buffer.from(token, 'base64url').toString('hex');
  expect(rows.some(({ row }) => row.includes(token) || row.includes(raw))).toBe(false);
  const listed = await admin.call('invitations.list', {
    type: 'query',
    input: { projectId },
    cookie: owner.cookie,
  });
  expect(JSON.stringify(listed.body)).toContain(email);
  expect(JSON.stringify(listed.body)).not.toContain(token);
});

describe('404 not_found, in the same words', () => {
  const expectOver = async (token: string): Promise<void> => {
    const answers = [await open(token), (await accept(token)).body];
    for (const { error } of answers) {
      expect(error.message).toBe('not_found');
      expect(error.data.detail).toMatch(/^This invitation is over/);
    }
    expect(await roleOf(email)).toBeUndefined();
  };

  test('a token that nobody made', async () => {
    await expectOver('A'.repeat(43));
    await expectOver('x');
  });

  test('an invitation that was taken back', async () => {
    const asked = { projectId, email, role: 'editor' };
    const { id, path } = (await call('invitations.invite', asked, owner.cookie)).body.result.data;
    const revoke = () => call('invitations.revoke', { projectId, invitationId: id }, owner.cookie);
    expect((await revoke()).status).toBe(200);
    expect((await revoke()).status).toBe(404);
    await expectOver(path.split('#')[1]);
  });

  test('an invitation that a newer one of the same address replaced', async () => {
    const first = await invite();
    const second = await invite({ role: 'viewer' });
    await expectOver(first);
    expect((await accept(second)).status).toBe(200);
  });

  test('an invitation of seven days ago, and not a moment sooner', async () => {
    expect(INVITATION_DAYS).toBe(7);
    const token = await invite();
    const age = (moreSeconds: number) =>
      database.owner.query(
        `update admin.invitations set created_at = now() - interval '7 days',
        expires_at = now() + make_interval(secs => $2) where email = $1`,
        [email, moreSeconds],
      );
    await age(60);
    expect((await open(token)).result.data.email).toBe(email);
    await age(-1);
    await expectOver(token);
  });

  test('an invitation of another project is not taken back', async () => {
    await invite();
    const { rows } = await database.owner.query(
      'select invitation_id from admin.invitations where email = $1',
      [email],
    );
    const other = await createProject(database.deps, 'other');
    const stranger = await makePerson(database, { projectId: other.project_id, role: 'owner' });
    const asked = { projectId: other.project_id, invitationId: rows[0].invitation_id };
    expect((await call('invitations.revoke', asked, stranger.cookie)).status).toBe(404);
  });
});

test('an invitation is used once, also by two at the same moment', async () => {
  const token = await invite();
  const answers = await Promise.all([accept(token), accept(token)]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]));
  expect((await accept(token)).status).toBe(404);
});

test('400 invalid_request: a new password has 12 characters at least; the invitation stays', async () => {
  const token = await invite();
  const short = await accept(token, 'x'.repeat(11));
  expect(short.status).toBe(400);
  expect(short.body.error.data.issues).toEqual([
    { path: '/password', message: 'at least 12 characters' },
  ]);
  expect((await accept(token, 'x'.repeat(12))).status).toBe(200);
});

test('409 already_member: whoever is there already is not invited, in upper case either', async () => {
  const { email: known } = await makePerson(database, { projectId, role: 'viewer' });
  const asked = { projectId, email: known.toUpperCase(), role: 'editor' };
  const { status, body } = await call('invitations.invite', asked, owner.cookie);
  expect([status, body.error.message]).toEqual([409, 'already_member']);
});

test('nobody is lowered by what they were invited to before', async () => {
  const { personId } = await makePerson(database, { email });
  const token = await invite({ role: 'viewer' });
  await database.owner.query(`insert into admin.members values ($1, $2, 'editor', now())`, [
    projectId,
    personId,
  ]);
  expect((await accept(token)).status).toBe(200);
  expect(await roleOf(email)).toBe('editor');
});

test('inviting an owner takes the password again', async () => {
  const asked = { projectId, email, role: 'owner' };
  const first = await call('invitations.invite', asked, owner.cookie);
  expect([first.status, first.body.error.message]).toEqual([403, 'password_needed']);
  const again = { ...asked, password: PASSWORD };
  expect((await call('invitations.invite', again, owner.cookie)).status).toBe(200);
});

describe('of the installation', () => {
  test('an administrator invites another one, with the password', async () => {
    const boss = await makePerson(database, { isAdmin: true });
    const none = await call('people.invite', { email }, boss.cookie);
    expect(none.body.error.message).toBe('password_needed');
    const { body } = await call('people.invite', { email, password: PASSWORD }, boss.cookie);
    const token = body.result.data.path.split('#')[1];
    expect((await open(token)).result.data).toMatchObject({ role: 'admin', project: null });
    expect((await accept(token)).status).toBe(200);
    const { rows } = await database.owner.query(
      'select is_admin from admin.people where email = $1',
      [email],
    );
    expect(rows).toEqual([{ is_admin: true }]);
  });

  test('a person who is removed is gone everywhere, and what they did stays without their address', async () => {
    const boss = await makePerson(database, { isAdmin: true });
    const second = await makePerson(database, { projectId, role: 'owner' });
    const asked = { projectId, personId: second.personId, role: 'editor', password: PASSWORD };
    await call('members.changeRole', asked, owner.cookie);
    const gone = { personId: owner.personId, password: PASSWORD };
    const last = await call('people.remove', gone, boss.cookie);
    expect([last.status, last.body.error.message]).toEqual([409, 'last_owner']);
    await call('members.changeRole', { ...asked, role: 'owner' }, owner.cookie);
    expect((await call('people.remove', gone, boss.cookie)).status).toBe(200);
    expect((await call('session.signOut', {}, owner.cookie)).status).toBe(401);
    const log = await admin.call('audit.list', {
      type: 'query',
      input: { projectId, actorId: owner.personId },
      cookie: second.cookie,
    });
    const { items } = log.body.result.data;
    expect(items).toHaveLength(2);
    expect(items[0]).toMatchObject({ actor_id: owner.personId, actor_email: null });
    expect(JSON.stringify(log.body)).not.toContain(owner.email);
  });

  test('409 last_admin: the last administrator cannot be removed', async () => {
    const boss = await makePerson(database, { isAdmin: true });
    await database.owner.query('delete from admin.people where is_admin and person_id <> $1', [
      boss.personId,
    ]);
    const asked = { personId: boss.personId, password: PASSWORD };
    const { status, body } = await call('people.remove', asked, boss.cookie);
    expect([status, body.error.message]).toEqual([409, 'last_admin']);
  });
});
