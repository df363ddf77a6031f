import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as a number. IPv4 inside IPv6 (::ffff:0:0/96) is IPv4, as RFC 7208 §5 wants. */
export type Address = { family: 4 | 6; bits: bigint };

/** A network: the first bits of an address. */
export type Network = Address & { prefix: number };

const WIDTHS = { 4: 32, 6: 128 } as const;
const MAPPED = 0xffffn;

const bitsOf4 = (text: string): bigint =>
  text.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);

/** The 16-bit groups of one side of `::`; a dotted end is two of them. */
const groupsOf = (side: string): bigint[] =>
  side === ''
    ? []
    : side.split(':').flatMap((group) => {
        if (!group.includes('.')) return [BigInt(`0x${group}`)];
        const bits = bitsOf4(group);
        return [bits >> 16n, bits & 0xffffn];
      });

const bitsOf6 = (text: string): bigint => {
  const [left = '', right] = text.split('::');
  const [head, tail] = [groupsOf(left), groupsOf(right ?? '')];
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<bigint>(zeros).fill(0n), ...tail].reduce(
    (bits, group) => (bits << 16n) | group,
    0n,
  );
};

/** Returns the address that a text is, exactly as it is written; null where it is none, or has a zone. */
export const readAddress = (text: string): Address | null => {
  if (isIPv4(text)) return { family: 4, bits: bitsOf4(text) };
  return isIPv6(text) && !text.includes('%') ? { family: 6, bits: bitsOf6(text) } : null;
};

/** Returns the address of a client: one of IPv4 that is written as IPv6 is of IPv4. */
export const readClient = (text: string): Address | null => {
  const address = readAddress(text);
  return address?.family === 6 && address.bits >> 32n === MAPPED
    ? { family: 4, bits: address.bits & 0xffffffffn }
    : address;
};

/** Whether an address is in a network. */
export const isInNetwork = (address: Address, { family, bits, prefix }: Network): boolean => {
  if (address.family !== family) return false;
  const rest = BigInt(WIDTHS[family] - prefix);
  return address.bits >> rest === bits >> rest;
};

/** The parts that a macro joins with dots (RFC 7208 §7.3): octets, or hexadecimal digits of IPv6. */
export const partsOf = ({ family, bits }: Address): string[] => {
  const [count, width] = family === 4 ? [4, 8n] : [32, 4n];
  return Array.from({ length: count }, (_, at) => {
    const part = (bits >> (BigInt(count - 1 - at) * width)) & ((1n << width) - 1n);
    return family === 4 ? part.toString() : part.toString(16);
  });
};

/** Returns the name that a PTR query is sent for. */
export const reverseName = (address: Address): string =>
  [...partsOf(address).toReversed(), address.family === 4 ? 'in-addr' : 'ip6', 'arpa'].join('.');
