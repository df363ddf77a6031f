// A relay that takes whatever comes, at next to no cost of its own: a process, started with a channel.
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { now } from './measure.ts';

/** What became of the messages: told every few milliseconds, each with its recipient and its first byte's time. */
export type Taken = { to: string; firstByteAt: number }[];

const TELL_MS = 10;
let taken: Taken = [];

const answers: Record<string, string> = {
  EHLO: '250-relay\r\n250 AUTH PLAIN\r\n',
  AUTH: '235 go on\r\n',
  MAIL: '250 ok\r\n',
  RCPT: '250 ok\r\n',
  DATA: '354 go on\r\n',
  QUIT: '221 bye\r\n',
};
const END = '\r\n.\r\n';

const talk = (socket: Socket): void => {
  let [text, to, firstByteAt, isBody] = ['', '', 0, false];
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('error', () => {});
  socket.write('220 relay\r\n');
  socket.on('data', (more) => {
    text += String(more);
    if (isBody) firstByteAt ||= now();
    for (let end = text.indexOf(isBody ? END : '\r\n'); end >= 0;) {
      const line = text.slice(0, end);
      text = text.slice(end + (isBody ? END.length : 2));
      if (isBody) {
        taken.push({ to, firstByteAt });
        [isBody, firstByteAt] = [false, 0];
        socket.write('250 ok\r\n');
      } else {
        const verb = line.slice(0, 4).toUpperCase();
        if (verb === 'RCPT') to = line.slice(line.indexOf('<') + 1, line.indexOf('>'));
        isBody = verb === 'DATA';
        socket.write(answers[verb] ?? '250 ok\r\n');
      }
      end = text.indexOf(isBody ? END : '\r\n');
    }
  });
};

const server = createServer(talk).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
setInterval(() => {
  if (taken.length === 0) return;
  process.send?.({ taken });
  taken = [];
}, TELL_MS);
process.on('disconnect', () => process.exit(0));
