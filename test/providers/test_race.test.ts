// A test message is a hand-off like any other: decided under the lock that suppressions take, before its first byte.
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { addressKey, suppress } from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { suppressUncommitted } from '../delivery/one_send.ts';
import { testAdmin } from '../support/admin.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { counterparts, fieldsOf, providersOf } from './counterparts.ts';

/** Test emails count also when the address turns out to be suppressed: two a round, of the hourly budget of 30. */
const ROUNDS = 15;

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const admin = testAdmin(database, api);
const { create, read, remove, test: send } = providersOf(api);

// Every test has the whole hourly budget of test emails.
beforeEach(() => database.owner.query('delete from base.rate_limit_counters'));

const createOne = async (): Promise<string> =>
  (await create(fieldsOf(sinks, 'relay_api'))).body.id as string;
const sent = () => sinks.relay.requests.filter(({ path }) => path.endsWith('/mime')).length;
const someone = () => `${randomUUID()}@example.test`;
const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
  inProject(database.deps, api.project.project_id, work);
const suppressing = (email: string) =>
  within(async (scope) => suppressUncommitted(database, scope.projectId, addressKey(scope, email)));

describe('P5: a suppression and a test message at the same moment', () => {
  test('the test waits for a suppression in flight, and then nothing is sent', async () => {
    const [id, to] = [await createOne(), someone()];
    const other = await suppressing(to);
    const testing = send(id, to);
    await untilWaiting(database);
    expect(await isSettled(testing)).toBe(false);
    await other.query('commit');
    expectRefusal(await testing, 'recipient_suppressed');
    expect(sent()).toBe(0);
    expect((await read(id)).body.last_test).toBeNull();
  });

  test('the test that the Console asks for waits, too', async () => {
    const [id, to, cookie] = [await createOne(), someone(), await admin.openSession()];
    const other = await suppressing(to);
    const { project_id: projectId } = api.project;
    const testing = admin.call('providers.test', {
      type: 'mutation',
      cookie,
      input: { projectId, providerId: id, to },
    });
    await untilWaiting(database);
    await other.query('commit');
    expect((await testing).body).toMatchObject({ error: { message: 'recipient_suppressed' } });
    expect(sent()).toBe(0);
  });

  test('a suppression that is rolled back lets the test that it held up be sent', async () => {
    const [id, to] = [await createOne(), someone()];
    const other = await suppressing(to);
    const testing = send(id, to);
    await untilWaiting(database);
    await other.query('rollback');
    expect((await testing).status).toBe(200);
    expect(sent()).toBe(1);
  });

  test('a suppression waits for a decision in flight', async () => {
    const [id, to] = [await createOne(), someone()];
    const { project_id: projectId } = api.project;
    // The decision writes the test into the record, and waits for its lock.
    const holding = await connectTo(database, projectId);
    await holding.query('begin');
    await holding.query(
      'select from providers.providers where project_id = $1 and provider_id = $2 for update',
      [projectId, id],
    );
    const testing = send(id, to);
    await untilWaiting(database);
    const told = { email: to, reason: 'complaint' as const, source: 'test' };
    const suppressed = within((scope) => suppress(scope, told));
    await untilWaiting(database, 2);
    expect([await isSettled(suppressed), sent()]).toEqual([false, 0]);
    await holding.query('commit');
    expect((await testing).status).toBe(200);
    await suppressed;
    expectRefusal(await send(id, to), 'recipient_suppressed');
    expect(sent()).toBe(1);
  });

  test('once a suppression is acknowledged, no test begins', async () => {
    let id = '';
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 10 === 0) id = await createOne();
      const to = someone();
      const told = { email: to, reason: 'complaint' as const, source: 'test' };
      const [first] = await Promise.all([send(id, to), within((scope) => suppress(scope, told))]);
      if (first.status !== 200) expectRefusal(first, 'recipient_suppressed');
      const before = sent();
      expectRefusal(await send(id, to), 'recipient_suppressed');
      expect(sent()).toBe(before);
    }
  });
});

test('P4: what was begun is known before its first byte: a repetition after a crash sends nothing more', async () => {
  const [id, to] = [await createOne(), someone()];
  sinks.relay.play('/email/mime', 'hang');
  const headers = { 'idempotency-key': randomUUID() };
  const testing = send(id, to, headers);
  await expect.poll(sent).toBe(1);
  expect((await read(id)).body.last_test).toMatchObject({
    ok: false,
    failure: { reason: 'outcome_unknown' },
  });
  // What a process that died leaves behind: the key without its answer, its lease over.
  await database.owner.query(
    `update http.idempotency_keys set claimed_until = now() - interval '1 ms'`,
  );
  const again = await send(id, to, headers);
  expectRefusal(again, 'provider_test_failed');
  expect([again.body.reason, sent()]).toEqual(['outcome_unknown', 1]);
  sinks.relay.dropAll();
  expectRefusal(await testing, 'provider_test_failed');
});

test('404 not_found: a provider that was deleted meanwhile sends nothing', async () => {
  const [id, to] = [await createOne(), someone()];
  const other = await suppressing(to);
  const testing = send(id, to);
  await untilWaiting(database);
  expect((await remove(id)).status).toBe(200);
  await other.query('rollback');
  expectRefusal(await testing, 'not_found');
  expect(sent()).toBe(0);
});
