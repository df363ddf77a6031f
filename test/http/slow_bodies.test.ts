// Idle connections, each with most of a body: they shut out no visitor of another address.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { bodiesInHandOf, SLOW_BODY_MS, STRANGERS_BYTES_MAX } from '../../src/base/bodies/bodies.ts';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const resources = new Resources();
const deps = () => ({
  ...database.deps,
  resources,
  config: {
    ...database.deps.config,
    trustedProxies: 1,
    rateLimitAddress: 0,
    rateLimitPublishable: 0,
    unitLimitAddress: 0,
    unitLimitPublishable: 0,
    unitLimitServer: 0,
  },
});
let api: Listening;
let project: NewProject;
let sockets: Socket[] = [];
let nowMs = 0;

beforeAll(async () => {
  api = await openApi(deps(), { isDraining: false }, true);
});
afterAll(async () => {
  await api.close();
  await resources.close();
});
beforeEach(async () => {
  project = await createProject(database.deps, 'slow');
  nowMs = Math.ceil(performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await until('all are released', async () => heldBytes() === 0);
});

const heldBytes = () => bodiesInHandOf(deps()).heldBytes.all;
const LAST = '"}}';
const PROJECT_BYTES = STRANGERS_BYTES_MAX / 2;
const BODY_BYTES = 1_000_000;

type Sent = { address: string; bytes: number; key?: string };
type Slow = { answer: Promise<string>; finish: () => void; isClosed: () => boolean };

/** Sends a body but for its last bytes. */
const sendSlowly = async ({
  address,
  bytes,
  key = project.publishable_key,
}: Sent): Promise<Slow> => {
  const socket = connect(api.port, '127.0.0.1');
  sockets.push(socket);
  let said = '';
  let isClosed = false;
  const answer = new Promise<string>((resolve) => {
    socket.on('error', () => {}).on('data', (chunk) => (said += chunk.toString()));
    socket.on('close', () => {
      isClosed = true;
      resolve(said);
    });
  });
  const body = '{"userId":"slow","integrations":{"a":"'.padEnd(bytes, 'x');
  const before = heldBytes();
  socket.write(
    `POST /segment/v1/identify HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
      `Connection: close\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes + LAST.length}\r\n\r\n${body}`,
  );
  await until('all but the end is in', async () => heldBytes() === before + bytes);
  return { answer, finish: () => socket.write(LAST), isClosed: () => isClosed };
};

/** Fills what publishable keys of the project have, from a few addresses. */
const fill = async (): Promise<Slow[]> => {
  const slow: Slow[] = [];
  for (let bytes = PROJECT_BYTES - heldBytes(); bytes > 0; bytes -= BODY_BYTES)
    slow.push(
      await sendSlowly({
        address: `192.0.2.${slow.length % 5}`,
        bytes: Math.min(bytes, BODY_BYTES),
      }),
    );
  return slow;
};

const visit = async (key = project.publishable_key) => {
  const response = await fetch(`http://127.0.0.1:${api.port}/v1/events`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-forwarded-for': '198.51.100.7',
    },
    body: JSON.stringify({ event: 'seen', external_id: 'ann' }),
  });
  await response.arrayBuffer();
  return response.status;
};

test('attack: bodies that lack their last bytes shut out no visitor: the slowest is ended with 408', async () => {
  const slow = await fill();
  nowMs += SLOW_BODY_MS - 1;
  expect(await visit()).toBe(503);
  expect(await visit(project.server_key)).toBe(202);
  nowMs += 1;
  expect(await visit()).toBe(202);
  const [first, ...others] = slow;
  const answer = await first?.answer;
  expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*\r\nconnection: close\r\n[^]*"request_timeout"/i);
  expect(others.map(({ isClosed }) => isClosed())).not.toContain(true);
  others.at(-1)?.finish();
  expect(await others.at(-1)?.answer).toMatch(/^HTTP\/1\.1 200 /);
});

test('a body that has arrived is not ended, however long its request takes', async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin; lock table profiles.profiles in access exclusive mode');
  try {
    const whole = await sendSlowly({ address: '192.0.2.77', bytes: BODY_BYTES });
    whole.finish();
    await until('it is parsed', async () => heldBytes() > 2 * BODY_BYTES);
    const [first] = await fill();
    nowMs += 10 * SLOW_BODY_MS;
    expect(await visit()).toBe(202);
    expect(await first?.answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(whole.isClosed()).toBe(false);
    await holder.query('commit');
    expect(await whole.answer).toMatch(/^HTTP\/1\.1 200 /);
  } finally {
    await holder.end();
  }
});

test('a slow body is not ended where there is room', async () => {
  const slow = await sendSlowly({ address: '192.0.2.1', bytes: BODY_BYTES });
  nowMs += 10 * SLOW_BODY_MS;
  expect(await visit()).toBe(202);
  expect(slow.isClosed()).toBe(false);
  slow.finish();
  expect(await slow.answer).toMatch(/^HTTP\/1\.1 200 /);
});
