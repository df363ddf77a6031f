import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** What a name server says of a name: its records by type; null is silence. */
export type Zone = Record<string, Records | null>;
type Records = { A?: string[]; TXT?: string[]; CNAME?: string[]; MX?: [number, string][] };

const TYPES = { A: 1, CNAME: 5, MX: 15, TXT: 16 } as const;
type Type = keyof typeof TYPES;
const TTL_SECONDS = 60;
const STRING_BYTES_MAX = 255;
/** Answer, recursion available; and the same with "no such name" (RFC 1035 §4.1.1). */
const FLAGS = { found: 0x8180, unknown: 0x8183 };

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

const textBytes = (text: string): Buffer => {
  const strings: Buffer[] = [];
  for (let at = 0; at === 0 || at < text.length; at += STRING_BYTES_MAX) {
    const part = Buffer.from(text.slice(at, at + STRING_BYTES_MAX));
    strings.push(Buffer.from([part.length]), part);
  }
  return Buffer.concat(strings);
};

const encode = {
  A: (address: string) => Buffer.from(address.split('.').map(Number)),
  CNAME: nameBytes,
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

/** The records of a type, after the alias that leads to them, as a recursive server gives them. */
const answersTo = (zone: Zone, name: string, type: Type): Buffer[] => {
  const records = zone[name];
  if (!records) return [];
  const own = listOf(records, type).map((data) => recordBytes(name, type, data));
  const [alias] = records.CNAME ?? [];
  if (type === 'CNAME' || alias === undefined) return own;
  return [
    recordBytes(name, 'CNAME', nameBytes(alias)),
    ...answersTo(zone, alias.toLowerCase(), type),
  ];
};

const answerTo = (zone: Zone, message: Buffer): Buffer => {
  const { name, type, end } = questionOf(message);
  const known = (Object.keys(TYPES) as Type[]).find((one) => TYPES[one] === type);
  const answers = known ? answersTo(zone, name, known) : [];
  const header = Buffer.from(message.subarray(0, 12));
  header.writeUInt16BE(zone[name] === undefined ? FLAGS.unknown : FLAGS.found, 2);
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([header, message.subarray(12, end), ...answers]);
};

/** A name server on this machine, over UDP, and what it was asked. What it is not told does not exist. */
export const startNameServer = async (
  zone: Zone,
): Promise<{ address: string; asked: string[]; close: () => Promise<void> }> => {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name } = questionOf(message);
    asked.push(name);
    if (zone[name] !== null) socket.send(answerTo(zone, message), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const close = () => new Promise<void>((resolve) => socket.close(() => resolve()));
  return { address: `127.0.0.1:${socket.address().port}`, asked, close };
};

/** The same for one test. */
export const nameServer = async (zone: Zone) => {
  const server = await startNameServer(zone);
  onTestFinished(server.close);
  return server;
};
