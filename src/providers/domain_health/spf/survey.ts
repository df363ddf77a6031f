import type { DnsQueries } from '../dns.ts';
import { toName } from '../names.ts';
import { readAddress } from './address.ts';
import type { Address } from './address.ts';
import { SPF_NAMES_MAX } from './evaluate.ts';
import { expandDomain, isOfMessage } from './macro.ts';
import type { MacroString } from './macro.ts';
import { isSpf, parseRecord } from './record.ts';
import type { SpfRecord, Term } from './record.ts';

/** After so many terms that send queries a survey stops: receivers stop long before. */
export const SURVEY_LOOKUPS_MAX = 40;

/** Why receivers cannot evaluate a record, or why that is not known. */
export type Fault =
  | { kind: 'unknown'; why: 'no_answer' | 'limit'; name: string }
  | { kind: 'several'; domain: string; count: number }
  | { kind: 'syntax'; domain: string; term: string }
  | { kind: 'no_record'; domain: string; term: string }
  | { kind: 'loop'; path: string[] }
  | { kind: 'exchanges'; term: string };

/** Something per family of addresses. */
export type ByFamily<T> = { 4: T; 6: T };

/** A term that receivers evaluate, and what it costs where it matches nothing. */
export type Use = {
  /** As it is written: a directive, or `redirect=`. */
  text: string;
  /** Null for `redirect`. */
  term: Term | null;
  /** Whether the term itself sends queries. */
  isLookup: boolean;
  /** How many of its queries find nothing, for a client of each family that it does not match. */
  voids: ByFamily<number>;
  /** How many of them come before what can match. */
  voidsBefore: ByFamily<number>;
  /** Whether it can match a client of each family. */
  canMatch: ByFamily<boolean>;
  /** Whether the name that it asks about depends on the message. */
  isOfMessage: boolean;
  /** Of `exists`: whether it matches a client that no sender is. */
  isForStrangers: boolean;
  fault: Fault | null;
  /** The record that `include` or `redirect` leads to. */
  child: Survey | null;
};

/** The record of a domain with all that it leads to, as a receiver walks it for a client that nothing matches. */
export type Survey = {
  domain: string;
  text: string | null;
  record: SpfRecord | null;
  fault: Fault | null;
  /** Up to `all`. */
  uses: Use[];
  /** Terms after `all`, which receivers never evaluate. */
  unreached: string[];
};

const NONE: ByFamily<number> = { 4: 0, 6: 0 };
const ONE: ByFamily<number> = { 4: 1, 6: 1 };
const NEVER: ByFamily<boolean> = { 4: false, 6: false };
const ALWAYS: ByFamily<boolean> = { 4: true, 6: true };

/** A client that no sender is (RFC 5737), for macros. */
const STRANGER = readAddress('192.0.2.1') as Address;

type Walk = { dns: DnsQueries; mailFrom: string; lookups: number };

/** Surveys the record of a domain; `text` stands in place of the one that is published. */
export const survey = (
  dns: DnsQueries,
  { domain, mailFrom }: { domain: string; mailFrom: string },
  text?: string,
): Promise<Survey> => readPolicy({ dns, mailFrom, lookups: 0 }, toName(domain), [], text);

const readPolicy = async (
  walk: Walk,
  domain: string,
  path: readonly string[],
  given?: string,
): Promise<Survey> => {
  const empty = { domain, text: null, record: null, uses: [], unreached: [] };
  if (path.includes(domain))
    return {
      ...empty,
      fault: { kind: 'loop', path: [...path.slice(path.indexOf(domain)), domain] },
    };
  const found = given === undefined ? await findRecord(walk.dns, domain) : given;
  if (found === null) return { ...empty, fault: null };
  if (typeof found !== 'string') return { ...empty, fault: found };
  const parsed = parseRecord(found);
  if (parsed.kind === 'invalid')
    return { ...empty, text: found, fault: { kind: 'syntax', domain, term: parsed.term } };
  const { record } = parsed;
  const end = record.terms.findIndex(({ mechanism }) => mechanism.kind === 'all');
  const reached = end < 0 ? record.terms : record.terms.slice(0, end + 1);
  const uses: Use[] = [];
  for (const term of reached) uses.push(await readUse(walk, { domain, path }, term));
  if (end < 0 && record.redirect) uses.push(await readUse(walk, { domain, path }, record.redirect));
  const unreached = record.terms.slice(reached.length).map((term) => term.text);
  return { domain, text: found, record, fault: null, uses, unreached };
};

const findRecord = async (dns: DnsQueries, domain: string): Promise<string | Fault | null> => {
  const answer = await dns.texts(domain, /^v=spf1/i);
  if (answer.kind === 'failed') return { kind: 'unknown', why: answer.why, name: domain };
  const texts = answer.kind === 'found' ? answer.records.map((one) => one.join('')) : [];
  const records = texts.filter(isSpf);
  if (records.length > 1) return { kind: 'several', domain, count: records.length };
  return records[0] ?? null;
};

type TermLocation = { domain: string; path: readonly string[] };

const readUse = async (
  walk: Walk,
  place: TermLocation,
  term: Term | NonNullable<SpfRecord['redirect']>,
): Promise<Use> => {
  const directive = 'mechanism' in term ? term : null;
  const mechanism = directive?.mechanism;
  const use: Use = {
    text: term.text,
    term: directive,
    isLookup: false,
    voids: NONE,
    voidsBefore: NONE,
    canMatch: ALWAYS,
    isOfMessage: false,
    isForStrangers: false,
    fault: null,
    child: null,
  };
  if (mechanism?.kind === 'all') return use;
  if (mechanism?.kind === 'ip') {
    const { family } = mechanism.network;
    return { ...use, canMatch: { 4: family === 4, 6: family === 6 } };
  }
  walk.lookups += 1;
  const parts = mechanism ? mechanism.domain : (term as { domain: MacroString }).domain;
  const asked = { ...use, isLookup: true, isOfMessage: parts !== null && isOfMessage(parts) };
  if (walk.lookups > SURVEY_LOOKUPS_MAX) return asked;
  const name = nameOf(walk, place.domain, parts);
  switch (mechanism?.kind) {
    case 'a':
      return { ...asked, ...(await readHost(walk.dns, name)) };
    case 'mx':
      return { ...asked, ...(await readExchanges(walk.dns, name, term.text)) };
    case 'exists':
      return { ...asked, ...(await readExistence(walk.dns, name, asked.isOfMessage)) };
    case 'ptr':
      // A client without a name of its own is one more query that finds nothing.
      return { ...asked, voids: ONE };
    case 'include':
    case undefined:
      return { ...asked, ...(await readChild(walk, place, { ...asked, name })) };
  }
};

const nameOf = (walk: Walk, domain: string, parts: MacroString | null): string => {
  if (!parts) return domain;
  const at = walk.mailFrom.lastIndexOf('@');
  const [local, senderDomain] = [walk.mailFrom.slice(0, at), walk.mailFrom.slice(at + 1)];
  const values = { local, senderDomain, domain, address: STRANGER, helo: senderDomain };
  return toName(expandDomain(parts, values));
};

const readHost = async (dns: DnsQueries, name: string): Promise<Partial<Use>> => {
  const [four, six] = await Promise.all([dns.addresses(name, 4), dns.addresses(name, 6)]);
  const failed = [four, six].find((answer) => answer.kind === 'failed');
  if (failed?.kind === 'failed') return { fault: { kind: 'unknown', why: failed.why, name } };
  return {
    voids: { 4: four.kind === 'absent' ? 1 : 0, 6: six.kind === 'absent' ? 1 : 0 },
    canMatch: { 4: four.kind === 'found', 6: six.kind === 'found' },
  };
};

const readExchanges = async (
  dns: DnsQueries,
  name: string,
  term: string,
): Promise<Partial<Use>> => {
  const answer = await dns.exchanges(name);
  if (answer.kind === 'failed') return { fault: { kind: 'unknown', why: answer.why, name } };
  if (answer.kind === 'absent') return { voids: ONE, canMatch: NEVER };
  if (answer.records.length > SPF_NAMES_MAX) return { fault: { kind: 'exchanges', term } };
  const use = { voids: { ...NONE }, voidsBefore: { ...NONE }, canMatch: { ...NEVER } };
  for (const { exchange } of answer.records.toSorted((a, b) => a.priority - b.priority)) {
    if (exchange === '') continue;
    const host = await readHost(dns, exchange);
    if (host.fault) return { fault: host.fault };
    for (const family of [4, 6] as const) {
      if (host.canMatch?.[family]) {
        use.canMatch[family] = true;
        use.voidsBefore[family] = use.voids[family];
      } else use.voids[family] += 1;
    }
  }
  return use;
};

const readExistence = async (
  dns: DnsQueries,
  name: string,
  dependsOnMessage: boolean,
): Promise<Partial<Use>> => {
  const answer = await dns.addresses(name, 4);
  switch (answer.kind) {
    case 'failed':
      return { fault: { kind: 'unknown', why: answer.why, name } };
    case 'absent':
      return { voids: ONE, canMatch: dependsOnMessage ? ALWAYS : NEVER };
    case 'found':
      return { isForStrangers: true };
  }
};

/** Of a name that depends on the message, what is missing for a stranger may be there for a sender. */
const readChild = async (
  walk: Walk,
  { domain, path }: TermLocation,
  {
    name,
    text,
    isOfMessage: dependsOnMessage,
  }: { name: string; text: string; isOfMessage: boolean },
): Promise<Partial<Use>> => {
  const child = await readPolicy(walk, name, [...path, domain]);
  if (child.text !== null || child.fault) return { child };
  if (dependsOnMessage) return {};
  return { child, fault: { kind: 'no_record', domain: name, term: text } };
};
