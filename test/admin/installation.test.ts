// Whether mail leaves the house, and an administrator who has it go on.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { holdSending, readSending, resumeSending } from '../../src/base/sending.ts';
import { sendsOf, newSend } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let boss: SignedInPerson;
beforeAll(async () => {
  boss = await makePerson(database, { isAdmin: true });
});
beforeEach(() => resumeSending(database.deps.db, { restoredAt: null, countsTimeline: true }));

const isHeld = async () => (await readSending(database.deps.db)).is_held;
const read = async ({ cookie }: SignedInPerson) =>
  (await admin.call('installation.sending', { type: 'query', cookie })).body.result.data;
const resume = (input: object) =>
  admin.call('installation.resumeSending', { type: 'mutation', input, cookie: boss.cookie });
const count = async (query: string) =>
  (await database.owner.query<{ count: number }>(query)).rows[0]?.count;

test('everybody who is signed in is told that nothing is sent, why, and since when', async () => {
  const anybody = await makePerson(database);
  expect(await read(anybody)).toEqual({ is_held: false, why: null, held_at: null });
  const heldAt = await holdSending(database.deps.db);
  expect(await read(anybody)).toEqual({
    is_held: true,
    why: 'by_hand',
    held_at: heldAt.toISOString(),
  });
});

test('a restored database says so, also before a worker has noted since when', async () => {
  await database.owner.query(`update base.sending set home = 'another'`);
  expect(await read(boss)).toEqual({ is_held: true, why: 'restored', held_at: null });
});

test('200: what waited is unknown then, as many as it says, and sending goes on', async () => {
  const sends = sendsOf(database, api.project.project_id);
  const send = newSend();
  await sends.plan(send);
  await sends.update(send.sendId, `queued_at = now() - interval '1 hour', due_at = queued_at`);
  await holdSending(database.deps.db);
  const { status, body } = await resume({ password: PASSWORD });
  expect([status, body.result.data]).toEqual([200, { was_held: true, unknown: 1 }]);
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'unknown',
    status_reason: 'restored',
  });
  expect(await isHeld()).toBe(false);
  expect(await count(`select count(*)::integer from admin.installation_audit`)).toBe(1);
  const inProject = `select count(*)::integer from admin.audit where action = 'installation.resumeSending'`;
  expect(await count(inProject)).toBe(1);
});

test('200: with overdue send, what waited waits on and goes out', async () => {
  const sends = sendsOf(database, api.project.project_id);
  const send = newSend();
  await sends.plan(send);
  await holdSending(database.deps.db);
  const { body } = await resume({ overdue: 'send', password: PASSWORD });
  expect(body.result.data).toEqual({ was_held: true, unknown: 0 });
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued' });
  expect(await isHeld()).toBe(false);
});

test('200: where failovers are trusted, they hold nothing from then on, also where nothing was held', async () => {
  expect((await resume({ failover: 'trusted', password: PASSWORD })).body.result.data).toEqual({
    was_held: false,
    unknown: 0,
  });
  await database.owner.query(
    `update base.sending set home = regexp_replace(home, '[0-9A-F]{8}$', '00000000') where counts_timeline`,
  );
  expect(await isHeld()).toBe(false);
});

test('200: where nothing is held there is nothing to resume, and nothing is written down', async () => {
  const entries = 'select count(*)::integer from admin.installation_audit';
  const before = await count(entries);
  const { body } = await resume({ password: PASSWORD });
  expect(body.result.data).toEqual({ was_held: false, unknown: 0 });
  expect(await count(entries)).toBe(before);
});

test.each([
  ['403 wrong_password', { password: 'not the password' }, 403, 'wrong_password'],
  ['403 password_needed', {}, 403, 'password_needed'],
  ['400 invalid_request', { password: PASSWORD, overdue: 'maybe' }, 400, 'invalid_request'],
  ['400 invalid_request', { password: PASSWORD, failover: 'perhaps' }, 400, 'invalid_request'],
])('%s: %j resumes nothing', async (_name, input, status, reason) => {
  await holdSending(database.deps.db);
  const answer = await resume(input);
  expect([answer.status, answer.body.error.message]).toEqual([status, reason]);
  expect(await isHeld()).toBe(true);
});
