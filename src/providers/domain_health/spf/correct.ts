import { readAddress } from './address.ts';
import { parseTerm, termsOf } from './record.ts';

/** An address where a name or another family is expected, whatever the mechanism is called. */
const ADDRESS_TERM = /^([+\-~?]?)(?:ipv?[46]?|a|mx)[:=]([\da-f.:]+)(\/\d+)?$/i;
/** A mechanism that is written as a modifier. Receivers ignore modifiers that they do not know. */
const ASSIGNED = /^([+\-~?]?(?:include|a|mx|ptr|exists|ip4|ip6))=(.+)$/i;
/** Longer terms are no slip of a pen. */
const TERM_CHARS_MAX = 300;
const DECORATED = /^["']?(.*?)["',;]*$/s;

/** Whether a term is a mechanism that is written as a modifier, such as `include=spf.example.com`. */
export const isAssigned = (term: string): boolean => ASSIGNED.test(term);

/**
 * Returns what a term was meant to be, where that is certain: an address with the wrong mechanism, `=` in place of `:`,
 * punctuation around it. Null where that is not certain.
 */
export const correctTerm = (term: string): string | null => {
  if (term.length > TERM_CHARS_MAX) return parseTerm(term) && term;
  const plain = DECORATED.exec(term)?.[1] ?? term;
  const [, qualifier = '', text = '', prefix = ''] = ADDRESS_TERM.exec(plain) ?? [];
  const address = readAddress(text);
  const candidates = [
    plain,
    ...(address ? [`${qualifier}ip${address.family}:${text}${prefix}`] : []),
    plain.replace(ASSIGNED, '$1:$2'),
    plain.replace(/\.$/, ''),
  ];
  return candidates.find((candidate) => parseTerm(candidate) !== null) ?? null;
};

/**
 * Whether the strings of a record were split at a blank that got lost: receivers join them without one (RFC 7208
 * §3.3), so two terms become one.
 */
export const isBadlySplit = (strings: readonly string[]): boolean =>
  strings.slice(1).some((next, at) => {
    const before = strings[at] ?? '';
    return (
      !before.endsWith(' ') &&
      /^(?:[+\-~?]?(?:include|ip4|ip6|a|mx|ptr|exists):|[+\-~?]all\b|redirect=)/i.test(next) &&
      parseTerm(termsOf(`- ${before}`).at(-1) ?? '') !== null
    );
  });
