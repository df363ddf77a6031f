import { beforeEach, describe, expect, test } from 'vitest';
import { MEMBERS_MAX } from '../../src/admin/members.ts';
import { newId } from '../../src/base/ids.ts';
import type { MemberRole } from '../../src/base/procedure.ts';
import { createProject } from '../../src/projects/projects.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let projectId: string;
let owner: SignedInPerson;
beforeEach(async () => {
  projectId = (await createProject(database.deps, 'shop')).project_id;
  owner = await add('owner');
});

const add = (role: MemberRole) => makePerson(database, { projectId, role });
const change = async (who: SignedInPerson, name: string, input: object) => {
  const asked = { type: 'mutation', input: { projectId, ...input }, cookie: who.cookie } as const;
  const { status, body } = await admin.call(name, asked);
  return [status, body.error?.message ?? 'done'];
};
const roles = async (): Promise<Record<string, string>> => {
  const { body } = await admin.call('members.list', {
    type: 'query',
    input: { projectId },
    cookie: owner.cookie,
  });
  const items = body.result.data.items as { email: string; role: string }[];
  return Object.fromEntries(items.map(({ email, role }) => [email, role]));
};

test('everybody in the project sees who is in it, and which of them they are', async () => {
  const viewer = await add('viewer');
  const asked = { type: 'query', input: { projectId }, cookie: viewer.cookie } as const;
  const { items } = (await admin.call('members.list', asked)).body.result.data;
  expect(items).toHaveLength(2);
  expect(items).toContainEqual({
    id: viewer.personId,
    email: viewer.email,
    role: 'viewer',
    since: expect.any(String),
    is_you: true,
  });
});

test('an owner gives others another role, and lets them go', async () => {
  const viewer = await add('viewer');
  const { personId } = viewer;
  expect(await change(owner, 'members.changeRole', { personId, role: 'editor' })).toEqual([
    200,
    'done',
  ]);
  expect((await roles())[viewer.email]).toBe('editor');
  expect(await change(owner, 'members.remove', { personId })).toEqual([200, 'done']);
  expect(Object.keys(await roles())).toEqual([owner.email]);
});

describe('what is about an owner takes the password again', () => {
  test.each([
    ['an owner is made', 'viewer', 'members.changeRole', { role: 'owner' }],
    ['an owner is lowered', 'owner', 'members.changeRole', { role: 'editor' }],
    ['an owner is removed', 'owner', 'members.remove', {}],
  ] as const)('%s', async (_, before, name, input) => {
    const { personId, email } = await add(before);
    const asked = { personId, ...input };
    expect(await change(owner, name, asked)).toEqual([403, 'password_needed']);
    const wrong = { ...asked, password: 'not my password' };
    expect(await change(owner, name, wrong)).toEqual([403, 'wrong_password']);
    expect((await roles())[email]).toBe(before);
    expect(await change(owner, name, { ...asked, password: PASSWORD })).toEqual([200, 'done']);
    expect((await roles())[email]).not.toBe(before);
  });
});

describe('409 last_owner', () => {
  test.each([
    ['cannot be lowered', 'members.changeRole', { role: 'viewer' }],
    ['cannot be removed', 'members.remove', {}],
    ['cannot leave', 'members.leave', {}],
  ] as const)('the last owner %s, whoever asks', async (_, name, input) => {
    const boss = await makePerson(database, { isAdmin: true });
    const asked = { personId: owner.personId, password: PASSWORD, ...input };
    expect(await change(owner, name, asked)).toEqual([409, 'last_owner']);
    if (name !== 'members.leave')
      expect(await change(boss, name, asked)).toEqual([409, 'last_owner']);
    expect((await roles())[owner.email]).toBe('owner');
  });

  test('of two owners who remove each other at once, one stays', async () => {
    const other = await add('owner');
    const remove = (who: SignedInPerson, member: SignedInPerson) =>
      change(who, 'members.remove', { personId: member.personId, password: PASSWORD });
    // Both are let in and have said their passwords before either is decided on.
    const held = await connectTo(database, projectId);
    await held.query('begin');
    await held.query('select from projects.projects where project_id = $1 for no key update', [
      projectId,
    ]);
    const asked = Promise.all([remove(owner, other), remove(other, owner)]);
    await untilWaiting(database, 2);
    await held.query('commit');
    const answers = await asked;
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200, 409]));
    const left = await database.owner.query(
      `select from admin.members where project_id = $1 and role = 'owner'`,
      [projectId],
    );
    expect(left.rowCount).toBe(1);
  });
});

test('whoever leaves sees nothing of the project any more', async () => {
  const viewer = await add('viewer');
  expect(await change(viewer, 'members.leave', {})).toEqual([200, 'done']);
  const asked = { type: 'query', input: { projectId }, cookie: viewer.cookie } as const;
  expect((await admin.call('overview.read', asked)).status).toBe(404);
  const list = await admin.call('projects.list', { ...asked, input: {} });
  expect(list.body.result.data.items).toEqual([]);
});

test('404 not_found: somebody who is no member, and a member of another project', async () => {
  const { project_id } = await createProject(database.deps, 'elsewhere');
  const other = await makePerson(database, { projectId: project_id, role: 'viewer' });
  for (const personId of [newId(), other.personId])
    for (const [name, input] of [
      ['members.remove', {}],
      ['members.changeRole', { role: 'editor' }],
    ] as const)
      expect(await change(owner, name, { personId, ...input })).toEqual([404, 'not_found']);
});

test('409 too_many_people: a project takes 200, those who are invited included, and not 201', async () => {
  expect(MEMBERS_MAX).toBe(200);
  await database.owner.query(
    `with made as (
      insert into admin.people (person_id, email, password_hash, is_admin, created_at)
      select gen_random_uuid(), 'many' || n || '@people.test', 'scrypt$x', false, now()
      from generate_series(1, $2::int) as n returning person_id
    ) insert into admin.members select $1, person_id, 'viewer', now() from made`,
    [projectId, MEMBERS_MAX - 2],
  );
  const invite = (email: string) => change(owner, 'invitations.invite', { email, role: 'viewer' });
  expect(await invite('last@people.test')).toEqual([200, 'done']);
  expect(await invite('more@people.test')).toEqual([409, 'too_many_people']);
});

test('a project is renamed by an owner, and listed with the role that one has', async () => {
  const editor = await add('editor');
  expect(await change(editor, 'projects.rename', { name: 'Ours' })).toEqual([403, 'role_too_low']);
  expect(await change(owner, 'projects.rename', { name: ' Ours ' })).toEqual([200, 'done']);
  const list = await admin.call('projects.list', {
    type: 'query',
    input: {},
    cookie: editor.cookie,
  });
  expect(list.body.result.data.items).toEqual([{ id: projectId, name: 'Ours', role: 'editor' }]);
});
