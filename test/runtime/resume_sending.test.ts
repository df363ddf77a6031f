// `make hold-sending` and `make resume-sending`: a process is started where it is about what is typed and said.
import { beforeEach, expect, test } from 'vitest';
import { asOperator } from '../../src/base/audit.ts';
import { holdSending, readSending, resumeSending } from '../../src/base/sending.ts';
import { resume } from '../../src/delivery/delivery.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();

const run = (...args: string[]) => runCommand('src/runtime/resume_sending.ts', args, database.env);
const setHome = (to: string) => database.owner.query(`update base.sending set home = ${to}`);
const isHeld = async () => (await readSending(database.deps.db)).is_held;
const countsTimeline = async () => {
  const { rows } = await database.owner.query<{ counts_timeline: boolean }>(
    'select counts_timeline from base.sending',
  );
  return rows[0]?.counts_timeline;
};
const operator = () => asOperator(database.deps, 'make resume-sending');

beforeEach(async () => {
  await resumeSending(database.deps.db, { restoredAt: null, countsTimeline: true });
});

test('what is held by hand goes on when it is resumed, and failovers are as they were said to be', async () => {
  await resumeSending(database.deps.db, { restoredAt: null, countsTimeline: false });
  expect(await isHeld()).toBe(false);
  expect(run('hold').stdout).toMatch(/^Nothing is sent since .*Z\. To go on:\n/);
  expect(await isHeld()).toBe(true);
  expect(run('resume').stdout).toMatch(/^Sending goes on\.\n0 sends/);
  expect([await isHeld(), await countsTimeline()]).toEqual([false, false]);
  expect(run('resume', '', 'held').stdout).toBe('Sending goes on.\n');
  expect([await isHeld(), await countsTimeline()]).toEqual([false, true]);
});

test('where failovers are trusted, one does not hold sending, and a restore does', async () => {
  expect(run('resume', '', 'trusted').stdout).toBe('Sending goes on.\n');
  expect([await isHeld(), await countsTimeline()]).toEqual([false, false]);
  const { rows } = await database.owner.query<{ home: string }>('select home from base.sending');
  expect(rows[0]!.home.split('/')).toHaveLength(3);
  await setHome(`regexp_replace(home, '^[0-9]+', '1')`);
  expect(await isHeld()).toBe(true);
});

test('what a restore has left overdue stays so when failovers are spoken of', async () => {
  await holdSending(database.deps.db);
  await resume(operator(), { overdue: 'skip', failover: null });
  const overdue = 'select restored_at, resumed_at from base.sending';
  const { rows: before } = await database.owner.query(overdue);
  await resume(operator(), { overdue: 'skip', failover: 'trusted' });
  expect((await database.owner.query(overdue)).rows).toEqual(before);
  expect(before[0].restored_at).toBeInstanceOf(Date);
});

test('with overdue=send nothing counts as done', async () => {
  await holdSending(database.deps.db);
  expect(run('resume', 'send').stdout).toBe('Sending goes on.\n');
  const { rows } = await database.owner.query('select restored_at from base.sending');
  expect(rows).toEqual([{ restored_at: null }]);
});

test('what is not held is not resumed', () => {
  expect(run('resume').stdout).toBe('Sending is not held: there is nothing to resume.\n');
});

test.each([
  ['maybe', ''],
  ['', 'perhaps'],
])('overdue=%s failover=%s is refused, and says what there is', (overdue, failover) => {
  const { status, stderr } = run('resume', overdue, failover);
  expect(status).toBe(1);
  expect(stderr).toContain('Say overdue=skip or overdue=send, failover=trusted or failover=held');
});
