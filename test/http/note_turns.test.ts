// After a request with an Idempotency-Key is done, its answer is kept. That must not hold up other projects.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openLog } from '../../src/base/log.ts';
import { NOTE_WAIT_MAX_MS } from '../../src/base/note_turns.ts';
import { Resources } from '../../src/base/resources.ts';
import { route } from '../../src/base/route.ts';
import { sessionTurnsOf } from '../../src/base/session_turns.ts';
import { answerErrors } from '../../src/http/errors.ts';
import { identify } from '../../src/http/identify.ts';
import { mountRoutes } from '../../src/http/mount.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const resources = new Resources();
const lines: string[] = [];

let letGo = Promise.resolve();
let begun = 0;
const trial = route({
  method: 'POST',
  path: '/v1/trials',
  access: 'server',
  summary: 'Waits until the test lets go.',
  status: 201,
  answer: z.unknown(),
  body: z.strictObject({}),
  handle: async () => {
    begun += 1;
    await letGo;
    return {};
  },
});

const server = createServer();
let locked: NewProject;
let other: NewProject;
beforeAll(async () => {
  const log = openLog('warn', { write: (line) => void lines.push(line) });
  const deps = { ...database.deps, resources, log };
  const router = new Router();
  mountRoutes(router, { ...deps, turns: sessionTurnsOf(deps) }, [trial]);
  const app = new Koa().use(identify).use(answerErrors(log)).use(router.routes());
  const handle = app.callback();
  server.on('request', (request, response) => void handle(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  locked = await createProject(database.deps, 'locked');
  other = await createProject(database.deps, 'other');
});
afterAll(async () => {
  server.close();
  await resources.close();
});

const post = async ({ server_key }: NewProject, idempotencyKey: string): Promise<number> => {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/v1/trials`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server_key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: '{}',
  });
  return response.status;
};

test('a locked row of one project does not delay requests with an Idempotency-Key of another', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  letGo = promise;
  begun = 0;
  const stuck = [post(locked, randomUUID()), post(locked, randomUUID())];
  await until('both are at work', () => begun === 2);
  const holder = await connectTo(database, locked.project_id);
  await holder.query('begin');
  await holder.query('select from http.idempotency_keys where project_id = $1 for update', [
    locked.project_id,
  ]);
  const lockedAt = performance.now();
  resolve();
  await untilWaiting(database);
  for (let time = 0; time < 5; time += 1) expect(await post(other, randomUUID())).toBe(201);
  expect(await isSettled(Promise.race(stuck))).toBe(false);

  // The second one of the project waits for its turn no longer than this. It is answered, and its note is dropped.
  expect(await Promise.race(stuck)).toBe(201);
  expect(performance.now() - lockedAt).toBeLessThan(NOTE_WAIT_MAX_MS + 3_000);
  expect(lines.filter((line) => line.includes('keeping the answer failed'))).toHaveLength(1);
  await holder.query('commit');
  expect(await Promise.all(stuck)).toEqual([201, 201]);
});
