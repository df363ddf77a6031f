import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import type { Socket } from 'node:net';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';
const ROOT = 0;
/** Of a line's words: the address of this end, of the other end, the state, and the user whose socket it is. */
const [LOCAL, REMOTE, STATE, UID] = [1, 2, 3, 7];

/** An IPv4 address and a port as the kernel writes them; in the table of IPv6 zeros and FFFF come before. */
const toHex = (address: string, port: number): string => {
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return `${bytes.toReversed().join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
};

const readTables = (): string[] | null => {
  try {
    return TABLES.flatMap((table) => readFileSync(table, 'utf8').split('\n'));
  } catch {
    return null;
  }
};

/** Returns the user at the other end of a connection from this machine, or null when that end is closed. */
const findPeer = (lines: readonly string[], socket: Socket): number | null => {
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = socket;
  if (!isIPv4(remoteAddress) || !isIPv4(localAddress)) return null;
  const [theirs, ours] = [toHex(remoteAddress, remotePort), toHex(localAddress, localPort)];
  for (const line of lines) {
    const words = line.trim().split(/\s+/);
    const isTheirs = words[LOCAL]?.endsWith(theirs) && words[REMOTE]?.endsWith(ours);
    // A socket that its process has closed has no user any more: the kernel names root.
    if (isTheirs && words[STATE] === ESTABLISHED) return Number(words[UID]);
  }
  return null;
};

const known = new WeakMap<Socket, boolean>();

/**
 * Returns whether a connection comes from a process of our own user, or of root: what a port of this machine serves,
 * every user of it can ask for. Only Linux says whose connection it is; elsewhere each of this machine counts.
 */
export const isOwnPeer = (socket: Socket): boolean => {
  const before = known.get(socket);
  if (before !== undefined) return before;
  const lines = readTables();
  const uid = lines === null ? ROOT : findPeer(lines, socket);
  const isOwn = uid === ROOT || uid === process.getuid?.();
  known.set(socket, isOwn);
  return isOwn;
};
