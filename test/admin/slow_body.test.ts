// The body of a sign-in that arrives slowly is ended where the requests of its address are used up.
import { connect } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { SLOW_BODY_MS } from '../../src/base/bodies/bodies.ts';
import { consoleAt } from '../support/console_at.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const AT_ONCE = 2;
const at = consoleAt(database, { RATE_LIMIT_ADDRESS: String(AT_ONCE) });
afterEach(() => void vi.restoreAllMocks());

const signIn = () =>
  at.call(
    'session.signIn',
    { email: 'ann@people.test', password: 'not the password' },
    { host: `127.0.0.1:${at.port}` },
  );

test('408 request_timeout: the slowest makes room for the sign-in of another person at its address', async () => {
  let nowMs = Math.ceil(performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const sockets = Array.from({ length: AT_ONCE }, () => connect(at.port, '127.0.0.1'));
  const answers = sockets.map((socket) => {
    socket.write(
      `POST /admin/trpc/session.signIn HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"email":"',
    );
    return new Promise<string>((resolve) => {
      let said = '';
      socket.on('data', (chunk) => (said += chunk.toString())).on('close', () => resolve(said));
    });
  });
  await until('both are in', async () => (await signIn()).status === 429);
  nowMs += SLOW_BODY_MS;
  expect((await signIn()).status).toBe(401);
  expect(await Promise.race(answers)).toMatch(/^HTTP\/1\.1 408 [^]*request_timeout/);
  for (const socket of sockets) socket.destroy();
});
