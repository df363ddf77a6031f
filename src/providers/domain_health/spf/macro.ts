import { partsOf } from './address.ts';
import type { Address } from './address.ts';

/** A piece of a macro-string (RFC 7208 §7): literal text, or a letter with its transformers. */
type Part =
  | { kind: 'text'; text: string }
  | { kind: 'macro'; letter: string; keep: number; isReversed: boolean; delimiters: string };

export type MacroString = readonly Part[];

/** What macros stand for. `p` is asked for only where it is used. */
export type MacroValues = {
  /** The sender's address: local part and domain. */
  local: string;
  senderDomain: string;
  /** The domain whose record is evaluated. */
  domain: string;
  address: Address;
  helo: string;
};

const PART =
  /%\{([slodipvhcrtSLODIPVHCRT])(\d*)([rR]?)([.\-+,/_=]*)\}|(%%|%_|%-)|([\x21-\x24\x26-\x7e]+)/y;
/** Letters that stand in explanations only (§7.2). */
const EXPLAINING = /[crt]/i;
const ESCAPES: Record<string, string> = { '%%': '%', '%_': ' ', '%-': '%20' };
const DOMAIN_CHARS_MAX = 253;

/** A top label (§7.1): letters, digits and hyphens, and no number. */
const TOP_LABEL = /^(?!\d+$)[a-z\d](?:[a-z\d-]*[a-z\d])?$/i;

/** Parses a macro-string; null where it is none. `mayExplain` allows the letters of explanations. */
export const parseMacros = (text: string, mayExplain = false): MacroString | null => {
  const parts: Part[] = [];
  for (let at = 0; at < text.length;) {
    PART.lastIndex = at;
    const match = PART.exec(text);
    if (!match) return null;
    const [whole, letter, digits = '', reversed = '', delimiters = '', escape, literal] = match;
    if (letter !== undefined) {
      const keep = digits === '' ? Infinity : Number(digits);
      if (keep === 0 || (EXPLAINING.test(letter) && !mayExplain)) return null;
      parts.push({ kind: 'macro', letter, keep, isReversed: reversed !== '', delimiters });
    } else parts.push({ kind: 'text', text: ESCAPES[escape ?? ''] ?? literal ?? '' });
    at += whole.length;
  }
  return parts;
};

/** Parses a domain-spec (§7.1): a macro-string that ends with a macro or a top label. Null where it is none. */
export const parseDomainSpec = (text: string): MacroString | null => {
  const parts = parseMacros(text);
  if (!parts || parts.length === 0) return null;
  return parts.at(-1)?.kind === 'macro' || /%[%_-]$/.test(text) || endsWithTopLabel(text)
    ? parts
    : null;
};

/** Whether a text ends with a dot and a top label. Name servers may answer long ones, so no pattern looks for it. */
const endsWithTopLabel = (text: string): boolean => {
  const end = text.endsWith('.') ? text.length - 1 : text.length;
  const dot = text.lastIndexOf('.', end - 1);
  return dot >= 0 && TOP_LABEL.test(text.slice(dot + 1, end));
};

/** Whether what a macro-string says depends on the message, and not on the domain alone. */
export const isOfMessage = (parts: MacroString): boolean =>
  parts.some((part) => part.kind === 'macro' && !/[d]/i.test(part.letter));

/** Whether a macro-string asks for the client's name, which takes queries. */
export const needsClientName = (parts: MacroString): boolean =>
  parts.some((part) => part.kind === 'macro' && /[p]/i.test(part.letter));

const escapeUrl = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const valueOf = (letter: string, values: MacroValues, clientName: string): string => {
  switch (letter.toLowerCase()) {
    case 's':
      return `${values.local}@${values.senderDomain}`;
    case 'l':
      return values.local;
    case 'o':
      return values.senderDomain;
    case 'd':
      return values.domain;
    case 'i':
      return partsOf(values.address).join('.');
    case 'p':
      return clientName;
    case 'v':
      return values.address.family === 4 ? 'in-addr' : 'ip6';
    default:
      return values.helo;
  }
};

/** Expands a domain-spec to a name, its left labels cut where it is too long for one (§7.3). */
export const expandDomain = (
  parts: MacroString,
  values: MacroValues,
  clientName = 'unknown',
): string => {
  const expanded = parts.map((part) => {
    if (part.kind === 'text') return part.text;
    const delimiters = part.delimiters === '' ? '.' : part.delimiters;
    const pieces = [''];
    for (const char of valueOf(part.letter, values, clientName)) {
      if (delimiters.includes(char)) pieces.push('');
      else pieces[pieces.length - 1] += char;
    }
    if (part.isReversed) pieces.reverse();
    const kept = pieces.slice(-Math.min(part.keep, pieces.length)).join('.');
    return /[A-Z]/.test(part.letter) ? escapeUrl(kept) : kept;
  });
  const name = expanded.join('').replace(/\.$/, '');
  if (name.length <= DOMAIN_CHARS_MAX) return name;
  // The first label that begins where the rest is short enough; a single label stays too long to be asked for.
  return name.slice(name.indexOf('.', name.length - DOMAIN_CHARS_MAX - 1) + 1);
};
