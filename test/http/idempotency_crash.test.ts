import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Service } from '../../src/runtime/start_service.ts';
import { tcpProxy } from '../support/tcp_proxy.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const world = testWorld();

const TIMEOUT_MS = 90_000;
/** A claim runs out after seconds, so nothing is lost by asking less often than all the time. */
const POLL_MS = 250;
const eventsOf = (person: string) => [
  { event: 'order_completed', external_id: person, properties: { total: 1 } },
  { event: 'order_completed', external_id: person, properties: { total: 1 } },
  { event: 'order_completed', external_id: person, message_id: `${person}-own-id` },
];

const send = ({ port }: Service, person: string, key: string) =>
  fetch(`http://127.0.0.1:${port}/v1/events/batch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.project.server_key}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ events: eventsOf(person) }),
  });

/** Every place between two statements where a process can die while it answers one request. */
const places = (
  [
    { mark: 'http.claim_key', fate: 'hold_request', dies: 'before its key is claimed' },
    { mark: 'http.claim_key', fate: 'hold_answer', dies: 'after its key is claimed' },
    { mark: 'ingest.accept_events', fate: 'hold_answer', dies: 'after its events are committed' },
    {
      mark: 'update http.idempotency_keys',
      fate: 'hold_request',
      dies: 'before its answer is kept',
    },
  ] as const
).map((place, at) => ({ ...place, person: `ann-${at}`, proxy: tcpProxy(() => world.url) }));

/** Whom the same is asked again when one has died. */
let other: Service;
beforeAll(async () => {
  other = await world.start('api');
});

// Each claim has to run out: they do so at the same time.
test.concurrent.each(places)(
  'a process is killed $dies: the same request again stores its events once',
  { timeout: TIMEOUT_MS },
  async ({ mark, fate, person, proxy }) => {
    proxy.decide(mark, () => fate);
    const doomed = await world.start('api', { DATABASE_URL: proxy.through(world.url) });
    const key = randomUUID();
    const lost = proxy.lost();
    const answering = send(doomed, person, key).then(
      () => 'answered',
      () => 'no answer',
    );
    await until('the process is where it shall die', () => proxy.lost() > lost);
    await doomed.stop('SIGKILL');
    expect(await answering).toBe('no answer');

    const againByOther = async () => {
      const response = await send(other, person, key);
      if (response.status === 202) return response;
      expect(response.status).toBe(409);
      await response.text();
      return null;
    };
    const answer = await until('the claim of the dead runs out', againByOther, undefined, POLL_MS);
    const { event_ids } = (await answer.json()) as { event_ids: string[] };
    const { rows } = await world.owner.query<{ event_id: string }>(
      'select event_id from ingest.events where external_id = $1 order by event_id',
      [person],
    );
    expect(rows.map(({ event_id }) => event_id)).toEqual(event_ids.toSorted());
    expect(event_ids).toHaveLength(eventsOf(person).length);
    const again = await send(other, person, key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.json()).toMatchObject({ event_ids });
  },
);
