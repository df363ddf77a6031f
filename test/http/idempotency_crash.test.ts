import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { tcpProxy } from '../support/tcp_proxy.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const world = testWorld();
const proxy = tcpProxy(() => world.url);

const TIMEOUT_MS = 90_000;
const events = [
  { event: 'order_completed', external_id: 'ann', properties: { total: 1 } },
  { event: 'order_completed', external_id: 'ann', properties: { total: 1 } },
  { event: 'order_completed', external_id: 'ann', message_id: 'own-id' },
];

const send = (port: number, key: string) =>
  fetch(`http://127.0.0.1:${port}/v1/events/batch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.project.server_key}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ events }),
  });

/** Every place between two statements where a process can die while it answers one request. */
const places = [
  { mark: 'http.claim_key', fate: 'hold_request', dies: 'before its key is claimed' },
  { mark: 'http.claim_key', fate: 'hold_answer', dies: 'after its key is claimed' },
  { mark: 'ingest.accept_events', fate: 'hold_answer', dies: 'after its events are committed' },
  { mark: 'update http.idempotency_keys', fate: 'hold_request', dies: 'before its answer is kept' },
] as const;

test.each(places)(
  'a process is killed $dies: the same request again stores its events once',
  { timeout: TIMEOUT_MS },
  async ({ mark, fate }) => {
    await world.owner.query('delete from ingest.events');
    await world.owner.query('delete from ingest.message_ids');
    proxy.decide(mark, () => fate);
    const doomed = await world.start('api', { DATABASE_URL: proxy.through(world.url) });
    const key = randomUUID();
    const lost = proxy.lost();
    const answering = send(doomed.port, key).then(
      () => 'answered',
      () => 'no answer',
    );
    await until('the process is where it shall die', () => proxy.lost() > lost);
    await doomed.stop('SIGKILL');
    expect(await answering).toBe('no answer');

    const next = await world.start('api');
    const answer = await until('the claim of the dead runs out', async () => {
      const response = await send(next.port, key);
      if (response.status === 202) return response;
      expect(response.status).toBe(409);
      await response.text();
      return null;
    });
    const { event_ids } = (await answer.json()) as { event_ids: string[] };
    const { rows } = await world.owner.query<{ event_id: string }>(
      'select event_id from ingest.events order by event_id',
    );
    expect(rows.map(({ event_id }) => event_id)).toEqual(event_ids.toSorted());
    expect(event_ids).toHaveLength(events.length);
    const again = await send(next.port, key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toMatchObject({ event_ids });
    await next.stop('SIGKILL');
  },
);
