// A batch of calls: whose sender cannot mend anything, so that one that is wrong loses no other.
import { beforeEach, describe, expect, test } from 'vitest';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { createProject, listKeys } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { eventsOf } from '../sdk/server_told.ts';

const database = testDatabase();
const api = testApi(database);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'segment');
});

const basic = (name: string, password = '') => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
const post = (body: unknown, call: Call = {}) =>
  api.call('POST', '/segment/v1/batch', { headers: basic(api.project.server_key), body, ...call });
const told = () => eventsOf(database, api);
const keyIdOf = async (kind: string): Promise<unknown> => {
  const { project_id } = api.project;
  const keys = await listKeys(database.deps.db, project_id, { limit: 9, beforeId: null });
  return keys.find((key) => key.kind === kind)?.key_id;
};
const namesTold = async () => (await told()).map(({ name }) => name);
const track = (event: string, more: object = {}) => ({
  type: 'track',
  userId: 'ann',
  event,
  ...more,
});

describe('200', () => {
  test('calls that are wrong are named, and the others are taken', async () => {
    const batch = [
      track('Good One'),
      track('Bad One', { userId: 'null' }),
      { type: 'dance', userId: 'ann' },
      7,
      track('Long Ago', { timestamp: '2001-01-01T00:00:00Z' }),
      { type: 'alias', userId: 'ben', previousId: 'device-7' },
      { type: 'alias', userId: 'cat', previousId: 'device-7' },
      track('Good Two', { properties: { long: 'x'.repeat(9_000) } }),
    ];
    const { status, body } = await post({ batch });
    expect(status).toBe(200);
    expect(body.success).toBe(true);
    expect(body.refused.map(({ path }: { path: string }) => path)).toEqual([
      '/batch/1/userId',
      '/batch/2/type',
      '/batch/3',
      '/batch/4/timestamp',
      '/batch/6',
    ]);
    expect(body.left_out).toMatchObject([{ path: '/batch/7/properties/long' }]);
    expect(await namesTold()).toEqual(['good_one', 'good_two']);
  });

  test('the same batch twice changes nothing more', async () => {
    const batch = [
      track('Made', { messageId: 'm-1' }),
      { type: 'identify', userId: 'ann', traits: { n: 1 }, messageId: 'm-2' },
      { type: 'alias', userId: 'ann', previousId: 'device-7', messageId: 'm-3' },
    ];
    for (let time = 0; time < 3; time += 1)
      expect((await post({ batch })).body).toEqual({ success: true });
    expect(await told()).toHaveLength(1);
  });

  test('with an Idempotency-Key calls without messageId are stored once, too', async () => {
    const headers = { ...basic(api.project.server_key), 'idempotency-key': 'once' };
    const body = { batch: [track('One'), track('One'), { type: 'identify', userId: 'ann' }] };
    const [first, again] = [await post(body, { headers }), await post(body, { headers })];
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await told()).toHaveLength(2);
  });

  test('what a batch says of people counts before its events are looked at', async () => {
    const traits = { email: 'ann@example.com' };
    await post({ batch: [track('User Signed Up'), { type: 'identify', userId: 'ann', traits }] });
    const { body } = await api.call('GET', '/v1/profiles/external_id:ann', {
      key: api.project.server_key,
    });
    expect(body.email).toBe('ann@example.com');
  });

  test('an empty batch is nothing, and taken', async () => {
    expect((await post({ batch: [] })).body).toEqual({ success: true });
  });
});

describe('the key', () => {
  const body = { batch: [track('Made')] };

  test('200: the user name of Basic, a bearer token, or writeKey in a body that is called text', async () => {
    const { server_key, publishable_key } = api.project;
    const ways: Call[] = [
      { headers: basic(publishable_key) },
      { headers: basic(server_key, 'ignored') },
      { headers: {}, key: publishable_key },
      { headers: {}, contentType: 'text/plain', body: { ...body, writeKey: publishable_key } },
      { headers: basic(publishable_key), contentType: 'application/x-www-form-urlencoded' },
    ];
    for (const way of ways) expect((await post(body, way)).status).toBe(200);
    expect(await told()).toHaveLength(ways.length);
  });

  test('401 invalid_token: none, a wrong one, a hook token, a key as the password', async () => {
    const { server_key, hook_token } = api.project;
    const ways: Call[] = [
      { headers: {} },
      { headers: basic('') },
      { headers: basic('', server_key) },
      { headers: basic(hook_token) },
      { headers: basic(`${server_key}x`) },
      { headers: { authorization: `Token ${server_key}` } },
      { headers: {}, body: { ...body, writeKey: 7 } },
      { headers: {}, body: '{' },
      { headers: basic('wrong'), body: { ...body, writeKey: server_key } },
    ];
    for (const way of ways) expectRefusal(await post(body, way), 'invalid_token');
    expect(await told()).toEqual([]);
  });

  test('401 invalid_token: nowhere else does Basic or writeKey count', async () => {
    const event = { event: 'made', external_id: 'ann' };
    for (const call of [
      { headers: basic(api.project.server_key), body: event },
      { body: { ...event, writeKey: api.project.server_key } },
    ])
      expectRefusal(await api.call('POST', '/v1/events', call), 'invalid_token');
  });
});

describe('gzip', () => {
  const packed = (value: unknown, more: object = {}) => ({
    ...more,
    headers: { ...basic(api.project.server_key), 'content-encoding': 'gzip' },
    body: gzipSync(typeof value === 'string' ? value : JSON.stringify(value)),
  });
  /** Its body is no text, so the answer is all that can be held to the documents. */
  const send = async (given: { headers: Record<string, string>; body: Buffer }) => {
    const init = { method: 'POST', headers: given.headers, body: new Uint8Array(given.body) };
    const response = await fetch(`${api.url}/segment/v1/batch`, init);
    return { status: response.status, body: (await response.json()) as { error?: string } };
  };

  test('200: a body that is packed', async () => {
    expect((await send(packed({ batch: [track('Made')] }))).status).toBe(200);
    expect(await namesTold()).toEqual(['made']);
  });

  test('413 body_too_large: one that is small until it is unpacked', async () => {
    const answer = await send(packed(' '.repeat(200 * 1024 * 1024)));
    expect(answer).toMatchObject({ status: 413, body: { error: 'body_too_large' } });
  });

  test('400 invalid_json: one that is said to be packed and is not', async () => {
    const answer = await send({ ...packed(''), body: Buffer.from('{}') });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_json' } });
  });
});

test('what was not taken is logged by key and reason, without anything of the calls', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const resources = new Resources();
  const one = await openApi({ ...database.deps, log, resources }, { isDraining: false }, true);
  await fetch(`http://127.0.0.1:${one.port}/segment/v1/batch`, {
    method: 'POST',
    headers: basic(api.project.server_key),
    body: JSON.stringify({
      batch: [
        track('Secret', { userId: 'none' }),
        track('Secret', { timestamp: '2001-01-01T00:00:00Z' }),
        { secret: 'secret', type: 'secret' },
        track('Secret', { userId: 'none' }),
        7,
        track('Made'),
      ],
    }),
  });
  await one.close();
  await resources.close();
  const said = lines.filter((line) => line.includes('Segment-compatible API'));
  expect(said.map((line) => JSON.parse(line) as object)).toMatchObject([
    {
      project_id: api.project.project_id,
      key_id: await keyIdOf('server'),
      key_kind: 'server',
      refused: 5,
      reasons: {
        'invalid_request userId': 2,
        'occurred_at_out_of_range timestamp': 1,
        'invalid_request type': 1,
        invalid_request: 1,
      },
      left_out: 0,
    },
  ]);
  expect(said.join('')).not.toMatch(/ann|secret|none/i);
});
