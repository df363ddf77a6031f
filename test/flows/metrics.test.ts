// `/metrics`: what a process measures of itself, told to whoever may ask, and nothing of anybody.
import { describe, expect, test } from 'vitest';
import { HINTS_WAITING_MAX } from '../../src/base/hints.ts';
import { WAITING_MAX, WAITING_OF_PROJECT_MAX } from '../../src/base/session_turns.ts';
import { TRACKED_PER_LANE_MAX } from '../../src/delivery/turn.ts';
import { TURNS_MAX } from '../../src/delivery/turns.ts';
import { QUEUED_BYTES_MAX, QUEUED_EVENTS_MAX } from '../../src/ingest/flusher.ts';
import { LINKS_PER_PROVIDER_MAX } from '../../src/providers/links.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { FaultProxy } from '../fault/proxy.ts';
import { until } from '../support/until.ts';
import { addressOf, signUpOf, testWorld } from '../support/world.ts';
import type { World } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const WAIT_MS = 60_000;
/** What is told of the database is kept for seconds: to ask all the time would only cost. */
const ASK_EVERY_MS = 200;
const TOKEN = 'a-token-for-metrics';

const ask = (service: Service, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${service.port}/metrics`, { headers });

/** What there is of each queue in memory once a mail was sent: how much of it may wait. */
const QUEUES = {
  events: QUEUED_EVENTS_MAX,
  event_bytes: QUEUED_BYTES_MAX,
  hints: HINTS_WAITING_MAX,
  sessions: WAITING_MAX,
  sessions_of_a_project: WAITING_OF_PROJECT_MAX,
  publishable_sessions: WAITING_MAX / 2,
  publishable_sessions_of_a_project: WAITING_OF_PROJECT_MAX / 2,
  publishable_events: QUEUED_EVENTS_MAX / 2,
  publishable_event_bytes: QUEUED_BYTES_MAX / 2,
  token_lookups: 500,
  mails_to_render: 100,
  hand_offs: TURNS_MAX * LINKS_PER_PROVIDER_MAX,
  sends: TURNS_MAX * 220,
  outcomes: TURNS_MAX * LINKS_PER_PROVIDER_MAX * TRACKED_PER_LANE_MAX,
};

/** The value of one line of an answer. */
const valueOf = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

const post = async ({ project }: World, service: Service, person: string) => {
  const { status } = await fetch(`http://127.0.0.1:${service.port}/v1/events`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${project.server_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ ...signUpOf(person), message_id: person }),
  });
  expect(status).toBe(202);
};

describe.concurrent('an api', () => {
  const world = testWorld();

  test(
    'says to this machine, and nobody through a proxy, how late work is, and that no worker is left',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const api = await world.start('api');
      expect((await ask(api)).status).toBe(200);
      for (const name of ['x-forwarded-for', 'forwarded']) {
        const answer = await ask(api, { [name]: 'for=192.0.2.1' });
        expect([name, answer.status]).toEqual([name, 401]);
        expect(await answer.json()).toMatchObject({
          detail: expect.stringContaining('METRICS_TOKEN'),
        });
      }
      const tells = (what: string, isSo: (text: string) => boolean) =>
        until(what, async () => isSo(await (await ask(api)).text()), WAIT_MS, ASK_EVERY_MS);
      const alive = (text: string) => valueOf(text, 'trunkline_workers{state="alive"}');
      const late = (text: string) =>
        valueOf(text, 'trunkline_queue_oldest_seconds{queue="events"}');
      await post(world, api, 'bob');
      await tells('nobody works, and events wait', (text) => alive(text) === 0 && late(text) !== 0);
      const worker = await world.start('worker');
      await tells(
        'somebody works, and none waits',
        (text) => alive(text) === 1 && late(text) === 0,
      );
      await until(
        'the worker says so, too',
        async () => alive(await (await ask(worker)).text()) === 1,
      );
      await worker.stop('SIGKILL');
      await tells('nobody works any more', (text) => alive(text) === 0);
      await api.stop();
    },
  );
});

describe.concurrent('a process', () => {
  const world = testWorld();

  test(
    'it counts events, requests, jobs and hand-offs, and says how late work is and what waits in memory',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const service = await world.start('all');
      await post(world, service, 'ann');
      await post(world, service, 'ann');
      await until(
        'ann is mailed',
        async () => (await world.sendsTo('ann'))[0]?.status === 'accepted',
      );
      const text = await until('all of it is told', async () => {
        const said = await (await ask(service)).text();
        const isWhole =
          valueOf(said, 'trunkline_hand_offs_total{outcome="accepted",reason=""}') === 1 &&
          valueOf(said, 'trunkline_queue_oldest_seconds{queue="events"}') === 0;
        return isWhole && said;
      });

      const series = {
        'trunkline_events_total{result="stored"}': 1,
        'trunkline_events_total{result="duplicate"}': 1,
        trunkline_flush_events_count: 2,
        trunkline_flush_seconds_count: 2,
        'trunkline_http_request_seconds_count{method="POST",route="/v1/events",status="202"}': 2,
        trunkline_sending_held: 0,
      };
      for (const [name, value] of Object.entries(series))
        expect([name, valueOf(text, name)]).toEqual([name, value]);
      expect(text).toMatch(
        /^trunkline_job_seconds_count\{task="ingest\/process_events",result="done"\} [1-9]/m,
      );
      // Of what there is more of just now, that it is told.
      for (const name of [
        'trunkline_queue_oldest_seconds{queue="runs"}',
        'trunkline_queue_oldest_seconds{queue="sends"}',
        'trunkline_queue_oldest_seconds{queue="jobs"}',
        'trunkline_queue_oldest_seconds{queue="occurrences"}',
        'trunkline_pool_connections{state="idle"}',
        'trunkline_pool_connections{state="waiting"}',
      ])
        expect([name, valueOf(text, name)]).toEqual([name, expect.any(Number)]);
      expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
      for (const secret of ['ann', addressOf('ann'), world.project.project_id])
        expect(text).not.toContain(secret);

      // What waits in memory, and how much may.
      for (const [queue, max] of Object.entries(QUEUES)) {
        const size = `trunkline_memory_queue_size{queue="${queue}"}`;
        expect([queue, valueOf(text, size)]).toEqual([queue, expect.any(Number)]);
        const bound = valueOf(text, `trunkline_memory_queue_size_max{queue="${queue}"}`);
        expect([queue, bound]).toEqual([queue, max]);
      }
      await service.stop();
    },
  );

  test(
    'without the database nothing is said of how late work is, and what else there is, is',
    { timeout: TEST_TIMEOUT_MS },
    async () => {
      const proxy = await new FaultProxy(world.url).start();
      const api = await world.start('api', { DATABASE_URL: proxy.url });
      const series = /^trunkline_(?:workers|queue_oldest_seconds)\{/m;
      await until('it is said', async () => series.test(await (await ask(api)).text()));
      proxy.close();
      const text = await until('it is not said', async () => {
        const said = await (await ask(api)).text();
        return !series.test(said) && said;
      });
      expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
      await api.stop('SIGKILL');
    },
  );

  test('with METRICS_TOKEN whoever sends it may read it, and nobody else', async () => {
    const service = await world.start('api', { METRICS_TOKEN: TOKEN });
    const withToken = (token: string) => ask(service, { authorization: `Bearer ${token}` });
    expect((await withToken(TOKEN)).status).toBe(200);
    for (const token of ['', `${TOKEN}x`, TOKEN.slice(1), `x${TOKEN.slice(1)}`])
      expect((await withToken(token)).status).toBe(401);
    expect((await ask(service)).status).toBe(401);
    await service.stop();
  });
});

describe.concurrent('while sending is held', () => {
  const world = testWorld();

  test('the leading worker says so', { timeout: TEST_TIMEOUT_MS }, async () => {
    await world.owner.query('update base.sending set held_at = now()');
    const worker = await world.start('worker');
    await until('it is told', async () => {
      const said = await (await ask(worker)).text();
      return valueOf(said, 'trunkline_sending_held') === 1;
    });
    await world.owner.query('update base.sending set held_at = null');
    await worker.stop();
  });
});
