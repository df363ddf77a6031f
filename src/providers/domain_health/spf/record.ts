import { readAddress } from './address.ts';
import type { Network } from './address.ts';
import { parseDomainSpec, parseMacros } from './macro.ts';
import type { MacroString } from './macro.ts';

export type Qualifier = '+' | '-' | '~' | '?';

/** How many bits of an address have to match, by family. */
export type Cidr = { 4: number; 6: number };

export type Mechanism =
  | { kind: 'all' }
  | { kind: 'include' | 'exists'; domain: MacroString }
  | { kind: 'a' | 'mx'; domain: MacroString | null; cidr: Cidr }
  | { kind: 'ptr'; domain: MacroString | null }
  | { kind: 'ip'; network: Network };

/** A directive of a record (RFC 7208 §4.6.1), as it is written and what it means. */
export type Term = { text: string; qualifier: Qualifier; mechanism: Mechanism };

export type SpfRecord = {
  terms: Term[];
  redirect: { text: string; domain: MacroString } | null;
  /** Modifiers without an effect on the result: `exp`, and those that are unknown. */
  others: string[];
};

export type Parsed =
  | { kind: 'record'; record: SpfRecord }
  /** A term that receivers cannot read: the record as a whole is a permanent error. */
  | { kind: 'invalid'; term: string };

const VERSION = /^v=spf1(?: |$)/i;
const MODIFIER = /^([a-z][a-z\d\-_.]*)=(.*)$/is;
const DIRECTIVE = /^([+\-~?]?)([a-z][a-z\d]*)(.*)$/is;
/** A cidr-length: no zeros in front (§5.6). */
const PREFIX = /^(?:0|[1-9]\d{0,2})$/;

/** Whether a text is a record of SPF, good or not. */
export const isSpf = (text: string): boolean => VERSION.test(text);

/** The terms of a record as they are written, without the version. */
export const termsOf = (text: string): string[] =>
  text
    .split(' ')
    .slice(1)
    .filter((term) => term !== '');

const readPrefix = (text: string | undefined, most: number): number | null => {
  if (text === undefined) return most;
  return PREFIX.test(text) && Number(text) <= most ? Number(text) : null;
};

/** `[:domain][/n][//n]` */
const readTarget = (rest: string): { domain: MacroString | null; cidr: Cidr } | null => {
  const match = /^(?::(.+?))?(?:\/(\d+))?(?:\/\/(\d+))?$/s.exec(rest);
  if (!match) return null;
  const [, name, four, six] = match;
  const domain = name === undefined ? null : parseDomainSpec(name);
  const [v4, v6] = [readPrefix(four, 32), readPrefix(six, 128)];
  if (v4 === null || v6 === null || (name !== undefined && domain === null)) return null;
  return { domain, cidr: { 4: v4, 6: v6 } };
};

const readNetwork = (rest: string, family: 4 | 6): Network | null => {
  const match = /^:([^/]+)(?:\/(\d+))?$/.exec(rest);
  const address = readAddress(match?.[1] ?? '');
  const prefix = readPrefix(match?.[2], family === 4 ? 32 : 128);
  return address?.family === family && prefix !== null ? { ...address, prefix } : null;
};

const readMechanism = (name: string, rest: string): Mechanism | null => {
  switch (name) {
    case 'all':
      return rest === '' ? { kind: 'all' } : null;
    case 'include':
    case 'exists': {
      const domain = rest.startsWith(':') ? parseDomainSpec(rest.slice(1)) : null;
      return domain && { kind: name, domain };
    }
    case 'a':
    case 'mx': {
      const target = readTarget(rest);
      return target && { kind: name, ...target };
    }
    case 'ptr': {
      if (rest === '') return { kind: 'ptr', domain: null };
      const domain = rest.startsWith(':') ? parseDomainSpec(rest.slice(1)) : null;
      return domain && { kind: 'ptr', domain };
    }
    case 'ip4':
    case 'ip6': {
      const network = readNetwork(rest, name === 'ip4' ? 4 : 6);
      return network && { kind: 'ip', network };
    }
    default:
      return null;
  }
};

/** Parses one directive; null where it is none. */
export const parseTerm = (text: string): Term | null => {
  const [, qualifier = '', name = '', rest = ''] = DIRECTIVE.exec(text) ?? [];
  const mechanism = readMechanism(name.toLowerCase(), rest);
  return (
    mechanism && { text, qualifier: qualifier === '' ? '+' : (qualifier as Qualifier), mechanism }
  );
};

/** Parses a record (RFC 7208 §4.6). Whatever is wrong anywhere in it makes all of it invalid. */
export const parseRecord = (text: string): Parsed => {
  const record: SpfRecord = { terms: [], redirect: null, others: [] };
  let explained = 0;
  for (const written of termsOf(text)) {
    const [, name, value = ''] = MODIFIER.exec(written) ?? [];
    const modifier = name?.toLowerCase();
    if (modifier === undefined) {
      const term = parseTerm(written);
      if (!term) return { kind: 'invalid', term: written };
      record.terms.push(term);
    } else if (modifier === 'redirect') {
      const domain = parseDomainSpec(value);
      if (!domain || record.redirect) return { kind: 'invalid', term: written };
      record.redirect = { text: written, domain };
    } else {
      if (modifier === 'exp') explained += 1;
      const isValid = modifier === 'exp' ? parseDomainSpec(value) : parseMacros(value, true);
      if (!isValid || explained > 1) return { kind: 'invalid', term: written };
      record.others.push(written);
    }
  }
  return { kind: 'record', record };
};
