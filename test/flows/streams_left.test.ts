// Viewers who come and leave at once, many times: the process lives, and counts nobody who is gone.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openStream, tells } from '../support/event_stream.ts';
import { makePerson } from '../support/people.ts';
import { inHalves } from '../support/session.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const world = testWorld();
const DELAYS_MS = [0, 1, 2, 3, 4];
const TIMES_EACH = 3;

test('whoever leaves before a stream begins ends no process', { timeout: 60_000 }, async () => {
  const service = await world.start('api');
  const url = `http://127.0.0.1:${service.port}`;
  const { project_id: projectId } = world.project;
  const input = encodeURIComponent(JSON.stringify({ projectId }));
  const makeViewer = () => makePerson(world, { projectId, role: 'viewer' });
  for (const delayMs of DELAYS_MS) {
    const halves = Object.entries(inHalves((await makeViewer()).cookie));
    const lines = halves.map(([name, value]) => `${name}: ${value}`).join('\r\n');
    for (let at = 0; at < TIMES_EACH; at += 1) {
      const socket = connect(service.port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(
        `GET /admin/trpc/events.latest?input=${input} HTTP/1.1\r\nHost: localhost\r\n` +
          `${lines}\r\nAccept: text/event-stream\r\n\r\n`,
      );
      await wait(delayMs);
      socket.destroy();
    }
  }
  const { cookie } = await makeViewer();
  const stays = await openStream(url, 'events.latest', { input: { projectId }, cookie });
  await tells(stays, 1);
  await until(
    'only who stayed is counted',
    async () => (await (await fetch(`${url}/metrics`)).text()).includes('\ntrunkline_streams 1\n'),
    5_000,
  );
  await world.owner.query('delete from admin.sessions');
  await stays.ended;
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  // A process that stops ends what is left, and stops well.
  expect(await service.stop('SIGTERM')).toBe(0);
});
