// Mail leaves the house again, because an administrator says so.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { holdSending, readSending, resumeSending } from '../../src/base/sending.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const { as } = testCli(database, api);

let boss: SignedInPerson;
beforeAll(async () => {
  boss = await makePerson(database, { isAdmin: true });
});
beforeEach(() => resumeSending(database.deps.db, { restoredAt: null, countsTimeline: true }));

const RESUME = ['resume-sending', '--yes', '--password-stdin'];
const resume = (args: string[] = [], input = PASSWORD, who = boss) =>
  as(who, [...RESUME, ...args], { input });
const isHeld = async () => (await readSending(database.deps.db)).is_held;

test('what is held goes on, with the password again; once more there is nothing to resume', async () => {
  await holdSending(database.deps.db);
  expect(await resume([], 'guessed')).toMatchObject({ code: 1, stdout: '' });
  expect(await isHeld()).toBe(true);
  expect(await resume()).toEqual({ code: 0, stdout: 'Sending goes on.\n', stderr: '' });
  expect(await isHeld()).toBe(false);
  expect((await resume()).stdout).toBe('Sending is not held: nothing to resume.\n');
});

test('on a terminal it says why nothing is sent, and asks', async () => {
  await holdSending(database.deps.db);
  const no = await as(boss, ['resume-sending'], { isTerminal: true, input: 'n\r' });
  expect([no.code, await isHeld()]).toEqual([1, true]);
  expect(no.stderr).toMatch(
    /^Nothing is sent since \S+Z: somebody said so\.\nWhat was due before is not sent\./,
  );
});

test('on a terminal the answer and the password are typed, one after the other', async () => {
  await holdSending(database.deps.db);
  const input = `yes\r\n${PASSWORD}\r\n`;
  const done = await as(boss, ['resume-sending', '--overdue', 'send'], { isTerminal: true, input });
  expect([done.code, done.stdout, await isHeld()]).toEqual([0, 'Sending goes on.\n', false]);
  expect(done.stderr).toContain('What was due before is sent, too.');
});

test('failovers are decided about also where nothing is held', async () => {
  expect((await resume(['--failover', 'trusted'])).stdout).toBe(
    'Sending was not held, and goes on.\nFrom now on a failover to a standby holds nothing.\n',
  );
  const { rows } = await database.owner.query('select counts_timeline from base.sending');
  expect(rows).toEqual([{ counts_timeline: false }]);
  await holdSending(database.deps.db);
  expect((await resume(['--failover', 'held'])).stdout).toBe(
    'Sending goes on.\nFrom now on a failover to a standby holds sending.\n',
  );
});

test('1: nobody but administrators; 2: what is none of the ways', async () => {
  await holdSending(database.deps.db);
  const owner = await makePerson(database, { projectId: api.project.project_id, role: 'owner' });
  const refused = await resume([], PASSWORD, owner);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('administrators')]);
  const wrong = await resume(['--overdue', 'sent']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean send?')]);
  expect((await as(boss, ['resume-sending'])).code).toBe(2);
  expect(await isHeld()).toBe(true);
});
