import { readRecipient } from '../dialects/reading.ts';

/** RFC 6533 §3: characters outside of ASCII in an address of type `utf-8`. */
const ESCAPED = /\\x\{([0-9a-f]{1,6})\}/gi;

const unescape = (text: string): string =>
  text.replaceAll(ESCAPED, (whole, hex: string) => {
    const point = Number.parseInt(hex, 16);
    return point <= 0x10_ff_ff && (point < 0xd800 || point > 0xdfff)
      ? String.fromCodePoint(point)
      : whole;
  });

const TYPED = /^([a-z0-9-]{1,40})\s{0,8};\s{0,8}(.*)$/is;
const KNOWN_TYPES = ['rfc822', 'utf-8', 'utf8', 'rfc-822', 'smtp'];

/**
 * Returns the address of a field of a report (RFC 3464 §2.1.2), with or without its type; null where there is none, or
 * one of another kind.
 */
export const readTypedAddress = (value: string | null): string | null => {
  if (value === null) return null;
  const [, type = 'rfc822', typed = value] = TYPED.exec(value.trim()) ?? [];
  if (!KNOWN_TYPES.includes(type.toLowerCase())) return null;
  return readRecipient(unescape(typed).trim());
};

const ADDRESS = /[^\s<>()[\]"':;,]{1,64}@[^\s<>()[\]"':;,]{1,255}/g;

/** Returns the addresses in a text, each once, at most so many. */
export const listAddresses = (text: string, addressesMax: number): string[] => {
  const found = new Set<string>();
  for (const [candidate] of text.matchAll(ADDRESS)) {
    const address = readRecipient(candidate.replace(/\.+$/, ''));
    if (address !== null) found.add(address);
    if (found.size >= addressesMax) break;
  }
  return [...found];
};
