import { isDomain } from './links/domains.ts';
import { SCHEMES } from './links/in_text.ts';
import { readText, spellMarks, UNSEEN } from './links/spelling.ts';

/** How many characters of a value are rendered that only a browser asserted. */
export const ASSERTED_CHARS_MAX = 100;
/** How many members of a list or an object are rendered that only a browser asserted. */
export const ASSERTED_MEMBERS_MAX = 100;

/** What needs no look: letters, digits and blanks of any script, and a few marks between words. */
const PLAIN = /^(?:[\p{L}\p{M}\p{N}'’_-]+(?: (?=[\p{L}\p{M}\p{N}'’_-])|$))*$/u;
/** Controls, line and paragraph separators, and every other blank: each becomes one blank. */
const BLANKS = /[\p{Cc}\p{Z}]+/gu;
/** Characters that software takes for a dot (UTS 46). Between Chinese, Japanese or Korean they end a sentence. */
const CJK = '[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}]';
const FULL_STOP = '[\\u3002\\uFF61]';
const DOTS = new RegExp(
  `[\\uFF0E\\u2024\\uFE52]|${FULL_STOP}(?!${CJK})|(?<!${CJK})${FULL_STOP}`,
  'gu',
);
/** What begins markup, or an entity that becomes any of these characters where a template prints without escaping. */
const MARKUP = /[<>`\u02C2\u02C3\uFF1C\uFF1E]|&(?=#|\w+;)/g;

const SCHEME = /:[/\\]/;
const NAMED_SCHEME = new RegExp(`(?:^|[^\\p{L}\\p{N}])(?:${SCHEMES.join('|')}):`, 'iu');
const WWW = /(?:^|[^\p{L}\p{N}])www\d*\./iu;
const ADDRESS = /[^\s@]@[^\s@]/u;
/** A number behind an at sign: a template that prints it behind its own host would make it the host (WHATWG URL). */
const NUMBER_AS_HOST = /@\p{N}/u;
const SLASHED = /^[\\/]{2}|[^\p{L}\p{N}][\\/]{2}\p{L}/u;
const HOST = /[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+/gu;
const IP_WITH_PATH = /(?:^|[^\d.])\d{1,3}(?:\.\d{1,3}){3}[:/?#]|\[[\da-f:.]*:[\da-f:.]*\]/i;
/** A dot that could stand before a top-level domain, whatever is cut off behind it later. */
const JOINING_DOT = /\.(?=\p{L})/gu;
/** Marks of a URL at the edges of a value. A list, or two values side by side, is printed without a separator. */
const EDGES = /^[.:/\\]+|[.:/\\@]+$/gu;

/** Whether email software would show a word as a link, as it is written. */
const isLinkAsWritten = (word: string): boolean =>
  SCHEME.test(word) ||
  NAMED_SCHEME.test(word) ||
  WWW.test(word) ||
  ADDRESS.test(word) ||
  NUMBER_AS_HOST.test(word) ||
  SLASHED.test(word) ||
  IP_WITH_PATH.test(word) ||
  (word.match(HOST) ?? []).some(isDomain);

/** Whether email software would, or could be made to, show a word as a link, also as the parser of URLs reads it. */
const isLink = (word: string): boolean => {
  const read = readText(word);
  if (read === null || isLinkAsWritten(word)) return true;
  return read !== word && read.split(BLANKS).some(isLinkAsWritten);
};

const cut = (text: string): string => {
  const characters = Array.from(text);
  return characters.length <= ASSERTED_CHARS_MAX
    ? text
    : characters.slice(0, ASSERTED_CHARS_MAX).join('').trimEnd();
};

/** More than this is not looked at: what is left of it is cut far shorter. */
const LOOKED_AT_CHARS_MAX = 1_000;

/** The text with each character that stands for another one replaced, and without those that hide something. */
const spellOut = (text: string): string =>
  spellMarks(text.replaceAll(BLANKS, ' ').replaceAll(UNSEEN, '').replaceAll(DOTS, '.')).replaceAll(
    MARKUP,
    '',
  );

const cleanOnce = (text: string): string =>
  cut(
    spellOut(text.slice(0, LOOKED_AT_CHARS_MAX))
      .split(' ')
      .filter((word) => word !== '' && !isLink(word))
      .join(' ')
      .replaceAll(JOINING_DOT, '. ')
      .replaceAll(EDGES, '')
      .trim(),
  );

/** Each pass only shortens or separates: a few of them, and nothing is left to do. */
const PASSES_MAX = 5;

const cleanText = (text: string): string => {
  if (text.length <= ASSERTED_CHARS_MAX && PLAIN.test(text)) return text;
  let cleaned = text;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const next = cleanOnce(cleaned);
    if (next === cleaned) return cleaned;
    cleaned = next;
  }
  return cleanOnce(cleaned) === cleaned ? cleaned : '';
};

/** Names of what JavaScript calls to print a value: a value under one of them ends the email. */
const CALLED_NAMES = new Set(['toString', 'valueOf', 'toJSON']);

/** Whether a name may be printed. Dots may stay in it: templates name it. */
const isCleanName = (name: string): boolean =>
  name.length <= ASSERTED_CHARS_MAX &&
  !CALLED_NAMES.has(name) &&
  spellOut(name) === name &&
  !name.split(' ').some(isLink);

const isSame = (text: string, exempt: string | null): boolean =>
  exempt !== null && text.trim().toLowerCase() === exempt.toLowerCase();

/**
 * Returns a value that only a browser asserted as an email may show it: without URLs, addresses, line breaks, control
 * and invisible characters, and cut at ASSERTED_CHARS_MAX, nested values and names together. Numbers and booleans stay
 * what they are. The text that is `exempt` (the recipient's own address) stays whole.
 */
export const cleanAsserted = (
  value: unknown,
  exempt: string | null,
  budget: Budget = newBudget(),
): unknown => {
  if (typeof value === 'string')
    return isSame(value, exempt) ? exempt : budget.spend(cleanText(value));
  if (Array.isArray(value))
    return value.slice(0, budget.members()).map((one) => cleanAsserted(one, exempt, budget));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, budget.members())
        .flatMap(([name, one]: [string, unknown]) =>
          isCleanName(name) && budget.spend(name) === name
            ? [[name, cleanAsserted(one, exempt, budget)]]
            : [],
        ),
    );
  const printed = JSON.stringify(value);
  return value === null || budget.spend(printed) === printed ? value : '';
};

/** What one value may still show, all of its members together: a template prints a list as one text. */
type Budget = { spend: (text: string) => string; members: () => number };

const newBudget = (): Budget => {
  let [chars, members] = [ASSERTED_CHARS_MAX, ASSERTED_MEMBERS_MAX];
  return {
    spend: (text) => {
      const characters = Array.from(text).slice(0, chars);
      chars -= characters.length;
      members -= 1;
      return characters.join('').trimEnd();
    },
    members: () => Math.max(0, members),
  };
};

/** The same of those members that only a browser asserted, without those whose name is a link: loops print names. */
export const cleanMembers = (
  members: object,
  isAsserted: (name: string) => boolean,
  exempt: string | null,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]: [string, unknown]) => {
      if (!isAsserted(name)) return [[name, value]];
      return isCleanName(name) ? [[name, cleanAsserted(value, exempt)]] : [];
    }),
  );
