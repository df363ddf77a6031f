// Why a queued send waits, as far as its provider is the reason: looked up when it is read.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import {
  allow,
  LINKS_PER_PROVIDER_MAX,
  noteFailure,
  noteHeld,
  noteThrottled,
  park,
  spend,
} from '../../src/providers/providers.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';
import { API_KEY } from '../support/relay_sink.ts';
import { newSend, sendsOf } from './one_send.ts';
import { used } from '../providers/used.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, change, read: readProvider, test: sendTest } = providersOf(api);
const within = <T>(work: Parameters<typeof inProject<T>>[2]): Promise<T> =>
  inProject(database.deps, api.project.project_id, work);

/** A send that is queued for a provider, and what it waits for. */
const queued = async (given: object = {}) => {
  const { id: providerId } = (await create(fieldsOf(sinks, 'relay_api', given))).body;
  const { sendId } = newSend();
  const sends = sendsOf(database, api.project.project_id);
  await sends.plan(newSend({ sendId, providerId }));
  const read = async () =>
    (await api.call('GET', `/v1/sends/${sendId}`, { key: api.project.server_key })).body;
  return { providerId, sendId, sends, read };
};
const fix = expect.stringMatching(/\w/);
const nothing = { reason: null, answer: null, until: null, fix };

test('GET 200: nothing holds a send of a provider that is well', async () => {
  expect((await (await queued()).read()).waits_for).toBeNull();
});

test('GET 200: a parked provider, with its reason and what to do, and only while the send waits', async () => {
  const { providerId, sendId, sends, read } = await queued({ rate_per_second: 5 });
  await within((scope) => park(scope, used(providerId), 'authentication_failed'));
  expect(await read()).toMatchObject({
    status: 'queued',
    status_reason: null,
    waits_for: {
      because: 'provider_parked',
      reason: 'authentication_failed',
      answer: null,
      until: null,
      fix: expect.stringContaining('save the provider again'),
    },
  });
  await sends.update(sendId, `status = 'cancelled'`);
  expect((await read()).waits_for).toBeNull();
});

test('GET 200: an open circuit, with the moment at which it is tried again', async () => {
  const { providerId, read } = await queued();
  for (let failures = 0; failures < 5; failures += 1)
    await within((scope) => noteFailure(scope, used(providerId), { isProbe: false }));
  const { waits_for: waits } = await read();
  expect(waits).toMatchObject({ because: 'circuit_open', reason: null, fix });
  expect(Date.parse(waits.until)).toBeGreaterThan(Date.now());
});

test('GET 200: a ramp that has no room today, until midnight in UTC', async () => {
  const ramp = { started_on: new Date().toISOString().slice(0, 10), stages: [2, 2] };
  const { providerId, read } = await queued({ ramp });
  expect((await read()).waits_for).toBeNull();
  await within(async (scope) =>
    spend(scope, providerId, await allow(scope, providerId), { taken: 2, owner: 'worker-1' }),
  );
  expect((await read()).waits_for).toMatchObject({
    because: 'ramp',
    until: expect.stringContaining('T00:00:00.000Z'),
  });
});

const IN_AN_HOUR = `due_at = date_trunc('milliseconds', now() + interval '1 hour')`;

test('GET 200: a rate, but not of a send that waits for its own next try', async () => {
  const { sendId, sends, read } = await queued({ rate_per_second: 5 });
  expect((await read()).waits_for).toEqual({ ...nothing, because: 'rate' });
  await sends.update(sendId, `status_reason = 'throttled', ${IN_AN_HOUR}`);
  const until = (await sends.read(sendId)).due_at.toISOString();
  expect((await read()).waits_for).toEqual({
    ...nothing,
    because: 'retry',
    reason: 'throttled',
    until,
  });
  await sends.update(sendId, "due_at = now() - interval '1 ms'");
  expect((await read()).waits_for).toEqual({ ...nothing, because: 'rate' });
});

test.each(['quiet_hours', 'frequency_cap', 'unconfirmed_address', 'ramp'])(
  'GET 200: %s, with the moment until which it was put off',
  async (because) => {
    const { sendId, sends, read } = await queued();
    await sends.update(sendId, `status_reason = '${because}', ${IN_AN_HOUR}`);
    const until = (await sends.read(sendId)).due_at.toISOString();
    expect((await read()).waits_for).toEqual({ ...nothing, because, until });
  },
);

test('GET 200: of its own next try and its provider, what lasts longer', async () => {
  const { providerId, sendId, sends, read } = await queued();
  await within((scope) => noteThrottled(scope, used(providerId), 1, 2 * 3_600_000));
  await sends.update(sendId, `status_reason = 'throttled', ${IN_AN_HOUR}`);
  expect((await read()).waits_for).toMatchObject({ because: 'provider_paused' });
  await sends.update(sendId, "due_at = now() + interval '3 hours'");
  expect((await read()).waits_for).toMatchObject({ because: 'retry' });
  await within((scope) => park(scope, used(providerId), 'invalid_key'));
  expect((await read()).waits_for).toMatchObject({ because: 'provider_parked' });
});

describe('a provider that wants nothing for a while', () => {
  const paused = async (reason: 'throttled' | 'quota_exhausted') => {
    const one = await queued({ rate_per_second: 5 });
    const provider = used(one.providerId);
    const held = { reason, isProbe: false, retryAfterSeconds: 3_600 };
    await within<unknown>((scope) =>
      reason === 'throttled'
        ? noteThrottled(scope, provider, 1, 60_000)
        : noteHeld(scope, provider, held),
    );
    return one;
  };

  test.each(['throttled', 'quota_exhausted'] as const)(
    'GET 200: %s is told with its moment, by the send and by the provider',
    async (reason) => {
      const { providerId, read } = await paused(reason);
      const { paused: pause } = (await readProvider(providerId)).body.pace;
      expect(pause).toMatchObject({ reason, until: expect.any(String) });
      const leftMinutes = (Date.parse(pause.until) - Date.now()) / 60_000;
      const [least, most] = reason === 'throttled' ? [0.9, 1.1] : [59, 67];
      expect(leftMinutes).toBeGreaterThan(least);
      expect(leftMinutes).toBeLessThan(most);
      expect((await read()).waits_for).toEqual({
        because: 'provider_paused',
        reason,
        answer: null,
        until: pause.until,
        fix: expect.stringContaining('test message'),
      });
    },
  );

  test('gets nothing until then, also once what it taught of its rate is forgotten', async () => {
    const { providerId } = await paused('throttled');
    const claim = () => within((scope) => allow(scope, providerId));
    expect(await claim()).toMatchObject({ sends: 0, limitedBy: 'pause' });
    await database.owner.query(
      `update providers.paces set learned_at = now() - interval '1 day', next_at = now() + interval '1 hour'
      where provider_id = $1`,
      [providerId],
    );
    expect(await claim()).toMatchObject({ sends: 0, limitedBy: 'pause' });
  });

  test('a hold is not made shorter by an answer to an email that was handed over before', async () => {
    const { providerId } = await paused('quota_exhausted');
    const told = (await readProvider(providerId)).body.pace;
    expect(told.paused.reason).toBe('quota_exhausted');
    const late = { reason: 'account_blocked', isProbe: false, retryAfterSeconds: undefined };
    await within((scope) => noteThrottled(scope, used(providerId), 1, 2_000));
    await within((scope) => noteHeld(scope, used(providerId), late));
    expect((await readProvider(providerId)).body.pace.paused).toEqual(told.paused);
  });

  test('a test message that it takes ends that, and says so to whoever waits', async () => {
    const { providerId, read } = await paused('quota_exhausted');
    const hints = async () =>
      (await database.owner.query('select key from graphile_worker.jobs')).rows.filter(({ key }) =>
        String(key).includes(providerId),
      ).length;
    sinks.relay.play('/email/mime', { status: 402, json: {} }, 1);
    expect((await sendTest(providerId)).status).toBe(422);
    expect((await read()).waits_for).toMatchObject({ because: 'provider_paused' });
    expect(await hints()).toBe(0);
    expect((await sendTest(providerId)).status).toBe(200);
    expect(await hints()).toBe(1);
    expect((await readProvider(providerId)).body.pace).toMatchObject({
      paused: null,
      is_rate_learned: false,
    });
    expect((await read()).waits_for).toMatchObject({ because: 'rate' });
  });

  test('saving its connection ends that, saving its name does not', async () => {
    const { providerId, read } = await paused('throttled');
    await change(providerId, { display_name: 'Another' });
    expect((await read()).waits_for).toMatchObject({ because: 'provider_paused' });
    await change(providerId, { api_key: API_KEY });
    expect((await read()).waits_for).toMatchObject({ because: 'rate' });
  });
});

test.each(['account_blocked', 'invalid_key', 'authentication_failed'])(
  'GET 200: what ends that a provider is parked for %s is said once',
  async (reason) => {
    const { providerId, read } = await queued();
    await within((scope) => park(scope, used(providerId), reason));
    const { fix: told } = (await read()).waits_for;
    expect((await readProvider(providerId)).body.parked.fix).toBe(told);
    expect(told.match(/test message/g)).toHaveLength(1);
  },
);

describe('a provider that does not answer', () => {
  /** As many as a process hands over at a time, but for some, the newest so long ago; and one that has been due. */
  const silent = async (
    { begunAgo = 31, dueFor = 31, count = LINKS_PER_PROVIDER_MAX },
    given: object = {},
  ) => {
    const one = await queued(given);
    for (let at = 0; at < count; at += 1) {
      const { sendId } = await one.sends.handingOff({ providerId: one.providerId });
      const seconds = begunAgo + 5 * at;
      await one.sends.update(sendId, `handed_off_at = now() - interval '${seconds} seconds'`);
    }
    await one.sends.update(one.sendId, `due_at = now() - interval '${dueFor} seconds'`);
    return one;
  };

  test('GET 200: what waits says for how many answers, and since when', async () => {
    const { waits_for: waits } = await (await silent({})).read();
    expect(waits).toEqual({ ...nothing, because: 'provider_silent' });
    const since = /under way \(10\) since (\S+Z)\./.exec(waits.fix)?.[1] ?? '';
    expect(Math.round((Date.now() - Date.parse(since)) / 38_000)).toBe(2);
  });

  test.each([
    ['of which one began lately', { begunAgo: 28 }],
    ['of what is only due now', { dueFor: 28 }],
    ['of which another lane is free', { count: LINKS_PER_PROVIDER_MAX - 1 }],
  ])('GET 200: nothing %s', async (_what, given) => {
    expect((await (await silent(given)).read()).waits_for).toBeNull();
  });

  test('GET 200: rather than its rate, but not than its circuit', async () => {
    const { providerId, read } = await silent({}, { rate_per_second: 5 });
    expect((await read()).waits_for.because).toBe('provider_silent');
    for (let failures = 0; failures < 5; failures += 1)
      await within((scope) => noteFailure(scope, used(providerId), { isProbe: false }));
    expect((await read()).waits_for.because).toBe('circuit_open');
  });

  test('GET 200: nothing where another provider is silent', async () => {
    await silent({});
    const { read, sends, sendId } = await queued();
    await sends.update(sendId, "due_at = now() - interval '90 seconds'");
    expect((await read()).waits_for).toBeNull();
  });
});
