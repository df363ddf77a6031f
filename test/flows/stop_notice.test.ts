// A process that is asked to stop says so while it still answers: a balancer that polls has time to hear of it.
import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { signUpOf, testWorld } from '../support/world.ts';

const world = testWorld();
const TEST_TIMEOUT_MS = 50_000;
/** Longer than any test lasts: it is over when the second signal comes. */
const NOTICE = { STOP_NOTICE_SECONDS: '60' };

type Said = { status: number; body: string };

/** Asks over a connection of its own: whoever listens no longer resets it. */
const ask = (port: number, path: string, body?: object): Promise<Said> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${world.project.server_key}`,
      'content-type': 'application/json',
    };
    const method = body ? 'POST' : 'GET';
    const agent = new Agent({ keepAlive: false });
    const asking = request({ host: '127.0.0.1', port, path, method, headers, agent }, (answer) => {
      let said = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: said }));
      answer.on('error', reject);
    });
    asking.on('error', reject);
    asking.end(body ? JSON.stringify(body) : undefined);
  });

const isNotReady = async (port: number): Promise<boolean> => {
  const { status, body } = await ask(port, '/readyz');
  return status === 503 && body.includes('"draining"');
};

test.each(['api', 'all'] as const)(
  'role %s: 503 from /readyz at once, 202 to events until the notice is over, and then nobody listens',
  { timeout: TEST_TIMEOUT_MS },
  async (role) => {
    const service = await world.start(role, NOTICE);
    const { port } = service;
    expect((await ask(port, '/readyz')).status).toBe(200);
    service.child.kill('SIGTERM');
    await until('it says that it stops', () => isNotReady(port));
    // New connections, one after the other, as a balancer makes them that has not asked again yet.
    for (const number of [1, 2, 3]) {
      const person = `late-${role}-${number}`;
      const { status } = await ask(port, '/v1/events', signUpOf(person));
      expect([person, status]).toEqual([person, 202]);
    }
    expect((await ask(port, '/healthz')).status).toBe(200);
    expect(await isNotReady(port)).toBe(true);
    expect(await service.stop('SIGTERM')).toBe(0);
    await expect(ask(port, '/readyz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const { rows } = await world.owner.query<{ count: number }>(
      'select count(*)::int from ingest.events where external_id like $1',
      [`late-${role}-%`],
    );
    expect(rows).toEqual([{ count: 3 }]);
  },
);

test('a worker, which no balancer sends anything, stops without notice', async () => {
  const worker = await world.start('worker', NOTICE);
  expect(await worker.stop('SIGTERM')).toBe(0);
});
