// 4: TLS is spoken to what knows none, and the other way round.
import { createServer as createPlain } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { createServer as createMute } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../../src/runtime/certificate.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { runHere } from '../support/cli.ts';

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const say = async (url: string): Promise<string> => {
  const args = ['login', '--email', 'ann@example.com', '--password-stdin', '--url', url];
  const { code, stdout, stderr } = await runHere(args, { input: 'correct horse' });
  expect([code, stdout]).toEqual([EXIT_CODES.unreachable, '']);
  return stderr;
};

test('https:// where nothing speaks TLS asks whether http:// is meant, and nothing was sent', async () => {
  const heard: string[] = [];
  const place = await listen(
    createPlain((request, answer) => {
      heard.push(request.url ?? '');
      answer.end();
    }),
  );
  const said = await say(`https://${place}`);
  expect(said).toMatch(/^Nothing at https:\S+ speaks TLS \(\w+\)\.\n/);
  expect(said).toContain(`Is http://${place} meant? Nothing was sent.`);
  expect(said).not.toContain('may have been');
  expect(heard).toEqual([]);
});

test('a greeting that is no TLS, such as a mail server’s, is told alike', async () => {
  const place = await listen(
    createMute((socket) => socket.on('error', () => {}).end('220 hi\r\n')),
  );
  expect(await say(`https://${place}`)).toContain('speaks TLS');
});

test('http:// where TLS is spoken asks whether https:// is meant', async () => {
  const { cert, key } = await makeCertificate(['127.0.0.1']);
  const place = await listen(createSecure({ cert, key }, (_, answer) => answer.end()));
  expect(await say(`http://${place}`)).toContain(`If it speaks TLS: is https://${place} meant?`);
});
