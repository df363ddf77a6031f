// Rejected sends go into the queue again, and a send says what its provider answered.
import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { REJECTION_REASONS } from '../../src/providers/providers.ts';
import { sendsOf } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const { as } = testCli(database, api);

let editor: SignedInPerson;
let viewer: SignedInPerson;
beforeAll(async () => {
  const { project_id: projectId } = api.project;
  editor = await makePerson(database, { projectId, role: 'editor' });
  viewer = await makePerson(database, { projectId, role: 'viewer' });
});

const sends = () => sendsOf(database, api.project.project_id);
const ANSWER = {
  code: 554,
  enhanced: '5.6.0',
  text: 'content \u001B[31mrefused',
  queueId: '4bXq2R1mZ9z',
};

/** A send that its provider refused. */
const rejected = async (providerId = newId()): Promise<string> => {
  const { sendId } = await sends().handingOff({ providerId });
  await sends().end(sendId, 'rejected', { reason: 'message_refused', reply: ANSWER });
  return sendId;
};
const statusOf = async (sendId: string) => (await sends().read(sendId)).status;

test('one, by its id', async () => {
  const sendId = await rejected();
  const { code, stdout } = await as(editor, ['requeue', sendId]);
  expect([code, stdout]).toEqual([0, `The send ${sendId} is queued.\n`]);
  expect(await statusOf(sendId)).toBe('queued');
});

test('all of one reason, of one provider or of every one', async () => {
  const [provider, other] = [newId(), newId()];
  const [one, two, third] = [
    await rejected(provider),
    await rejected(provider),
    await rejected(other),
  ];
  const ofOne = ['requeue', '--reason', 'message_refused', '--provider-id', provider];
  expect((await as(editor, ofOne)).stdout).toBe('2 sends are queued again.\n');
  expect(await Promise.all([one, two, third].map(statusOf))).toEqual([
    'queued',
    'queued',
    'rejected',
  ]);
  const { stdout } = await as(editor, ['requeue', '--reason', 'message_refused', '--json']);
  expect(JSON.parse(stdout)).toEqual({ queued: 1 });
});

test('the reasons of the API are all that it takes, and its help lists them', async () => {
  const { stdout } = await as(editor, ['requeue', '--help']);
  for (const reason of REJECTION_REASONS) {
    expect(stdout).toContain(reason);
    expect((await as(editor, ['requeue', '--reason', reason])).code).toBe(0);
  }
  const unknown = await as(editor, ['requeue', '--reason', 'account_blocked']);
  expect([unknown.code, unknown.stderr]).toEqual([
    EXIT_CODES.usage,
    expect.stringContaining('--reason'),
  ]);
});

test.each([
  [[], 'Say which'],
  [[newId(), '--reason', 'message_refused'], 'Say which'],
  [[newId(), '--provider-id', newId()], '--provider-id is for --reason'],
])('%j is refused, and says what to write', async (args, says) => {
  const { code, stderr } = await as(editor, ['requeue', ...args]);
  expect([code, stderr]).toEqual([EXIT_CODES.usage, expect.stringContaining(says)]);
});

test('a viewer queues nothing, and a send that was accepted stays so', async () => {
  const sendId = await rejected();
  expect((await as(viewer, ['requeue', sendId])).code).toBe(1);
  expect(await statusOf(sendId)).toBe('rejected');
  await sends().update(sendId, "status = 'accepted'");
  const { code, stderr } = await as(editor, ['requeue', sendId]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('Only a rejected send')]);
});

test('explain: what the provider answered, without control characters', async () => {
  const { code, stdout } = await as(viewer, ['explain', await rejected()]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\nThe provider answered: 554 5\.6\.0 content \S*refused\n/);
  expect(stdout).not.toContain('\u001B');
  expect(stdout).toContain("Its id in the provider's queue: 4bXq2R1mZ9z");
});

test('explain: that retention removed what it said, and when', async () => {
  const sendId = await rejected();
  await database.owner.query(
    `update delivery.sends set content_removed_at = '2026-04-01T04:25:00Z', subject = null where send_id = $1`,
    [sendId],
  );
  const { code, stdout } = await as(viewer, ['explain', sendId]);
  expect(code).toBe(0);
  expect(stdout).toContain(
    "Retention removed its content and the provider's answers on 2026-04-01.",
  );
  expect(stdout).not.toContain('The provider answered');
});
