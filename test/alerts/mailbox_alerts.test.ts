// A bounce mailbox that cannot be read alerts the owner, until it is read again.
import { expect, test } from 'vitest';
import { ALERTED_FAILURES_MIN } from '../../src/providers/bounce_mailbox/alert_owner.ts';
import { readMailbox } from '../../src/providers/providers.ts';
import { mailboxWorld } from '../feedback/mailboxes/mailbox_world.ts';
import { providersOf } from '../providers/counterparts.ts';

const world = mailboxWorld();
const { api, connect, database, imap, mailboxOf, makeDue, read } = world;
const { change, remove, test: sendTest } = providersOf(api);

const SERVER_BUG = { write: (tag: string) => `${tag} NO [SERVERBUG] later\r\n` };
const MESSAGE = 'From: a@b.test\r\nSubject: 1\r\n\r\nHi';

const list = async (status: 'open' | 'all' = 'open') =>
  (await api.call('GET', `/v1/alerts?status=${status}`, { key: api.project.server_key })).body
    .items;

/** One turn now, whenever the mailbox is due. */
const turn = async (providerId: string) => {
  await makeDue();
  return read(providerId);
};

/** A mailbox whose server refuses its password since it was saved. */
const refused = async () => {
  const providerId = await connect();
  imap.password = 'another';
  await turn(providerId);
  return providerId;
};

test('a refused login alerts at once, with what to do; a test that passes resolves it', async () => {
  const id = await refused();
  expect(await list()).toMatchObject([
    {
      kind: 'mailbox_failing',
      subject: { type: 'provider', id },
      summary: expect.stringMatching(/^Trunkline cannot read the bounce mailbox of .*password/),
      fix: expect.stringContaining('save the bounce mailbox'),
      details: { reason: 'bounce_mailbox_login_refused' },
    },
  ]);
  await sendTest(id);
  expect(await list()).toHaveLength(1);
  imap.password = imap.settings.password;
  await sendTest(id);
  expect(await list()).toEqual([]);
  expect(await list('all')).toMatchObject([{ status: 'resolved' }]);
});

test(`a failure that may pass alerts after ${ALERTED_FAILURES_MIN} in a row; a success resolves it`, async () => {
  const id = await connect();
  imap.play(/^SELECT/, SERVER_BUG, ALERTED_FAILURES_MIN);
  for (let failures = 1; failures < ALERTED_FAILURES_MIN; failures += 1) await turn(id);
  expect(await list()).toEqual([]);
  await turn(id);
  expect(await list()).toMatchObject([{ details: { reason: 'bounce_mailbox_unusable' } }]);
  expect(await turn(id)).toMatchObject({ result: { kind: 'read' } });
  expect(await list()).toEqual([]);
});

test.each([
  ['the mailbox is saved', (id: string) => change(id, { bounce_mailbox: mailboxOf() })],
  ['the mailbox is removed', (id: string) => change(id, { bounce_mailbox: null })],
  ['the provider is removed', (id: string) => remove(id)],
])('resolves when %s', async (_when, act) => {
  const id = await refused();
  expect(await list()).toHaveLength(1);
  imap.password = imap.settings.password;
  await act(id);
  expect(await list()).toEqual([]);
});

test('an error of Trunkline opens no alert, after a failure of the mailbox either', async () => {
  const id = await connect();
  imap.play(/^SELECT/, SERVER_BUG, 1);
  await turn(id);
  imap.deliver(MESSAGE);
  const which = { projectId: api.project.project_id, providerId: id };
  const take = () => Promise.reject(new Error('bug'));
  for (let time = 1; time < ALERTED_FAILURES_MIN; time += 1) {
    await makeDue();
    await expect(readMailbox(database.deps, which, { take })).rejects.toThrow('bug');
  }
  expect(await list()).toEqual([]);
});

test('a turn whose settings were saved meanwhile says nothing about the mailbox of today', async () => {
  const id = await connect();
  await database.owner.query('update providers.bounce_mailboxes set failure_count = $1', [
    ALERTED_FAILURES_MIN,
  ]);
  imap.deliver(MESSAGE);
  imap.play(/^UID FETCH/, 'hang', 1);
  const old = read(id);
  await imap.waitFor(/^UID FETCH/);
  await change(id, { bounce_mailbox: mailboxOf() });
  imap.dropAll();
  expect(await old).toMatchObject({ result: { kind: 'failed' } });
  expect(await list('all')).toEqual([]);
});
