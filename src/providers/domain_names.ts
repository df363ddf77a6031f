import type { Resolver } from 'node:dns/promises';

/** The questions that a look at a domain asks its name servers. */
export type DomainReader = Pick<Resolver, 'resolveTxt' | 'resolveCname' | 'resolveMx'>;

/** What name servers said: some records, that there are none, or nothing that could be relied on. */
export type Told<T> = { kind: 'found'; records: T[] } | { kind: 'absent' } | { kind: 'unknown' };

/** NXDOMAIN, and a name without records of that type. Everything else is no answer. */
const ABSENT_CODES: readonly unknown[] = ['ENOTFOUND', 'ENODATA'];

const ask = async <T>(question: Promise<T[]>): Promise<Told<T>> => {
  try {
    const records = await question;
    return records.length > 0 ? { kind: 'found', records } : { kind: 'absent' };
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    return ABSENT_CODES.includes(code) ? { kind: 'absent' } : { kind: 'unknown' };
  }
};

/** The texts of a name; the strings of one record belong together (RFC 7208 §3.3). */
export const readTexts = async (reader: DomainReader, name: string): Promise<Told<string>> => {
  const told = await ask(reader.resolveTxt(name));
  return told.kind === 'found'
    ? { kind: 'found', records: told.records.map((strings) => strings.join('')) }
    : told;
};

export const readAliases = (reader: DomainReader, name: string): Promise<Told<string>> =>
  ask(reader.resolveCname(name));

/** Where mail for a domain goes. */
export const readExchanges = (reader: DomainReader, name: string) => ask(reader.resolveMx(name));

/** A record to publish, as a name server's form asks for it. */
export type DnsRecord = { name: string; type: 'TXT' | 'CNAME'; value: string };

export const FINDINGS = ['good', 'warning', 'bad', 'unknown'] as const;

/** What was found out about one thing, and what to do about it. */
export type Finding = {
  status: (typeof FINDINGS)[number];
  /** One sentence. */
  summary: string;
  /** The records that are there. */
  found: string[];
  /** What to publish instead; null when nothing is to be done, or only the provider knows. */
  publish: DnsRecord | null;
};

export const NOT_TOLD: Finding = {
  status: 'unknown',
  summary: 'The name servers did not answer. Look again in a minute.',
  found: [],
  publish: null,
};
