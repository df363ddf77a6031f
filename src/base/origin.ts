import { isIPv6 } from 'node:net';

const HEXTETS = 8;
const NETWORK_HEXTETS = 4;

/** Where a request counts as coming from: an IPv4 address, or the first 64 bits of an IPv6 one. */
export const toOrigin = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const missing = tail === undefined ? 0 : HEXTETS - before.length - after.length;
  const hextets = [...before, ...Array<string>(Math.max(0, missing)).fill('0'), ...after];
  return hextets
    .slice(0, NETWORK_HEXTETS)
    .map((hextet) => Number.parseInt(hextet, 16).toString(16))
    .join(':');
};
