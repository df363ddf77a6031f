// What is said of one person's mailbox stops nobody else's mail, whatever words it comes in.
import { describe, expect, test } from 'vitest';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { CIRCUIT_FAILURES } from '../../src/providers/circuit.ts';
import { OWNER, sendsOf } from '../delivery/one_send.ts';
import { ownApi } from '../support/own_api.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from './counterparts.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, read, test: sendTest } = providersOf(api);
const sendOne = sendOneOf(database, api);
const createOne = async (kind: 'smtp' | 'relay_api'): Promise<string> =>
  (await create(fieldsOf(sinks, kind))).body.id as string;
const WELL = { status: 'active', pace: { circuit: 'closed', is_rate_learned: false } };

/** One is refused in these words, then another is sent to. */
const one = async (id: string, refuseOnce: () => void) => {
  refuseOnce();
  const refused = await sendOne(id);
  return { refused, next: await sendOne(id), provider: (await read(id)).body };
};

/** It ends by itself, or waits alone. */
const OF_ONE = /^rejected (?:recipient_refused|blocked_by_policy)$|^queued /;

describe.each<[number, string]>([
  [552, 'Mailbox quota exceeded'],
  [550, 'User account is disabled'],
  [550, 'account has been suspended'],
  [550, 'This account has been disabled or discontinued'],
  [550, 'invalid_api_key is no mailbox here'],
  [550, 'Domain not found'],
  [554, '5.7.1 The account has been suspended'],
])('%i %s', (code, text) => {
  test('at RCPT refuses its recipient alone', async () => {
    const id = await createOne('smtp');
    const { refused, next, provider } = await one(id, () =>
      sinks.smtp.play('rcpt', { code, text }, { times: 1 }),
    );
    expect(next.status).toBe('accepted');
    expect(`${refused.status} ${refused.status_reason}`).toMatch(OF_ONE);
    expect(provider).toMatchObject(WELL);
  });

  test('after the message refuses that message alone', async () => {
    const id = await createOne('smtp');
    const { refused, next, provider } = await one(id, () =>
      sinks.smtp.play('end', { code, text }, { times: 1 }),
    );
    expect(next.status).toBe('accepted');
    expect(`${refused.status} ${refused.status_reason}`).toMatch(OF_ONE);
    expect(provider).toMatchObject(WELL);
  });

  test('that a relay passes on refuses its recipient alone', async () => {
    const id = await createOne('relay_api');
    const data = { succeeded: 0, failed: 1, failures: [`${code} ${text}`] };
    const { refused, next, provider } = await one(id, () =>
      sinks.relay.play('/email/mime', { status: 200, json: { data } }, 1),
    );
    expect(next.status).toBe('accepted');
    expect(`${refused.status} ${refused.status_reason}`).toMatch(OF_ONE);
    expect(provider).toMatchObject(WELL);
  });
});

test('a row of recipients of an unknown domain opens no circuit', async () => {
  const id = await createOne('smtp');
  sinks.smtp.play('rcpt', { code: 550, text: 'Domain not found' });
  for (let sends = 0; sends <= CIRCUIT_FAILURES; sends += 1)
    expect((await sendOne(id)).status_reason).toBe('recipient_refused');
  expect((await read(id)).body).toMatchObject(WELL);
});

describe('a relay that says at RCPT that the account itself is suspended', () => {
  const SUSPENDED = { code: 550, text: 'Your account has been suspended' };

  test('is not parked for one recipient: the send waits. It is once a second one gets that answer', async () => {
    const id = await createOne('smtp');
    sinks.smtp.play('rcpt', SUSPENDED);
    const waits = { status: 'queued', status_reason: 'account_blocked' };
    expect(await sendOne(id)).toMatchObject(waits);
    expect((await read(id)).body).toMatchObject(WELL);
    expect(await sendOne(id)).toMatchObject(waits);
    expect((await read(id)).body).toMatchObject({ status: 'parked' });
  });

  test('an acceptance in between says that it was about the recipient', async () => {
    const id = await createOne('smtp');
    for (let times = 0; times < 3; times += 1) {
      sinks.smtp.play('rcpt', SUSPENDED, { times: 1 });
      expect((await sendOne(id)).status).toBe('queued');
      expect((await sendOne(id)).status).toBe('accepted');
    }
    expect((await read(id)).body).toMatchObject(WELL);
  });

  test('however often it says so of the same recipient, the circuit stays closed', async () => {
    const id = await createOne('smtp');
    sinks.smtp.play('rcpt', SUSPENDED);
    const { id: sendId } = await sendOne(id);
    const { project_id: projectId } = api.project;
    const sends = sendsOf(database, projectId);
    for (let attempts = 2; attempts <= CIRCUIT_FAILURES + 1; attempts += 1) {
      await sends.update(sendId, "due_at = now() - interval '1 ms'");
      const turning = { projectId, providerId: id, owner: OWNER, signal: NEVER, takeBounce };
      await sendQueued(database.deps, turning);
      await until('it is queued again', async () => {
        const { status, attempt_count } = await sends.read(sendId);
        return status === 'queued' && attempt_count === attempts;
      });
    }
    expect((await read(id)).body).toMatchObject(WELL);
  });

  test('nor for a test message', async () => {
    const id = await createOne('smtp');
    sinks.smtp.play('rcpt', SUSPENDED);
    expect((await sendTest(id)).body).toMatchObject({ reason: 'account_blocked' });
    expect((await read(id)).body.status).toBe('active');
  });

  test('is parked when it says so of the message, as SES does', async () => {
    const id = await createOne('smtp');
    sinks.smtp.play('end', { code: 554, text: 'Sending paused for this account.' });
    const waits = { status: 'queued', status_reason: 'account_blocked' };
    for (let sends = 0; sends < 2; sends += 1) expect(await sendOne(id)).toMatchObject(waits);
    expect((await read(id)).body).toMatchObject({ status: 'parked' });
  });
});

test('POST 422: a recipient who is greylisted is no wrong address, and the answer says so', async () => {
  const id = await createOne('smtp');
  sinks.smtp.play('rcpt', { code: 450, text: '4.7.1 greylisted' });
  const refused = await sendTest(id);
  expect([refused.status, refused.body.reason]).toEqual([422, 'recipient_deferred']);
  expect(refused.body.fix).toContain('try again');
  const { last_test } = (await read(id)).body;
  expect(last_test).toMatchObject({ ok: false, failure: { reason: 'recipient_deferred' } });
  const { status, status_reason, status_fix } = await sendOne(id);
  expect([status, status_reason]).toEqual(['queued', 'recipient_deferred']);
  expect(status_fix).toContain('repeats the send');
});
