import type { DnsQueries } from '../dns.ts';
import { correctTerm, isAssigned } from './correct.ts';
import { parseTerm, termsOf } from './record.ts';
import { describeLong, settle, SPF_RECORD_CHARS_MAX } from './settle.ts';
import type { Piece, Proposal } from './settle.ts';

/** Records that are longer make no record that is short enough. */
const READ_CHARS_MAX = 2 * SPF_RECORD_CHARS_MAX;

/** What one record says about senders, in its order, and its modifiers without an effect. */
type Pieces = { terms: Piece[]; others: string[] };

export type MergeRequest = {
  domain: string;
  mailFrom: string;
  /** The records that are published, as they are. */
  records: readonly string[];
  /** What is to be authorized besides; null for nothing. */
  include: string | null;
};

/**
 * Proposes one record that authorizes every sender which any of some records authorizes, and ends with `-all`. The
 * proposal is evaluated before it is made: where receivers would not accept it, the answer says why there is none.
 */
export const propose = async (dns: DnsQueries, merging: MergeRequest): Promise<Proposal> => {
  const chars = merging.records.join(' ').length;
  if (chars > READ_CHARS_MAX) return { kind: 'none', why: describeLong(chars) };
  const read = merging.records.map(readPieces);
  const unreadable = read.find((one) => typeof one === 'string');
  if (unreadable !== undefined)
    return { kind: 'none', why: `Correct or remove the term "${unreadable}", then check again.` };
  const records = read.filter((one) => typeof one !== 'string');
  const ordered = records.filter(isOrdered);
  if (ordered.length > 1)
    return {
      kind: 'none',
      why: 'Several records exclude servers before they authorize others, so their order decides. Merge them by hand.',
    };
  const terms = arrange(records, merging.include);
  const others = pickOthers(records.flatMap((record) => record.others));
  return settle(dns, merging, { terms, others });
};

/** The pieces of a record; the term that cannot be read where there is one. */
const readPieces = (text: string): Pieces | string => {
  const pieces: Pieces = { terms: [], others: [] };
  const written = termsOf(text);
  const hasAll = written.some((term) => parseTerm(term)?.mechanism.kind === 'all');
  for (const term of written) {
    const redirect = /^redirect[=:](.*)$/is.exec(term)?.[1];
    if (redirect !== undefined && hasAll) continue;
    const isModifier = /^[a-z][a-z\d\-_.]*=/i.test(term) && redirect === undefined;
    if (isModifier && !isAssigned(term)) {
      pieces.others.push(term);
      continue;
    }
    const corrected = correctTerm(redirect === undefined ? term : `include:${redirect}`);
    const parsed = corrected === null ? null : parseTerm(corrected);
    if (!parsed) return term;
    if (parsed.mechanism.kind !== 'all')
      pieces.terms.push({ text: parsed.text.replace(/^\+/, ''), qualifier: parsed.qualifier });
  }
  return pieces;
};

/** The terms up to the last that can pass. What comes after it only says how strangers fail. */
const headOf = ({ terms }: Pieces): Piece[] =>
  terms.slice(0, terms.findLastIndex(({ qualifier }) => qualifier === '+') + 1);

/** Whether a record excludes senders that one of its later terms would let pass. */
const isOrdered = (record: Pieces): boolean =>
  headOf(record).some(({ qualifier }) => qualifier !== '+');

/**
 * All terms in an order in which each sender of each record passes: first the records without exclusions, then the one
 * that has some in its own order, at the end what can no longer pass.
 */
const arrange = (records: readonly Pieces[], include: string | null): Piece[] => {
  const free = records.filter((record) => !isOrdered(record));
  const ordered = records.filter(isOrdered);
  const heads = [...free, ...ordered].flatMap(headOf);
  const tails = [...free, ...ordered].flatMap((record) =>
    record.terms.slice(headOf(record).length),
  );
  if (include !== null) {
    const exclusion = heads.findIndex(({ qualifier }) => qualifier !== '+');
    const added = { text: `include:${include}`, qualifier: '+' as const };
    heads.splice(exclusion < 0 ? heads.length : exclusion, 0, added);
  }
  return withoutRepeats([...heads, ...tails]);
};

const keyOf = ({ text }: Piece): string => {
  const mechanism = text.replace(/^[+\-~?]/, '');
  return mechanism.includes('%') ? mechanism : mechanism.toLowerCase();
};

/** Of the same mechanism the first decides, whatever a later one says. */
const withoutRepeats = (terms: readonly Piece[]): Piece[] => {
  const first = new Map<string, Piece>();
  for (const term of terms) if (!first.has(keyOf(term))) first.set(keyOf(term), term);
  return [...first.values()];
};

/** Modifiers of all records; only one of them may explain. */
const pickOthers = (others: readonly string[]): string[] => {
  const isExplaining = (text: string) => /^exp=/i.test(text);
  const [explaining] = others.filter(isExplaining);
  const rest = others.filter((text) => !isExplaining(text));
  return [...new Set([...rest, ...(explaining === undefined ? [] : [explaining])])];
};
