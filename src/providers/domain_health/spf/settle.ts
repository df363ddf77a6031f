import type { DnsQueries } from '../dns.ts';
import { listed } from '../findings.ts';
import { SPF_LOOKUPS_MAX, SPF_VOIDS_MAX } from './evaluate.ts';
import { describeFault, describeOpen } from './faults.ts';
import {
  countLookups,
  findVoids,
  findVoidsBefore,
  listFaults,
  listIncluded,
  lookupsOf,
  strangersOf,
} from './measure.ts';
import type { Qualifier } from './record.ts';
import { survey, SURVEY_LOOKUPS_MAX } from './survey.ts';
import type { Survey, Use } from './survey.ts';

/** How long a proposed record may be. Longer ones do not fit the forms of some DNS hosts. */
export const SPF_RECORD_CHARS_MAX = 2_048;

export type Proposal =
  { kind: 'record'; value: string; notes: string[] } | { kind: 'none'; why: string };

/** A term of a draft. */
export type Piece = { text: string; qualifier: Qualifier };

/** A record that is to be proposed, without its `-all`; `others` are modifiers without an effect. */
export type Draft = { terms: readonly Piece[]; others: readonly string[] };

/** Whose record it is. */
type Owner = { domain: string; mailFrom: string };

const toText = ({ terms, others }: Draft): string =>
  ['v=spf1', ...terms.map(({ text }) => text), '-all', ...others].join(' ');

/**
 * Takes out of a draft what authorizes no server and makes receivers refuse the record, then judges what is left as a
 * receiver does.
 */
export const settle = async (dns: DnsQueries, owner: Owner, draft: Draft): Promise<Proposal> => {
  const notes: string[] = [];
  const look = (terms: readonly Piece[]) =>
    survey(dns, owner, toText({ terms, others: draft.others }));
  let { terms } = draft;
  let found = await look(terms);
  for (const trim of [dropMissing, dropVoid, putVoidLast, dropRepeated]) {
    const trimmed = trim(terms, found);
    if (trimmed === null) continue;
    terms = trimmed.terms;
    notes.push(...trimmed.notes);
    found = await look(terms);
  }
  const value = toText({ terms, others: draft.others });
  const obstacle = findObstacle(value, found);
  return obstacle === null ? { kind: 'record', value, notes } : { kind: 'none', why: obstacle };
};

type Trimmed = { terms: readonly Piece[]; notes: string[] } | null;

const useOf = (found: Survey, { text }: Piece): Use | undefined =>
  found.uses.find((use) => use.text === text);

const without = (
  terms: readonly Piece[],
  found: Survey,
  isGone: (use: Use) => boolean,
): { kept: Piece[]; gone: string[] } => {
  const isDropped = (term: Piece) => {
    const use = useOf(found, term);
    return use !== undefined && isGone(use);
  };
  return {
    kept: terms.filter((term) => !isDropped(term)),
    gone: terms.filter(isDropped).map(({ text }) => text),
  };
};

/** An include without a record authorizes no server and makes the whole record an error. */
const dropMissing = (terms: readonly Piece[], found: Survey): Trimmed => {
  const { kept, gone } = without(terms, found, ({ fault }) => fault?.kind === 'no_record');
  if (gone.length === 0) return null;
  return {
    terms: kept,
    notes: [`The proposal leaves out terms that authorize no server: ${gone.join(', ')}.`],
  };
};

/** Terms that find nothing authorize no server. They go where there are more of them than receivers accept. */
const dropVoid = (terms: readonly Piece[], found: Survey): Trimmed => {
  if (findVoids(found).count <= SPF_VOIDS_MAX) return null;
  const { kept, gone } = without(terms, found, ({ canMatch }) => !canMatch[4] && !canMatch[6]);
  if (gone.length === 0) return null;
  return {
    terms: kept,
    notes: [`The proposal leaves out terms that find nothing in DNS: ${gone.join(', ')}.`],
  };
};

const rankOf = (use: Use | undefined): number => {
  const kind = use?.term?.mechanism.kind;
  if (kind === 'ip') return 0;
  if (kind === 'include') return 1;
  return use?.canMatch[6] === true && use.voids[6] === 0 ? 2 : 3;
};

/** Where hosts have no IPv6 address, what comes after them may be out of reach for senders that use IPv6. */
const putVoidLast = (terms: readonly Piece[], found: Survey): Trimmed => {
  const isOrderFree = terms.every(({ qualifier }) => qualifier === '+');
  if (!isOrderFree || findVoidsBefore(found, 6).count <= SPF_VOIDS_MAX) return null;
  const rank = (term: Piece) => rankOf(useOf(found, term));
  return { terms: terms.toSorted((a, b) => rank(a) - rank(b)), notes: [] };
};

/** Where there are too many lookups, what an earlier or another include covers need not be asked for twice. */
const dropRepeated = (terms: readonly Piece[], found: Survey): Trimmed => {
  if (countLookups(found) <= SPF_LOOKUPS_MAX) return null;
  const exclusion = terms.findIndex(({ qualifier }) => qualifier !== '+');
  const isInFront = (term: Piece) => exclusion < 0 || terms.indexOf(term) < exclusion;
  let kept = terms;
  for (const term of terms) {
    const child = useOf(found, term)?.child;
    if (!child || term.qualifier !== '+') continue;
    const isCovered = kept.some((other) => {
      // What comes after an exclusion may not let all of it pass.
      if (other === term || !isInFront(other)) return false;
      const covering = useOf(found, other)?.child;
      return covering ? listIncluded(covering).includes(child.domain) : false;
    });
    if (isCovered) kept = kept.filter((other) => other !== term);
  }
  if (kept.length === terms.length) return null;
  const gone = terms.filter((term) => !kept.includes(term)).map(({ text }) => text);
  return {
    terms: kept,
    notes: [`The proposal leaves out terms that another include covers: ${gone.join(', ')}.`],
  };
};

/** Why receivers would not accept a proposal, or would accept anything; null where they accept it. */
const findObstacle = (value: string, found: Survey): string | null => {
  const [fault] = listFaults(found);
  if (fault) return describeFault(fault);
  const lookups = countLookups(found);
  if (lookups > SPF_LOOKUPS_MAX) {
    const costs = found.uses
      .filter(({ isLookup }) => isLookup)
      .map((use) => `${use.text} ${lookupsOf(use)}`);
    return (
      `One record for all senders needs ${lookups > SURVEY_LOOKUPS_MAX ? 'too many' : lookups} DNS lookups: ` +
      `${listed(costs, SPF_LOOKUPS_MAX)}. Replace some by ip4 and ip6 terms, or send from a subdomain.`
    );
  }
  const voids = Math.max(findVoidsBefore(found, 4).count, findVoidsBefore(found, 6).count);
  if (voids > SPF_VOIDS_MAX || findVoids(found).count > SPF_VOIDS_MAX)
    return `More than ${SPF_VOIDS_MAX} DNS queries would find nothing. Remove or correct such terms, then check again.`;
  const { result, by } = strangersOf(found);
  if (result === 'pass') return describeOpen(by);
  if (result !== 'fail')
    return `"${by?.text ?? ''}" matches every server, so "-all" has no effect behind it. Remove it.`;
  return value.length > SPF_RECORD_CHARS_MAX ? describeLong(value.length) : null;
};

/** Says that a record would be too long. */
export const describeLong = (chars: number): string =>
  `One record would have ${chars} characters. ` +
  'Move a part of it to a name of its own, and include that.';
