// Who may call what: every procedure, called by everybody there is.
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { MEMBER_ROLES } from '../../src/base/procedure.ts';
import type { MemberRole, Needs } from '../../src/base/procedure.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { procedures, roleTable } from './role_table.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

const CALLERS = ['nobody', 'stranger', ...MEMBER_ROLES, 'admin'] as const;
type Caller = (typeof CALLERS)[number];

const isOfProject = (needs: Needs): needs is MemberRole =>
  (MEMBER_ROLES as readonly string[]).includes(needs);
const rankOf = (role: MemberRole): number => MEMBER_ROLES.indexOf(role);

/** What the table says that a caller is answered. */
const expected = (needs: Needs, caller: Caller): string => {
  if (needs === 'nobody') return 'let in';
  if (caller === 'nobody') return 'not_signed_in';
  if (needs === 'person' || caller === 'admin') return 'let in';
  if (needs === 'admin') return 'role_too_low';
  if (caller === 'stranger') return 'no such project';
  return rankOf(caller) >= rankOf(needs) ? 'let in' : 'role_too_low';
};

/** What a caller was answered: let in is whoever gets as far as the procedure itself. */
const answered = ({ status, body }: Answer): string => {
  const { message = '', data = {} } = body?.error ?? {};
  if (message === 'not_signed_in' || message === 'role_too_low') return message;
  if (status === 404 && /no project here/.test(data.detail)) return 'no such project';
  return status < 500 ? 'let in' : `${status} ${message}`;
};

const cookieOf = async (caller: Caller, projectId: string): Promise<string | undefined> => {
  if (caller === 'nobody') return undefined;
  if (caller === 'admin') return (await makePerson(database, { isAdmin: true })).cookie;
  if (caller === 'stranger') {
    const { project_id } = await createProject(database.deps, 'of a stranger');
    return (await makePerson(database, { projectId: project_id, role: 'owner' })).cookie;
  }
  return (await makePerson(database, { projectId, role: caller })).cookie;
};

let projectId: string;
beforeAll(() => {
  projectId = api.project.project_id;
});

test('every procedure says whom it is for, and the table says the same', () => {
  const declared = procedures.map(({ name, type, needs }) => [name, `${type} ${needs}`]);
  expect(Object.fromEntries(declared)).toEqual(roleTable);
});

test('there is no change of a project that a viewer may make', () => {
  const open = procedures.filter(
    ({ type, needs, isReading }) => type === 'mutation' && needs === 'viewer' && !isReading,
  );
  expect(open).toEqual([]);
});

describe.each(procedures)('$name', ({ name, type, needs = 'admin' }) => {
  test.each(CALLERS)(`is answered as its role (${needs}) says: %s`, async (caller) => {
    const cookie = await cookieOf(caller, projectId);
    const input = isOfProject(needs) ? { projectId } : {};
    const given = cookie === undefined ? {} : { cookie };
    expect(answered(await admin.call(name, { type, input, ...given }))).toBe(
      expected(needs, caller),
    );
  });
});

test.each(procedures.filter(({ needs }) => needs !== undefined && isOfProject(needs)))(
  '404 not_found: $name knows no project that does not exist',
  async ({ name, type }) => {
    const cookie = (await cookieOf('admin', projectId)) ?? '';
    const input = { projectId: newId() };
    const answer = await admin.call(name, { type, input, cookie });
    expect(answered(answer)).toBe('no such project');
  },
);

test('403 role_too_low: it says which role is needed, and which one has', async () => {
  const cookie = await cookieOf('viewer', projectId);
  const { status, body } = await admin.call('sends.cancel', {
    type: 'mutation',
    input: { projectId, sendId: projectId },
    cookie: cookie ?? '',
  });
  expect(status).toBe(403);
  expect(body.error.data.detail).toBe(
    'This needs the role editor in the project; yours is viewer. Ask an owner.',
  );
});

test('a role counts from the next call on', async () => {
  const { personId, cookie } = await makePerson(database, { projectId, role: 'viewer' });
  const read = async () =>
    (await admin.call('audit.list', { type: 'query', input: { projectId }, cookie })).status;
  expect(await read()).toBe(403);
  const set = 'update admin.members set role = $2 where person_id = $1';
  await database.owner.query(set, [personId, 'owner']);
  expect(await read()).toBe(200);
  await database.owner.query('delete from admin.members where person_id = $1', [personId]);
  expect(await read()).toBe(404);
});
