import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export type Dialogue = {
  /** Sends one line; resolves to the whole reply. */
  command: (line: string) => Promise<string>;
  write: (bytes: string | Buffer) => void;
  startTls: (ca: string) => Promise<void>;
  /** MAIL, RCPT and DATA of a message that ends in a line break; resolves to the last reply. */
  mail: (raw: string | Buffer) => Promise<string>;
  /** Resolves when the connection is closed, by whichever side. */
  closed: Promise<unknown>;
  close: () => void;
};

type Account = { user: string; pass: string; ca: string };

const LAST_LINE = /^\d{3}(?: .*)?\r\n$/m;

/** Resolves to the next whole reply, of one line or several. */
const readReply = async (socket: Socket): Promise<string> => {
  let reply = '';
  while (!LAST_LINE.test(reply)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    reply += chunk.toString('latin1');
  }
  return reply;
};

/** A conversation with an SMTP server, word by word, for what no mail library would say. */
export const dial = async (port: number, account?: Account): Promise<Dialogue> => {
  const plain = connect({ port, host: '127.0.0.1', noDelay: true });
  plain.on('error', () => {});
  const closed = new Promise((resolve) => plain.once('close', resolve));
  let socket: Socket = plain;
  await readReply(socket);

  const write = (bytes: string | Buffer) => void socket.write(bytes);
  const command = (line: string) => {
    write(`${line}\r\n`);
    return readReply(socket);
  };
  const startTls = async (ca: string) => {
    await command('STARTTLS');
    socket = connectTls({ socket: plain, ca, servername: 'localhost' });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
  };
  const mail = async (raw: string | Buffer) => {
    await command('MAIL FROM:<from@example.test>');
    await command('RCPT TO:<to@example.test>');
    await command('DATA');
    write(raw);
    return command('.');
  };
  if (account) {
    await command('EHLO client.test');
    await startTls(account.ca);
    await command('EHLO client.test');
    const token = Buffer.from(`\0${account.user}\0${account.pass}`).toString('base64');
    await command(`AUTH PLAIN ${token}`);
  }
  return { command, write, startTls, mail, closed, close: () => socket.destroy() };
};
