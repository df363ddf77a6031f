// What relays say of the account, the sender, a connection or one recipient, and what waits for it.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { noteFailure, noteHeld, noteThrottled, park } from '../../src/providers/providers.ts';
import { MESSAGES_PER_LINK_MAX } from '../../src/providers/links.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from '../providers/counterparts.ts';
import { used } from '../providers/used.ts';
import { ownApi } from '../support/own_api.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { IDENTICAL_REFUSALS_MAX } from '../../src/delivery/refusal_streak.ts';
import { OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, read, change, test: sendTest } = providersOf(api);
const sendOne = sendOneOf(database, api);
const projectId = () => api.project.project_id;
const createOne = async (): Promise<string> =>
  (await create(fieldsOf(sinks, 'smtp'))).body.id as string;
const readSend = async (id: string) =>
  (await api.call('GET', `/v1/sends/${id}`, { key: api.project.server_key })).body;

const takeTurn = (providerId: string) =>
  sendQueued(database.deps, {
    projectId: projectId(),
    providerId,
    owner: OWNER,
    signal: NEVER,
    takeBounce,
  });

/** Makes the time of a hold pass. */
const endHold = (providerId: string) =>
  database.owner.query(
    "update providers.paces set opened_until = now() - interval '1 ms' where provider_id = $1",
    [providerId],
  );

const makeDue = (providerId: string) =>
  database.owner.query(
    "update delivery.sends set due_at = now() - interval '1 ms' where provider_id = $1",
    [providerId],
  );

const LIMIT = { code: 550, text: '5.4.5 Daily user sending limit exceeded.' };

describe('a daily limit', () => {
  test('holds the provider: no send ends, the queue says why, and it goes on by itself', async () => {
    const id = await createOne();
    sinks.smtp.play('end', LIMIT);
    const sends = [await sendOne(id), await sendOne(id), await sendOne(id)];
    expect(sends.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);
    const { status, pace } = (await read(id)).body;
    expect(status).toBe('active');
    expect(pace.paused).toMatchObject({
      reason: 'quota_exhausted',
      cause: expect.stringContaining('quota'),
      until: expect.any(String),
    });
    expect((await readSend(sends[2].id)).waits_for).toMatchObject({
      because: 'provider_paused',
      reason: 'quota_exhausted',
    });
    // The first two went to the relay, the third did not.
    expect(sends.map(({ attempts }) => attempts)).toEqual([1, 1, 0]);

    sinks.smtp.reset();
    await endHold(id);
    await makeDue(id);
    await takeTurn(id);
    await until('all are accepted', async () => {
      await takeTurn(id);
      const now = await Promise.all(sends.map((send) => readSend(send.id)));
      return now.every((send) => send.status === 'accepted');
    });
    expect((await read(id)).body.pace).toMatchObject({ circuit: 'closed', paused: null });
  });

  test('that lasts is probed by one send at a time, and its pause doubles', async () => {
    const id = await createOne();
    sinks.smtp.play('mail', LIMIT);
    await sendOne(id);
    await sendOne(id);
    const secondsLeft = async () =>
      (Date.parse((await read(id)).body.pace.paused.until) - Date.now()) / 1_000;
    const first = await secondsLeft();
    expect(first).toBeGreaterThan(50);
    await endHold(id);
    await makeDue(id);
    await takeTurn(id);
    const second = await secondsLeft();
    expect(second / first).toBeGreaterThan(1.6);
    expect(second / first).toBeLessThan(2.5);
  });
});

describe('a sender that the account does not own', () => {
  const UNOWNED = {
    code: 553,
    text: '5.7.1 <hello@acme.test>: Sender address rejected: not owned by user',
  };

  test('parks the provider and ends no send; once the record is saved it goes on', async () => {
    const id = await createOne();
    sinks.smtp.play('mail', UNOWNED);
    const send = await sendOne(id);
    expect(send).toMatchObject({ status: 'queued', status_reason: 'sender_not_verified' });
    expect(send.answer).toMatchObject({ code: 553, enhanced_code: '5.7.1' });
    expect((await read(id)).body.status).toBe('parked');
    sinks.smtp.reset();
    expect((await change(id, { smtp_host: sinks.smtp.settings.smtp_host })).status).toBe(200);
    await sendTest(id);
    expect((await read(id)).body.status).toBe('active');
    await makeDue(id);
    await takeTurn(id);
    await until('it is accepted', async () => (await readSend(send.id)).status === 'accepted');
  });
});

test('a test that passes unparks for good: an answer from before it parks nothing', async () => {
  const id = await createOne();
  const before = used(id);
  const parkLate = () =>
    inProject(database.deps, projectId(), (scope) => park(scope, before, 'authentication_failed'));
  expect(await parkLate()).toBe(true);
  expect((await sendTest(id)).status).toBe(200);
  expect(await parkLate()).toBe(false);
  expect((await read(id)).body).toMatchObject({ status: 'active', parked: null });
});

describe('the answer to older settings', () => {
  test('changes nothing of a record that was saved since', async () => {
    const id = await createOne();
    const before = used(id, 1);
    await database.owner.query(
      'update providers.providers set revision = 2 where provider_id = $1',
      [id],
    );
    await inProject(database.deps, projectId(), async (scope) => {
      expect(await park(scope, before, 'authentication_failed')).toBe(false);
      for (let failures = 0; failures < 6; failures += 1)
        expect(await noteFailure(scope, before, { isProbe: false })).toBeNull();
      const held = { reason: 'account_blocked', isProbe: false, retryAfterSeconds: undefined };
      expect(await noteHeld(scope, before, held)).toBeNull();
      await noteThrottled(scope, before, 1, 60_000);
    });
    expect((await read(id)).body).toMatchObject({
      status: 'active',
      pace: { circuit: 'closed', paused: null, is_rate_learned: false },
    });
  });
});

test('one recipient who is greylisted waits alone: the next gets its email', async () => {
  const id = await createOne();
  sinks.smtp.play('rcpt', { code: 450, text: '4.7.1 greylisted, try again' }, { times: 1 });
  expect(await sendOne(id)).toMatchObject({
    status: 'queued',
    status_reason: 'recipient_deferred',
  });
  expect((await sendOne(id)).status).toBe('accepted');
  expect((await read(id)).body.pace).toMatchObject({ circuit: 'closed', is_rate_learned: false });
});

test('421 on a kept connection reconnects: nothing slows down, and nothing waits', async () => {
  const id = await createOne();
  expect((await sendOne(id)).status).toBe('accepted');
  sinks.smtp.play('mail', { code: 421, text: '4.4.2 Timeout exceeded, closing' }, { times: 1 });
  const send = await sendOne(id);
  expect(send.attempts).toBeLessThanOrEqual(2);
  if (send.status === 'queued') {
    await makeDue(id);
    await takeTurn(id);
  }
  await until('it is accepted', async () => (await readSend(send.id)).status === 'accepted');
  expect((await read(id)).body.pace).toMatchObject({ circuit: 'closed', is_rate_learned: false });
});

test(`a connection carries ${MESSAGES_PER_LINK_MAX} messages, and the next has a new one`, async () => {
  const id = await createOne();
  await sendOne(id);
  const before = sinks.smtp.connections;
  for (let sends = 1; sends < MESSAGES_PER_LINK_MAX; sends += 1) await sendOne(id);
  expect(sinks.smtp.connections).toBe(before);
  await sendOne(id);
  expect(sinks.smtp.connections).toBe(before + 1);
});

test('identical refusals of a row end the bound of them, and the others wait', async () => {
  const id = await createOne();
  sinks.smtp.play('end', { code: 554, text: '5.6.0 message content rejected by policy 4711' });
  for (let sends = 0; sends < IDENTICAL_REFUSALS_MAX; sends += 1)
    expect((await sendOne(id)).status).toBe('rejected');
  const send = await sendOne(id);
  expect(send).toMatchObject({ status: 'queued', status_reason: 'identical_refusals' });
  expect((await read(id)).body.pace.paused.reason).toBe('identical_refusals');
  expect((await sendsOf(database, projectId()).read(send.id)).attempt_count).toBe(1);
});

test('what the relay answered is shown, without its secrets and without other addresses', async () => {
  const id = await createOne();
  const { password } = sinks.smtp.settings;
  const text = `5.6.0 refused: ${password} cc boss@shop.test, see queue`;
  sinks.smtp.play('end', { code: 554, text }, { times: 1 });
  const { answer } = await sendOne(id);
  expect(answer).toMatchObject({ code: 554, enhanced_code: '5.6.0' });
  expect(answer.text).toContain('refused');
  expect(answer.text).not.toContain(password);
  expect(answer.text).not.toContain('boss@shop.test');
  expect((await sendOne(id)).answer).toMatchObject({ code: 250, queue_id: expect.any(String) });
});
