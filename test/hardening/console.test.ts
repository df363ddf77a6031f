import { beforeAll, expect, test } from 'vitest';
import { hashPassword, isPasswordOf } from '../../src/admin/password.ts';
import { newId } from '../../src/base/ids.ts';
import { procedures } from '../admin/role_table.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

const BYTES_MIN = 32 * 1024 * 1024;

test('a password costs at least 32 MiB to try, and each has its own salt', async () => {
  const [one, other] = [await hashPassword(PASSWORD), await hashPassword(PASSWORD)];
  expect(one).not.toBe(other);
  for (const stored of [one, other]) {
    const [, N, r] = /^scrypt\$N=(\d+),r=(\d+),p=\d+\$/.exec(stored) ?? [];
    // RFC 7914: so much memory for each try.
    expect(128 * Number(N) * Number(r)).toBeGreaterThanOrEqual(BYTES_MIN);
    expect(stored).not.toContain(PASSWORD);
    expect(await isPasswordOf(stored, PASSWORD)).toBe(true);
    expect(await isPasswordOf(stored, `${PASSWORD} `)).toBe(false);
  }
});

let owner: SignedInPerson;
let boss: SignedInPerson;
let other: SignedInPerson;
beforeAll(async () => {
  const projectId = api.project.project_id;
  owner = await makePerson(database, { projectId, role: 'owner' });
  other = await makePerson(database, { projectId, role: 'owner' });
  boss = await makePerson(database, { isAdmin: true });
});

/** Each with what it would take, but for the password. */
const dangerous = (): [name: string, input: object, who: SignedInPerson][] => {
  const { project_id: projectId } = api.project;
  const email = `${newId()}@people.test`;
  return [
    ['keys.issue', { projectId, kind: 'server' }, owner],
    ['webhookTokens.issue', { projectId }, owner],
    ['invitations.invite', { projectId, email, role: 'owner' }, owner],
    ['members.changeRole', { projectId, personId: other.personId, role: 'viewer' }, owner],
    ['members.remove', { projectId, personId: other.personId }, owner],
    ['members.leave', { projectId }, other],
    ['people.invite', { email }, boss],
    ['people.remove', { personId: other.personId }, boss],
    ['installation.resumeSending', {}, boss],
  ];
};

test('whatever takes the password again is tried here', () => {
  const asking = procedures.filter(({ asksAgain }) => asksAgain).map(({ name }) => name);
  expect(
    dangerous()
      .map(([name]) => name)
      .toSorted(),
  ).toEqual(asking.toSorted());
});

test('whatever makes keys, owners or administrators is refused without the password', async () => {
  for (const [name, input, { cookie }] of dangerous()) {
    const ask = (given: object) =>
      admin.call(name, { type: 'mutation', input: { ...input, ...given }, cookie });
    const [without, wrong] = [await ask({}), await ask({ password: 'not my password' })];
    expect([name, without.status, without.body.error.message]).toEqual([
      name,
      403,
      'password_needed',
    ]);
    expect([name, wrong.status, wrong.body.error.message]).toEqual([name, 403, 'wrong_password']);
  }
  // Nothing of it was done, and all of it is with the password.
  for (const [name, input, { cookie }] of dangerous()) {
    const all = { ...input, password: PASSWORD };
    const { status } = await admin.call(name, { type: 'mutation', input: all, cookie });
    expect([name, status]).toEqual([name, 200]);
    if (name === 'members.changeRole')
      await database.owner.query(`update admin.members set role = 'owner' where person_id = $1`, [
        other.personId,
      ]);
    if (name === 'members.remove' || name === 'members.leave')
      await database.owner.query(`insert into admin.members values ($1, $2, 'owner', now())`, [
        api.project.project_id,
        other.personId,
      ]);
  }
});
