import { expect, test } from 'vitest';
import { expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { countedOf, makeLimited, openProcess, testProcess } from './api_with_quotas.ts';

const database = testDatabase();
const TIMEOUT_MS = 60_000;

const one = testProcess(database);
const other = testProcess(database);

/** An event counts 256 bytes besides its text: `made` and `ann` are seven, the properties are JSON. */
const TEXT = { event: 'made', external_id: 'ann', properties: { text: 'ü' } };
const BYTES = 256 + 7 + Buffer.byteLength(JSON.stringify(TEXT.properties));
const post = (key: string, body: object = TEXT, at = one) => at.post('/v1/events', key, body);

const expectExceeded = (answer: Awaited<ReturnType<typeof post>>): void => {
  expectRefusal(answer, 'quota_exceeded');
  expect(answer.body.reason).toBe('stored_bytes');
};

test('429 quota_exceeded: stored bytes at the bound, and one past it', async () => {
  const { publishable_key: key, server_key } = await makeLimited(database, {
    storedBytes: 3 * BYTES,
  });
  for (let at = 0; at < 3; at += 1) expect((await post(key)).status).toBe(202);
  expectExceeded(await post(key));
  expectExceeded(await post(key, { event: 'a', external_id: 'b' }));
  expectExceeded(await one.post('/segment/v1/track', key, { userId: 'ann', event: 'Made' }));
  expect((await post(server_key)).status).toBe(202);
  const exact = await makeLimited(database, { storedBytes: BYTES - 1 });
  expectExceeded(await post(exact.publishable_key));
});

test('many requests at once stay within the quota, and duplicates and refused requests count for nothing', async () => {
  const { project_id, publishable_key: key } = await makeLimited(database, {
    storedBytes: 10 * BYTES,
  });
  const once = { ...TEXT, message_id: 'once' };
  for (let at = 0; at < 5; at += 1) expect((await post(key, once)).status).toBe(202);
  expect((await post(key, { ...TEXT, occurred_at: '1999-01-01T00:00:00Z' })).status).toBe(400);
  const statuses = await Promise.all(
    Array.from({ length: 30 }, async () => (await post(key)).status),
  );
  expect(statuses.filter((status) => status === 202)).toHaveLength(9);
  await until('they are written', async () => {
    const counted = await countedOf(database, project_id);
    return counted?.bytes === 10 * BYTES;
  });
});

test('traits count, too', async () => {
  const traits = { plan: 'x'.repeat(1_000) };
  const { publishable_key: key } = await makeLimited(database, { storedBytes: 2_600 });
  const identify = () => one.post('/v1/identify', key, { external_id: 'ann', traits });
  for (let at = 0; at < 2; at += 1) expect((await identify()).status).toBe(202);
  expectExceeded(await identify());
});

test('attack: identifies that set no traits are rows, too', async () => {
  const { publishable_key: key } = await makeLimited(database, { storedBytes: 2 * 256 + 4 });
  const identify = (message_id: string) =>
    one.post('/v1/identify', key, { external_id: 'ann', message_id });
  for (const id of ['1', '2']) expect((await identify(id)).status).toBe(202);
  expectExceeded(await identify('3'));
});

test('attack: one event with ever new Idempotency-Keys keeps an answer each time, which counts', async () => {
  const { publishable_key: key } = await makeLimited(database, { storedBytes: 2 * (BYTES + 256) });
  const again = (idempotencyKey: string) => {
    const event = { ...TEXT, message_id: 'once' };
    return one.post('/v1/events', key, event, { 'idempotency-key': idempotencyKey });
  };
  for (const id of ['a', 'a', 'a', 'b']) expect((await again(id)).status).toBe(202);
  expectExceeded(await again('c'));
});

test(
  'two processes count together within seconds, and a process that stops writes what it counted',
  { timeout: TIMEOUT_MS },
  async () => {
    const { project_id, publishable_key: key } = await makeLimited(database, {
      storedBytes: 3 * BYTES,
    });
    expect((await post(key, TEXT, other)).status).toBe(202);
    for (let at = 0; at < 3; at += 1) expect((await post(key)).status).toBe(202);
    await until('the other process has read it', async () => {
      const { status } = await post(key, TEXT, other);
      return status === 429;
    });
    await until('both have written', async () => {
      const counted = await countedOf(database, project_id);
      return (counted?.bytes ?? 0) >= 4 * BYTES;
    });
    const third = await openProcess(database);
    expectExceeded(await post(key, TEXT, third));
    await third.close();

    const fresh = await makeLimited(database, { storedBytes: 3 * BYTES });
    const stopping = await openProcess(database);
    expect((await post(fresh.publishable_key, TEXT, stopping)).status).toBe(202);
    await stopping.close();
    expect(await countedOf(database, fresh.project_id)).toEqual({ profiles: 0, bytes: BYTES });
  },
);
