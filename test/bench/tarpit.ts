import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { SmtpSettings } from '../../src/providers/settings.ts';

/** `hang`: never answers a message. `drip`: answers it byte by byte, and takes it in the end. */
export type Mood = 'hang' | 'drip';

export type Tarpit = {
  settings: SmtpSettings;
  mood: Mood;
  /** How many messages it holds just now. */
  held: () => number;
  dropAll: () => void;
  close: () => void;
};

const DRIP_MS = 50;
const ANSWERS: Record<string, string> = {
  EHLO: '250-tarpit\r\n250 AUTH PLAIN',
  AUTH: '235 go on',
  DATA: '354 go on',
};

const drip = (socket: Socket, text: string, onEnd: () => void): void => {
  let at = 0;
  const timer = setInterval(() => {
    socket.write(text.charAt(at));
    at += 1;
    if (at < text.length && !socket.destroyed) return;
    clearInterval(timer);
    onEnd();
  }, DRIP_MS);
};

/** A relay that takes its time. */
export const startTarpit = async (): Promise<Tarpit> => {
  const tarpit = { mood: 'hang' } as Tarpit;
  const sockets = new Set<Socket>();
  const holding = new Set<Socket>();
  const hold = (socket: Socket): void => {
    holding.add(socket);
    if (tarpit.mood === 'drip') drip(socket, '250 ok\r\n', () => holding.delete(socket));
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .once('close', () => {
        sockets.delete(socket);
        holding.delete(socket);
      });
    socket.write('220 tarpit\r\n');
    let isBody = false;
    createInterface(socket).on('line', (line) => {
      if (isBody && line !== '.') return;
      if (isBody) hold(socket);
      else socket.write(`${ANSWERS[line.slice(0, 4).toUpperCase()] ?? '250 ok'}\r\n`);
      isBody = line === 'DATA';
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(tarpit, {
    settings: {
      provider: 'smtp',
      smtp_host: '127.0.0.1',
      smtp_port: (server.address() as AddressInfo).port,
      smtp_secure: 'none',
      username: 'bench',
      password: 'bench',
    } as const,
    held: () => holding.size,
    dropAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      server.close();
      tarpit.dropAll();
    },
  });
};
