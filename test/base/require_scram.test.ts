// Another program took the port of Postgres, and answers a client that signs in.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { requireScram, requireScramOf } from '../../src/base/require_scram.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const PASSWORD = 'the-password-of-the-service';

/** A message of the server: its type, its length (which counts itself) and its content. */
const message = (type: string, ...content: (number | string)[]): Buffer => {
  const body = Buffer.concat(
    content.map((one) => {
      if (typeof one === 'string') return Buffer.from(`${one}\0`);
      const number = Buffer.alloc(4);
      number.writeInt32BE(one);
      return number;
    }),
  );
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const READY = Buffer.concat([message('R', 0), Buffer.from('Z\0\0\0\u0005I', 'latin1')]);
const ANSWERS = {
  'asks for the password in clear text': message('R', 3),
  'asks for an MD5 digest of it': message('R', 5, 42),
  'asks for nothing and is ready': READY,
  'begins SCRAM, and is ready before it has proved anything': Buffer.concat([
    message('R', 10, 'SCRAM-SHA-256', ''),
    READY,
  ]),
};

/** A server that gives one answer to whatever a client begins with, and keeps what it received. */
const impostor = async (answer: Buffer) => {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(answer));
    socket.on('data', (bytes) => received.push(Buffer.from(bytes)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, heard: () => Buffer.concat(received).toString('latin1') };
};

test.each(Object.entries(ANSWERS))(
  'attack: a program on the port of Postgres that %s gets no password and no statement',
  async (_, answer) => {
    const { port, heard } = await impostor(answer);
    requireScram('127.0.0.1', port);
    const client = new pg.Client({
      connectionString: `postgres://service:${PASSWORD}@127.0.0.1:${port}/data`,
    });
    client.on('error', () => {});
    await expect(client.connect()).rejects.toMatchObject({ code: 'ESCRAM' });
    await expect(client.query("select 'a statement'")).rejects.toThrow();
    expect(heard()).toContain('service');
    expect(heard()).not.toContain(PASSWORD);
    expect(heard()).not.toMatch(/md5[0-9a-f]{32}|a statement/);
  },
);

test('the pool of the service does not sign in either', async () => {
  const { port, heard } = await impostor(ANSWERS['asks for the password in clear text']);
  const url = `postgres://service:${PASSWORD}@127.0.0.1:${port}/data`;
  requireScramOf(url);
  await expect(openDb(url)).rejects.toThrow();
  expect(heard()).not.toContain(PASSWORD);
});

test('a server without the requirement is asked as before', async () => {
  const { port, heard } = await impostor(ANSWERS['asks for the password in clear text']);
  const client = new pg.Client({
    connectionString: `postgres://service:${PASSWORD}@127.0.0.1:${port}/data`,
  });
  client.on('error', () => {});
  void client.connect().catch(() => {});
  await expect.poll(heard).toContain(PASSWORD);
  await client.end();
});

test('a server that signs in with SCRAM is used as before', async ({ skip }) => {
  const url = new URL(database.url);
  skip(url.password === '', 'the server of these tests requires no password');
  url.hostname = url.hostname === '127.0.0.1' ? 'localhost' : url.hostname;
  requireScramOf(url.href);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await client.end();
});
