// The connection dies while a flush is being committed: nobody is told "stored" on a guess.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { sessionTurnsOf, TURNS_OF_PROJECT_MAX } from '../../src/base/session_turns.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { connectAs } from '../base/connections.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { holdSessions } from '../support/held_sessions.ts';
import { tcpProxy } from '../support/tcp_proxy.ts';
import type { Fate } from '../support/tcp_proxy.ts';
import { until } from '../support/until.ts';

const ROUNDS = 15;
const CLIENTS = 6;
const TRIES_MAX = 30;
const TIMEOUT_MS = 90_000;
const FLUSH = 'ingest.accept_events';

const database = testDatabase();
const near = testApi(database);
const proxy = tcpProxy(() => database.url);

let far: Listening;
const resources = new Resources();
let closeFar = async () => {};

beforeAll(async () => {
  const url = runtimeUrl(proxy.through(database.url), database.deps.keys);
  const db = await openDb(url);
  far = await openApi({ ...database.deps, db, resources }, { isDraining: false }, true);
  closeFar = async () => {
    await far.close();
    await resources.close();
    await db.end();
  };
});
afterAll(() => closeFar());

const send = async (events: object[], headers: Record<string, string> = {}): Promise<Answer> => {
  const response = await fetch(`http://127.0.0.1:${far.port}/v1/events/batch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${near.project.server_key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ events }),
  });
  const body = await response.json();
  return { status: response.status, headers: response.headers, body };
};
const made = (name: string, given: object = {}) => ({
  event: name,
  external_id: 'ann',
  ...given,
});
const storedIds = async (name: string): Promise<string[]> => {
  const { rows } = await database.owner.query<{ event_id: string }>(
    'select event_id from ingest.events where name = $1 order by event_id',
    [name],
  );
  return rows.map(({ event_id }) => event_id);
};

/** The first flush from now on meets this fate; what follows passes. */
const firstFlush = (fate: Fate): void => {
  let isFirst = true;
  proxy.decide(FLUSH, () => {
    if (!isFirst) return 'pass';
    isFirst = false;
    return fate;
  });
};

test('202: the answer to a commit is lost, and the events are found', async () => {
  const lost = proxy.lost();
  firstFlush('cut_answer');
  const { status, body } = await send([made('answer_lost'), made('answer_lost')]);
  expect([status, proxy.lost()]).toEqual([202, lost + 1]);
  expect(body).toMatchObject({ accepted: 2, duplicates: 0 });
  expect(await storedIds('answer_lost')).toEqual(body.event_ids.toSorted());
});

test('202: they are found, however much of the project waits for the database', async () => {
  const turns = sessionTurnsOf({ resources });
  const giveBack = holdSessions(turns, near.project.project_id);
  firstFlush('cut_answer');
  expect((await send([made('lost_in_a_crowd')])).status).toBe(202);
  expect(turns.heldCount).toBe(TURNS_OF_PROJECT_MAX);
  await giveBack();
  expect(await storedIds('lost_in_a_crowd')).toHaveLength(1);
});

test('202: duplicates among the events whose answer was lost are still told from the new ones', async () => {
  const old = await send([made('lost_among', { message_id: 'old' })]);
  firstFlush('cut_answer');
  const { status, body } = await send([
    made('lost_among', { message_id: 'old' }),
    made('lost_among', { message_id: 'new' }),
    made('lost_among'),
    made('lost_among', { message_id: 'new' }),
  ]);
  expect(status).toBe(202);
  expect(body).toMatchObject({ accepted: 2, duplicates: 2 });
  expect(body.event_ids[0]).toBe(old.body.event_ids[0]);
  expect(body.event_ids[3]).toBe(body.event_ids[1]);
  expect(await storedIds('lost_among')).toHaveLength(3);
});

test('503 unavailable: a flush that never arrived is not taken for stored', async () => {
  firstFlush('cut_request');
  const answer = await send([made('request_lost', { message_id: 'request-lost' })]);
  expectRefusal(answer, 'unavailable');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(await storedIds('request_lost')).toEqual([]);
  const again = await send([made('request_lost', { message_id: 'request-lost' })]);
  expect(again.body).toMatchObject({ accepted: 1, duplicates: 0 });
});

test(
  'many clients, connections cut at every place: 202 is stored, anything else may be repeated',
  { timeout: TIMEOUT_MS },
  async () => {
    const fates: Fate[] = ['pass', 'cut_behind', 'cut_answer', 'pass', 'cut_request', 'cut_answer'];
    let flushes = 0;
    proxy.decide(FLUSH, () => fates[flushes++ % fates.length] ?? 'pass');
    let refusals = 0;
    const stored = new Map<string, string[]>();
    const work = async (client: number) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const name = `cut_${client}_${round}`;
        // One event is known by its message id, the other by the request's Idempotency-Key.
        const events = [made(name, { message_id: `${name}/a` }), made(name)];
        const key = { 'idempotency-key': name };
        let answer = await send(events, key);
        for (let tries = 1; answer.status !== 202 && tries < TRIES_MAX; tries += 1) {
          expectRefusal(answer, 'unavailable');
          refusals += 1;
          answer = await send(events, key);
        }
        expect(answer.status).toBe(202);
        stored.set(name, answer.body.event_ids);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
    for (const [name, ids] of stored) expect(await storedIds(name)).toEqual(ids.toSorted());
    expect(stored.size).toBe(ROUNDS * CLIENTS);
    console.log(`connections cut: ${refusals} refusals, ${proxy.lost()} requests or answers lost`);
    expect(proxy.lost()).toBeGreaterThan(0);
  },
);

test('a flush that takes too long is a timeout of the database: 503, for all events in it, unsplit', async () => {
  proxy.decide(FLUSH, () => 'pass');
  const canceller = await connectAs(database, 'trunkline_runtime');
  await database.owner.query('begin');
  await database.owner.query('lock table ingest.message_ids in access exclusive mode');
  const sending = ['a', 'b', 'c'].map((id) => send([made('too_slow', { message_id: id })]));
  let isOver = false;
  const answering = Promise.all(sending).finally(() => (isOver = true));
  await until('every flush is cancelled', async () => {
    // What the statement timeout does, without the wait: the same SQLSTATE, 57014.
    await canceller.query(
      `select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [`%${FLUSH}%`],
    );
    return isOver;
  });
  await database.owner.query('rollback');
  for (const answer of await answering) expectRefusal(answer, 'database_timeout');
  expect(await storedIds('too_slow')).toEqual([]);
});
