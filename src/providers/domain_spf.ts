import { readTexts } from './domain_names.ts';
import type { DomainReader, Finding } from './domain_names.ts';
import { NOT_TOLD } from './domain_names.ts';

/** How many terms of a record may ask name servers, included records counted (RFC 7208 §4.6.4). */
export const SPF_LOOKUPS_MAX = 10;

const VERSION = /^v=spf1(?: |$)/i;
const LOOKUP_TERM = /^[+\-~?]?(?:(include|exists):(\S+)|(?:a|mx|ptr)(?:[:/]\S*)?$)/i;
const REDIRECT = /^redirect=(\S+)$/i;
const ALL = /^([+\-~?]?)all$/i;

const termsOf = (record: string): string[] => record.trim().split(/ +/).slice(1);

const isSpf = (text: string): boolean => VERSION.test(text);

/** A record named by another; null when its name depends on the message (macros), or is none. */
const targetOf = (term: string): string | null => {
  const named = /^[+\-~?]?include:(\S+)$/i.exec(term)?.[1] ?? REDIRECT.exec(term)?.[1];
  return named === undefined || named.includes('%') ? null : named.toLowerCase();
};

/**
 * How many questions a receiver has to ask for a record, its includes' included: stops counting once
 * there are too many. Null when a name server does not answer.
 */
const countLookups = async (
  reader: DomainReader,
  record: string,
  path: readonly string[],
): Promise<number | null> => {
  const terms = termsOf(record);
  const hasAll = terms.some((term) => ALL.test(term));
  let lookups = 0;
  for (const term of terms) {
    // "redirect" counts only where nothing else matches everything (RFC 7208 §6.1).
    const isRedirect = REDIRECT.test(term);
    if (!(isRedirect ? !hasAll : LOOKUP_TERM.test(term))) continue;
    lookups += 1;
    if (lookups > SPF_LOOKUPS_MAX) return lookups;

    const target = targetOf(term);
    if (target === null) continue;
    if (path.includes(target)) return SPF_LOOKUPS_MAX + 1;
    const told = await readTexts(reader, target);
    if (told.kind === 'unknown') return null;
    const [included] = told.kind === 'found' ? told.records.filter(isSpf) : [];
    if (included === undefined) continue;
    const inside = await countLookups(reader, included, [...path, target]);
    if (inside === null) return null;
    lookups += inside;
  }
  return lookups;
};

const allOf = (terms: readonly string[]): string | null => {
  for (const term of terms) {
    const [, qualifier] = ALL.exec(term) ?? [];
    if (qualifier !== undefined) return qualifier === '' ? '+' : qualifier;
  }
  return null;
};

/** One record out of all that are there: every mechanism once, the provider's, and one end. */
const mergeOf = (records: readonly string[], include: string | null): string => {
  const terms = records.flatMap(termsOf).filter((term) => !ALL.test(term) && !REDIRECT.test(term));
  const wanted = include === null ? terms : [...terms, `include:${include}`];
  return ['v=spf1', ...new Set(wanted), '-all'].join(' ');
};

const hasInclude = (records: readonly string[], include: string | null): boolean =>
  include === null ||
  records.some((record) =>
    termsOf(record).some((term) => targetOf(term) === include.toLowerCase()),
  );

type Verdict = { status: Finding['status']; summary: string };

const ENDS: Record<string, Verdict> = {
  '+': {
    status: 'bad',
    summary: 'The record ends with "+all", which lets everybody send: end it with "-all".',
  },
  '?': { status: 'warning', summary: 'The record ends with "?all", which says nothing of others.' },
  '~': { status: 'warning', summary: 'The record ends with "~all": tighten it to "-all".' },
};

const judge = async (
  reader: DomainReader,
  domain: string,
  records: readonly string[],
  include: string | null,
): Promise<Verdict> => {
  const [record = ''] = records;
  if (records.length > 1)
    return {
      status: 'bad',
      summary: `There are ${records.length} SPF records; more than one fails. Merge them.`,
    };
  if (!hasInclude(records, include))
    return { status: 'bad', summary: `The record does not include ${include}.` };
  const lookups = await countLookups(reader, record, [domain]);
  if (lookups === null) return NOT_TOLD;
  if (lookups > SPF_LOOKUPS_MAX)
    return {
      status: 'bad',
      summary: `The record needs more than ${SPF_LOOKUPS_MAX} look-ups, so it fails. Remove senders.`,
    };
  const terms = termsOf(record);
  const isRedirected = terms.some((term) => REDIRECT.test(term));
  return (
    ENDS[allOf(terms) ?? (isRedirected ? '-' : '?')] ?? {
      status: 'good',
      summary: `One record, ${lookups} of ${SPF_LOOKUPS_MAX} look-ups.`,
    }
  );
};

/** Looks at the SPF record of a domain (RFC 7208). `include` is the provider's, or null where nobody knows it. */
export const checkSpf = async (
  reader: DomainReader,
  domain: string,
  include: string | null,
): Promise<Finding> => {
  const told = await readTexts(reader, domain);
  if (told.kind === 'unknown') return NOT_TOLD;
  const found = told.kind === 'found' ? told.records.filter(isSpf) : [];
  const value = mergeOf(found, include);
  const publish = { name: domain, type: 'TXT', value } as const;
  if (found.length === 0)
    return {
      status: 'bad',
      summary: 'There is no SPF record.',
      found,
      publish: include === null ? null : publish,
    };
  const verdict = await judge(reader, domain, found, include);
  const isMendedByMerge = verdict.status === 'bad' || verdict.status === 'warning';
  return { ...verdict, found, publish: isMendedByMerge && value !== found[0] ? publish : null };
};
