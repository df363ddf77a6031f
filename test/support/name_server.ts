import { createSocket } from 'node:dgram';
import type { RemoteInfo, Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a name server says of a name: its records by type; null is silence. */
export type Zone = Record<string, Records | null>;
export type Records = {
  A?: string[];
  AAAA?: string[];
  CNAME?: string[];
  MX?: [number, string][];
  PTR?: string[];
  /** A text is split into strings of 255 bytes; a list is those strings. */
  TXT?: (string | string[])[];
  /** The code of an error that is answered instead (RFC 1035 §4.1.1): 2 is SERVFAIL, 5 REFUSED. */
  error?: number;
  /** How long an answer takes. */
  delayMs?: number;
};

const TYPES = { A: 1, CNAME: 5, PTR: 12, MX: 15, TXT: 16, AAAA: 28 } as const;
type Type = keyof typeof TYPES;
const TTL_SECONDS = 60;
const STRING_BYTES_MAX = 255;
const ALIASES_MAX = 20;
/** Larger answers are cut over UDP, and asked for again over TCP, where this is the end. */
const UDP_BYTES_MAX = 1_232;
const TCP_BYTES_MAX = 65_535;
/** Answer, recursion available; the same with "no such name", and cut (RFC 1035 §4.1.1). */
const FLAGS = { found: 0x8180, unknown: 0x8183, cut: 0x8380 };

/** Name (as labels) and type of the question in a message (RFC 1035). */
const questionOf = (message: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
};

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name
      .split('.')
      .filter(Boolean)
      .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

const stringsOf = (text: string): string[] =>
  Array.from({ length: Math.max(1, Math.ceil(text.length / STRING_BYTES_MAX)) }, (_, at) =>
    text.slice(at * STRING_BYTES_MAX, (at + 1) * STRING_BYTES_MAX),
  );

const textBytes = (text: string | string[]): Buffer =>
  Buffer.concat(
    (typeof text === 'string' ? stringsOf(text) : text).flatMap((string) => {
      const bytes = Buffer.from(string);
      return [Buffer.from([bytes.length]), bytes];
    }),
  );

/** Of an address without a dotted end. */
const bytesOf6 = (address: string): Buffer => {
  const [left = '', right] = address.split('::');
  const groups = (side: string) => side.split(':').filter(Boolean);
  const [head, tail] = [groups(left), groups(right ?? '')];
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  const all = right === undefined ? head : [...head, ...zeros, ...tail];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
};

const encode = {
  A: (address: string) => Buffer.from(address.split('.').map(Number)),
  AAAA: bytesOf6,
  CNAME: nameBytes,
  PTR: nameBytes,
  TXT: textBytes,
  MX: ([priority, exchange]: [number, string]) =>
    Buffer.concat([Buffer.from([priority >> 8, priority & 255]), nameBytes(exchange)]),
};

const recordBytes = (name: string, type: Type, data: Buffer): Buffer => {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(TYPES[type], 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(TTL_SECONDS, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), head, data]);
};

const listOf = (records: Records, type: Type): Buffer[] =>
  (records[type] ?? []).map((record) => encode[type](record as never));

/** The records of a type, after the aliases that lead to them, as a recursive server gives them. */
const answersTo = (zone: Zone, name: string, type: Type, depth = 0): Buffer[] => {
  const records = zone[name];
  if (!records || depth > ALIASES_MAX) return [];
  const own = listOf(records, type).map((data) => recordBytes(name, type, data));
  const [alias] = records.CNAME ?? [];
  if (type === 'CNAME' || alias === undefined) return own;
  return [
    recordBytes(name, 'CNAME', nameBytes(alias)),
    ...answersTo(zone, alias.toLowerCase(), type, depth + 1),
  ];
};

const answerTo = (zone: Zone, message: Buffer, bytesMax: number): Buffer => {
  const { name, type, end } = questionOf(message);
  const known = (Object.keys(TYPES) as Type[]).find((one) => TYPES[one] === type);
  const answers = known ? answersTo(zone, name, known) : [];
  const question = message.subarray(12, end);
  const kept: Buffer[] = [];
  let bytes = 12 + question.length;
  for (const one of answers) {
    bytes += one.length;
    if (bytes > bytesMax) break;
    kept.push(one);
  }
  const isCut = kept.length < answers.length && bytesMax === UDP_BYTES_MAX;
  const header = Buffer.from(message.subarray(0, 12));
  const flags = zone[name] === undefined ? FLAGS.unknown : FLAGS.found;
  header.writeUInt16BE((isCut ? FLAGS.cut : flags) | (zone[name]?.error ?? 0), 2);
  header.writeUInt16BE(isCut ? 0 : kept.length, 6);
  header.writeUInt16BE(0, 8);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([header, question, ...(isCut ? [] : kept)]);
};

const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
};

/** Answers the questions of one TCP connection, each after its length (RFC 1035 §4.2.2). */
const serve = (zone: Zone, connection: Socket): void => {
  let bytes = Buffer.alloc(0);
  connection.on('error', () => {});
  connection.on('data', (data) => {
    bytes = Buffer.concat([bytes, Buffer.from(data)]);
    while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
      const end = 2 + bytes.readUInt16BE(0);
      connection.write(framed(answerTo(zone, bytes.subarray(2, end), TCP_BYTES_MAX)));
      bytes = bytes.subarray(end);
    }
  });
};

/** A port is free for one protocol and taken for the other, now and then. */
const BIND_TRIES_MAX = 20;

/** Binds both protocols to one port. */
const bindBoth = async (
  socketOf: () => Datagrams,
  server: Server,
  tries = 0,
): Promise<Datagrams> => {
  const socket = socketOf();
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  server.listen(socket.address().port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return socket;
  } catch (error) {
    socket.close();
    if (tries >= BIND_TRIES_MAX) throw error;
    return bindBoth(socketOf, server, tries + 1);
  }
};

export type NameServer = { address: string; asked: string[]; close: () => Promise<void> };

/** A name server on this machine, and what it was asked. What it is not told does not exist. */
export const startNameServer = async (zone: Zone): Promise<NameServer> => {
  const asked: string[] = [];
  let isOpen = true;
  const answer = (socket: Datagrams) => (message: Buffer, from: RemoteInfo) => {
    const { name } = questionOf(message);
    asked.push(name);
    if (zone[name] === null) return;
    const send = () => {
      if (isOpen) socket.send(answerTo(zone, message, UDP_BYTES_MAX), from.port, from.address);
    };
    const delayMs = zone[name]?.delayMs ?? 0;
    if (delayMs === 0) send();
    else setTimeout(send, delayMs).unref();
  };
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    serve(zone, connection);
  });
  const socket = await bindBoth(() => {
    const made = createSocket('udp4');
    return made.on('message', answer(made));
  }, server);
  const close = async (): Promise<void> => {
    isOpen = false;
    for (const connection of connections) connection.destroy();
    await Promise.all([
      new Promise<void>((resolve) => socket.close(() => resolve())),
      new Promise<void>((resolve) => server.close(() => resolve())),
    ]);
  };
  return { address: `127.0.0.1:${socket.address().port}`, asked, close };
};

/** The same for one test. */
export const nameServer = async (zone: Zone) => {
  const server = await startNameServer(zone);
  onTestFinished(server.close);
  return server;
};
