// Idempotency-Key on endpoints of any kind: what a handler's end means for the next try.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../src/base/refusal.ts';
import { route } from '../../src/base/route.ts';
import type { Inbound } from '../../src/base/route.ts';
import { SessionTurns } from '../../src/base/session_turns.ts';
import { answerErrors } from '../../src/http/errors.ts';
import { identify } from '../../src/http/identify.ts';
import { mountRoutes } from '../../src/http/mount.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { holdSessions } from '../support/held_sessions.ts';

const database = testDatabase();

/** What the endpoint does next, and what it saw. */
let act: () => unknown = () => ({});
let isThere = true;
let runs: string[] = [];

const trial = route({
  method: 'POST',
  path: '/v1/trials/:id',
  access: 'server',
  summary: 'Does what the test says.',
  status: 201,
  answer: z.unknown(),
  find: () => Promise.resolve(isThere ? {} : null),
  query: z.strictObject({ x: z.string().optional() }),
  body: z.strictObject({ n: z.int() }),
  handle: async ({ repetitionId }: Inbound<{ n: number }, unknown, unknown>) => {
    runs.push(repetitionId ?? 'none');
    return act();
  },
});
const server = createServer();
let key = '';
let projectId = '';
/** Whoever has to wait is refused at once, as good as. */
const turns = new SessionTurns(1);

beforeAll(async () => {
  const router = new Router();
  mountRoutes(router, { ...database.deps, turns }, [trial]);
  const app = new Koa().use(identify).use(answerErrors(database.deps.log)).use(router.routes());
  const handle = app.callback();
  server.on('request', (request, response) => void handle(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  ({ server_key: key, project_id: projectId } = await createProject(database.deps, 'test'));
});
afterAll(() => void server.close());
beforeEach(() => {
  runs = [];
  isThere = true;
  act = () => ({ made: runs.length });
});

const post = async (
  idempotencyKey: string,
  { body = '{"n":1}', path = '/v1/trials/a' } = {},
): Promise<Answer & { isReplayed: boolean }> => {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json(),
    isReplayed: response.headers.has('idempotency-replayed'),
  };
};

test('status and body are those of the first answer', async () => {
  const once = randomUUID();
  act = () => ({ z: 1, a: [{ text: 'ä "quoted"' }, null], at: '2026-01-01T00:00:00.000Z' });
  const first = await post(once);
  act = () => ({ other: true });
  const again = await post(once);
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
  expect([first.isReplayed, again.isReplayed]).toEqual([false, true]);
  expect(runs).toHaveLength(1);
});

test('what was refused runs again, as a new request', async () => {
  const once = randomUUID();
  act = () => {
    throw new Refusal('provider_preflight_failed');
  };
  expectRefusal(await post(once), 'provider_preflight_failed');
  act = () => ({ made: true });
  expect(await post(once, { body: '{"n":2}' })).toMatchObject({ status: 201, isReplayed: false });
  expect(new Set(runs).size).toBe(2);
});

test('what failed runs again, known by the same id; another request is refused', async () => {
  const once = randomUUID();
  for (const reason of ['unavailable', 'internal_error', 'overloaded'] as const) {
    act = () => {
      throw new Refusal(reason);
    };
    expectRefusal(await post(once), reason);
  }
  act = () => {
    throw new Error('a bug');
  };
  expectRefusal(await post(once), 'internal_error');
  expectRefusal(await post(once, { body: '{"n":2}' }), 'idempotency_key_reused');
  act = () => ({ made: true });
  expect(await post(once)).toMatchObject({ status: 201, isReplayed: false });
  expect(runs).toHaveLength(5);
  expect(new Set(runs).size).toBe(1);
});

test('the address belongs to the request: another object or query is another request', async () => {
  const once = randomUUID();
  await post(once);
  for (const path of ['/v1/trials/b', '/v1/trials/a?x=1'])
    expectRefusal(await post(once, { path }), 'idempotency_key_reused');
});

test('the answer is given again when the object is gone since, and 404 to everything else', async () => {
  const once = randomUUID();
  act = () => {
    isThere = false;
    return { erased: true };
  };
  await post(once);
  expect(await post(once)).toMatchObject({
    status: 201,
    body: { erased: true },
    isReplayed: true,
  });
  expectRefusal(await post(once, { body: '{"n":2}' }), 'not_found');
  for (const other of [randomUUID(), 'k'.repeat(256)])
    expectRefusal(await post(other), 'not_found');
  expectRefusal(await post(once, { body: 'x'.repeat(70_000) }), 'not_found');
  expect(runs).toHaveLength(1);
});

test('a run that takes longer than a claim keeps its claim', async () => {
  const once = randomUUID();
  let finish = () => {};
  act = () => new Promise<object>((resolve) => (finish = () => resolve({ slow: true })));
  const running = post(once);
  await expect.poll(() => runs.length).toBe(1);
  // As if the claim were about to run out: the next renewal must put it off.
  await database.owner.query(
    "update http.idempotency_keys set claimed_until = now() + interval '5 seconds' where answer is null",
  );
  await expect
    .poll(
      async () => {
        const { rows } = await database.owner.query<{ is_renewed: boolean }>(
          `select claimed_until > now() + interval '8 seconds' as is_renewed
          from http.idempotency_keys where answer is null and claimed_until is not null`,
        );
        return rows.map(({ is_renewed }) => is_renewed);
      },
      { timeout: 10_000 },
    )
    .toEqual([true]);
  expectRefusal(await post(once), 'idempotency_key_in_use');
  finish();
  expect(await running).toMatchObject({ status: 201 });
  expect(await post(once)).toMatchObject({ body: { slow: true }, isReplayed: true });
});

test('an answer that cannot be kept is given all the same: what was done is done', async () => {
  const once = randomUUID();
  act = async () => {
    await database.owner.query('revoke update on http.idempotency_keys from trunkline_runtime');
    return { made: true };
  };
  const answer = await post(once);
  await database.owner.query('grant update on http.idempotency_keys to trunkline_runtime');
  expect(answer).toMatchObject({ status: 201, body: { made: true } });
});

/** While this goes on, no request of the project has a session. */
const withoutSessions = async <T>(work: () => Promise<T>): Promise<T> => {
  const giveBack = holdSessions(turns, projectId);
  try {
    return await work();
  } finally {
    await giveBack();
  }
};

test('what was done is noted, however much waits for the database by then', async () => {
  const repeated = randomUUID();
  let giveBack = () => Promise.resolve();
  act = () => {
    giveBack = holdSessions(turns, projectId);
    return { made: true };
  };
  const first = await post(repeated);
  await giveBack();
  expect(first.status).toBe(201);
  const again = await post(repeated);
  expect([again.body, again.isReplayed]).toEqual([first.body, true]);
  expect(runs).toHaveLength(1);
});

test('503 overloaded: whether a request came before is not known, and not taken for no', async () => {
  const repeated = randomUUID();
  await post(repeated);
  isThere = false;
  expectRefusal(await withoutSessions(() => post(repeated)), 'overloaded');
});

test('503 overloaded: a claim waits for a session as any other work, and nothing runs without one', async () => {
  expectRefusal(await withoutSessions(() => post(randomUUID())), 'overloaded');
  expect(runs).toEqual([]);
});
