// The cases of the openspf test suite for RFC 7208 as facts: zones, clients and results, without its words.
// The suite is (c) 2006-2014 Stuart D. Gathman, Julian Mehnle and Scott Kitterman.
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { DnsQueries } from '../../../src/providers/domain_health/dns.ts';
import type { DomainReader } from '../../../src/providers/domain_health/dns.ts';
import { evaluateSpf, readClient } from '../../../src/providers/domain_health/spf/spf.ts';

/** Where the facts are kept. */
export const FACTS = join(import.meta.dirname, 'rfc7208_cases.json');

/** The records of a name by type; null is a name server that does not answer, `*` every type that is not named. */
export type Records = Partial<
  Record<RecordType | '*', (string | string[] | [number, string])[] | null>
>;
type RecordType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR' | 'TXT';
export type FactZone = Record<string, Records>;

export type SpfCase = {
  id: string;
  ip: string;
  helo: string;
  mailFrom: string;
  /** Any of them is right. */
  results: string[];
};
export type Scenario = { name: string; zone: FactZone; cases: SpfCase[] };

type Yaml = {
  description: string;
  tests: Record<
    string,
    { host: string; helo: string; mailfrom: string; result: string | string[] }
  >;
  zonedata: Record<string, ('TIMEOUT' | Record<string, unknown>)[]>;
};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** The suite writes records of type SPF, which stand for TXT where a name has no TXT of its own. */
const toRecords = (entries: Yaml['zonedata'][string]): Records => {
  const records: Records = {};
  const given = entries.flatMap((entry) => (entry === 'TIMEOUT' ? [] : Object.entries(entry)));
  const hasOwnTexts = given.some(([type]) => type === 'TXT');
  for (const [type, value] of given) {
    const isText = type === 'TXT' || type === 'SPF';
    if (value === 'NONE' || (type === 'SPF' && hasOwnTexts)) continue;
    const name = isText ? 'TXT' : (type as RecordType);
    const record = isText ? listOf(value).map(String) : (value as string);
    (records[name] ??= []).push(record);
  }
  if (entries.includes('TIMEOUT')) records['*'] = null;
  return records;
};

/** Takes the facts out of the suite's file. */
export const readSuite = (text: string): Scenario[] =>
  parseAllDocuments(text, { version: '1.1' }).map((document) => {
    const { description, tests, zonedata } = document.toJS() as Yaml;
    return {
      name: description,
      zone: Object.fromEntries(
        Object.entries(zonedata).map(([name, entries]) => [name.toLowerCase(), toRecords(entries)]),
      ),
      cases: Object.entries(tests).map(([id, { host, helo, mailfrom, result }]) => ({
        id,
        ip: host,
        helo,
        mailFrom: mailfrom,
        results: listOf(result).map(String),
      })),
    };
  });

/** A text that is no SPF record only has to be there: its first letter is enough. */
const withoutWords = ({ TXT, ...records }: Records): Records => ({
  ...records,
  ...(TXT
    ? {
        TXT: TXT.map((strings) => {
          const text = [strings].flat().join('');
          return /^v=spf/i.test(text) ? strings : [text.slice(0, 1)];
        }),
      }
    : {}),
});

/** What is kept of the suite in the repository. */
export const toFacts = (scenarios: readonly Scenario[]): Scenario[] =>
  scenarios.map(({ zone, ...scenario }) => ({
    ...scenario,
    zone: Object.fromEntries(
      Object.entries(zone).map(([name, records]) => [name, withoutWords(records)]),
    ),
  }));

const refused = (code: string): Error => Object.assign(new Error(code), { code });

const ALIASES_MAX = 4;

const answer = (zone: FactZone, name: string, type: RecordType, depth = 0): unknown[] => {
  const records = zone[name.toLowerCase().replace(/\.$/, '')];
  if (!records) throw refused(name.startsWith('error.') ? 'ETIMEOUT' : 'ENOTFOUND');
  const own = records[type];
  if (own) return own;
  const [alias] = records.CNAME ?? [];
  if (alias !== undefined && type !== 'CNAME' && depth < ALIASES_MAX)
    return answer(zone, String(alias), type, depth + 1);
  throw refused(own === null || records['*'] === null ? 'ETIMEOUT' : 'ENODATA');
};

/** Answers queries from facts, as a resolver does. */
export const readerOf = (zone: FactZone): DomainReader => {
  const ask =
    <T>(type: RecordType, convert: (record: unknown) => T) =>
    (name: string): Promise<T[]> =>
      // A resolver rejects; it does not throw.
      Promise.resolve().then(() => answer(zone, name, type).map(convert));
  const addresses = (type: 'A' | 'AAAA') => ask(type, String);
  return {
    resolveTxt: ask('TXT', (record) => listOf(record).map(String)),
    resolveCname: ask('CNAME', String),
    resolvePtr: ask('PTR', String),
    resolveMx: ask('MX', (record) => {
      const [priority, exchange] = record as [number, string];
      return { priority, exchange };
    }),
    resolve4: addresses('A') as DomainReader['resolve4'],
    resolve6: addresses('AAAA') as DomainReader['resolve6'],
  };
};

/** Evaluates one case. */
export const runCase = (zone: FactZone, { ip, helo, mailFrom }: SpfCase): Promise<string> => {
  const address = readClient(ip);
  if (!address) throw new Error(`${ip} is no address`);
  return evaluateSpf(new DnsQueries(readerOf(zone)), { address, mailFrom, helo });
};

type SuiteResult = { run: number; failed: string[] };

/** Evaluates all cases, none left out. */
export const runSuite = async (scenarios: readonly Scenario[]): Promise<SuiteResult> => {
  const result: SuiteResult = { run: 0, failed: [] };
  for (const { name, zone, cases } of scenarios)
    for (const one of cases) {
      result.run += 1;
      const found = await runCase(zone, one);
      if (!one.results.includes(found))
        result.failed.push(`${name}: ${one.id}: ${found} in place of ${one.results.join(' or ')}`);
    }
  return result;
};

/** Says how a run of the suite went. */
export const describeResult = ({ run, failed }: SuiteResult): string =>
  [
    `openspf suite for RFC 7208: ${run} cases run, ${run - failed.length} passed, 0 left out.`,
    'Results are compared. Explanation texts (exp) are not fetched, so theirs are not.',
    ...failed,
  ].join('\n');
