// Whoever leaves before a stream has begun: nothing is left of it.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { streamsOf } from '../../src/admin/streams.ts';
import { feedsOf } from '../../src/base/feeds.ts';
import { toWire } from '../http/raw_http.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import { inHalves } from '../support/session.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);

const ROUNDS = 8;
const DELAYS_MS = [0, 1, 2, 3, 4];

/** A request to look on as a viewer of their own, as it goes over the wire. */
const request = async (): Promise<string> => {
  const { project_id: projectId } = api.project;
  const { cookie } = await makePerson(database, { projectId, role: 'viewer' });
  const input = encodeURIComponent(JSON.stringify({ projectId }));
  const headers = { ...inHalves(cookie), Accept: 'text/event-stream' };
  return toWire({ path: `/admin/trpc/events.latest?input=${input}`, headers });
};
const write = async (text: string) => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
};
const counts = () => [streamsOf(database.deps).count, feedsOf(database.deps).count];
const isNone = () => counts().every((count) => count === 0);
/** Until the door has asked the database for everybody who came. */
const settle = async (): Promise<void> => {
  await fetch(`${api.url}/readyz`);
  await until('no request is under way', async () => {
    const { rows } = await database.owner.query(
      `select from pg_stat_activity where state <> 'idle' and datname = current_database()
      and pid <> pg_backend_pid()`,
    );
    return rows.length === 0;
  });
};

test('however soon they leave, they are not counted, and nobody reads for them', async () => {
  for (let round = 0; round < ROUNDS; round += 1)
    for (const delayMs of DELAYS_MS) {
      const socket = await write(await request());
      await wait(delayMs);
      socket.destroy();
    }
  await settle();
  await until('nobody looks on', isNone, 5_000);
  // What was left would be ended here, with nobody to hear of it.
  await database.owner.query('delete from admin.sessions');
  await streamsOf(database.deps).check();
  await settle();
  expect(counts()).toEqual([0, 0]);
});

test('an answer that waits behind another leaves with its connection', async () => {
  const socket = await write((await request()) + (await request()));
  await until('both look on', () => streamsOf(database.deps).count === 2);
  socket.destroy();
  await until('nobody looks on', isNone, 5_000);
});
