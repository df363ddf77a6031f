import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { QUEUED_EVENTS_MAX } from '../../src/ingest/flusher.ts';
import { BATCH_EVENTS_MAX } from '../../src/ingest/schema.ts';
import { createProject, KEY_CACHE_MS, listKeys, revokeKey } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { untilWaiting } from '../base/connections.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const REVOCATION_MAX_MS = 60_000;
const LOOK_EVERY_MS = 200;
/** So many requests are too much for one process. */
const BATCHES_EACH = QUEUED_EVENTS_MAX / BATCH_EVENTS_MAX + 20;

const world = testWorld();
let apis: Service[] = [];
beforeAll(async () => {
  apis = await Promise.all([world.start('api'), world.start('api')]);
});

type Answer = { status: number; retryAfter: string | null; body: { error?: string } };

const ask = async ({ port }: Service, path: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, body: (await response.json()) as Answer['body'] };
};
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

test.concurrent(
  'a key that is revoked is refused by every process within a minute, and stays refused',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { project_id, server_key } = await createProject(world.deps, 'revoked');
    const read = (api: Service) => ask(api, '/v1/suppressions', { headers: bearer(server_key) });
    for (const api of apis) expect((await read(api)).status).toBe(200);
    const page = { limit: 10, beforeId: null };
    const keys = await listKeys(world.deps.db, project_id, page);
    const { key_id } = keys.find(({ last_four }) => last_four === server_key.slice(-4)) ?? {};

    await revokeKey(world.deps, project_id, String(key_id));
    const revokedAt = Date.now();
    const refusedAfterMs = await Promise.all(
      apis.map((api) =>
        vi.waitFor(
          async () => {
            expect((await read(api)).status).toBe(401);
            return Date.now() - revokedAt;
          },
          { timeout: REVOCATION_MAX_MS, interval: LOOK_EVERY_MS },
        ),
      ),
    );
    console.log(`revoked keys were refused after ${refusedAfterMs.join(' and ')} ms`);
    expect(KEY_CACHE_MS).toBeLessThan(REVOCATION_MAX_MS);
    for (const api of apis)
      expect(await read(api)).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
  },
);

type Sent = { api: Service; messageIds: string[] };

const post = ({ api, messageIds }: Sent, { server_key }: NewProject): Promise<Answer> => {
  const events = messageIds.map((message_id) => ({ event: 'a', external_id: 'ann', message_id }));
  return ask(api, '/v1/events/batch', {
    method: 'POST',
    headers: { ...bearer(server_key), 'content-type': 'application/json' },
    body: JSON.stringify({ events }),
  });
};

/** More than the processes will keep in memory, while the database stores nothing. */
const flood = async (sent: Sent[], project: NewProject): Promise<Answer[]> => {
  const holder = new pg.Client({ connectionString: world.url });
  await holder.connect();
  await holder.query('begin; lock table ingest.pending in exclusive mode');
  const refusedBy = new Set<Service>();
  const asking = sent.map(async (one) => {
    const answer = await post(one, project);
    if (answer.status === 503) refusedBy.add(one.api);
    return answer;
  });
  try {
    await untilWaiting(world, apis.length);
    await until('each process has refused some', () => refusedBy.size === apis.length);
    for (const api of apis) {
      expect((await ask(api, '/healthz')).status).toBe(200);
      const headers = bearer(project.server_key);
      expect((await ask(api, '/v1/suppressions', { headers })).status).toBe(200);
    }
  } finally {
    await holder.query('commit');
    await holder.end();
  }
  return Promise.all(asking);
};

test.concurrent(
  '503 overloaded: what is too much is refused politely, and stored once when it is sent again elsewhere',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const project = await createProject(world.deps, 'overloaded');
    const sent = Array.from({ length: BATCHES_EACH * apis.length }, (_, at) => ({
      api: apis[at % apis.length] as Service,
      messageIds: Array.from({ length: BATCH_EVENTS_MAX }, (_event, nth) => `${at}-${nth}`),
    }));
    const answers = await flood(sent, project);
    const repeated = sent.filter((_, at) => answers[at]?.status !== 202);
    for (const { status, retryAfter, body } of answers.filter((one) => one.status !== 202)) {
      expect([status, body.error]).toEqual([503, 'overloaded']);
      expect(retryAfter).toMatch(/^[1-9]\d*$/);
    }
    console.log(`${repeated.length} of ${sent.length} requests were refused`);

    // Also one that was stored: a client that lost the answer cannot know.
    for (const { api, messageIds } of [...repeated, ...sent.slice(0, 1)]) {
      const other = apis.find((one) => one !== api) ?? api;
      await until('a repeated request is taken', async () => {
        const { status } = await post({ api: other, messageIds }, project);
        return status === 202;
      });
    }
    const { rows } = await world.owner.query(
      `select count(*)::integer as events, count(distinct event_id)::integer as messages
      from ingest.message_ids join ingest.events using (project_id, event_id) where project_id = $1`,
      [project.project_id],
    );
    const all = sent.length * BATCH_EVENTS_MAX;
    expect(rows).toEqual([{ events: all, messages: all }]);
    expect(apis.map((api) => api.child.exitCode)).toEqual([null, null]);
  },
);
