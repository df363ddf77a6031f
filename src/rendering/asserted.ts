import { isDomain } from './links/domains.ts';
import { SCHEMES } from './links/in_text.ts';
import { readText, spellMarks, UNSEEN } from './links/spelling.ts';

/** How many characters of a value are rendered that only a browser asserted. */
export const ASSERTED_CHARS_MAX = 100;
/** How many names that only a browser asserted loops and `json` print of a profile or an event. */
export const ASSERTED_LISTED_MAX = 20;

/**
 * Whether an address can be shown whole: its own mailbox cannot be chosen by a page, but a tag behind a plus sign can,
 * and software would make a link of `ann+x!www.evil.example!@shop.com`.
 */
export const isPlainAddress = (address: string): boolean =>
  /^[\p{L}\p{N}._%'-]+(?:\+[\p{L}\p{N}_-]*)?@[^\s@]+$/u.test(address);

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
const HOST = /(?<![\p{L}\p{M}\p{N}_-])[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+/gu;
const IP_WITH_PATH = /(?:^|[^\d.])\d{1,3}(?:\.\d{1,3}){3}[:/?#]|\[[\da-f:.]*:[\da-f:.]*\]/i;
/** A dot that could stand before a top-level domain, whatever is cut off behind it later. */
const JOINING_DOT = /\.(?=\p{L})/gu;
/** A colon that could end a scheme or a property of CSS: every one but that of a time. */
const JOINING_COLON = /:(?!\s|$)(?!(?<=\d:)\d)/gu;
/**
 * What CSS needs for strings, functions, blocks and further declarations, and URLs for IPv6. A parenthesis
 * behind a blank begins no function; an apostrophe behind a letter is one of a name.
 */
const SYNTAX = /["{}[\];]|(?<![\p{L}\p{M}])'|(?<! )\(|(?<!\([^)]*)\)/gu;
/** Marks of a URL at the edges of a value. A list, or two values side by side, is printed without a separator. */
const EDGES = /^[.:/\\]+|[.:/\\@]+$/gu;

/** Whether email software would show a word as a link, as it is written. An escape of CSS may become anything. */
const isLinkAsWritten = (word: string): boolean =>
  word.includes('\\') ||
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

/** Cleaning reads so many characters of a text, and cuts what is left of them to ASSERTED_CHARS_MAX. */
export const CLEANED_CHARS_MAX = 3 * ASSERTED_CHARS_MAX;

/** The text with each character that stands for another one replaced, and without those that hide something. */
const spellOut = (text: string): string =>
  spellMarks(text.replaceAll(BLANKS, ' ').replaceAll(UNSEEN, '').replaceAll(DOTS, '.')).replaceAll(
    MARKUP,
    '',
  );

const cleanOnce = (text: string): string =>
  cut(
    spellOut(text.slice(0, CLEANED_CHARS_MAX))
      .split(' ')
      .filter((word) => word !== '' && !isLink(word))
      .join(' ')
      .replaceAll(SYNTAX, ' ')
      .replaceAll(/ {2,}/g, ' ')
      .replaceAll(JOINING_DOT, '. ')
      .replaceAll(JOINING_COLON, ': ')
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
  name.search(SYNTAX) < 0 &&
  !name.split(' ').some(isLink);

const isSame = (text: string, exempt: string | null): boolean =>
  exempt !== null && text.trim().toLowerCase() === exempt.toLowerCase();

/** A value that was cleaned, and how many characters JSON prints of it. */
type Fitted = { value: unknown; chars: number };
type Bounds = { exempt: string | null; charsMax: number };

/** What JSON prints around a text, a list and an object, behind a name, and between members. */
const PAIR_CHARS = 2;
const COLON_CHARS = 1;
const COMMA_CHARS = 1;
/** More members than this of one list or object are not cleaned: fewer fit. */
const MEMBERS_CLEANED_MAX = ASSERTED_CHARS_MAX;

/** How many characters JSON prints of a text without its quotes. */
const countPrinted = (text: string): number => Array.from(JSON.stringify(text)).length - PAIR_CHARS;

/** Cuts a text to what JSON prints with `charsMax` characters. Null where nothing is left. */
const cutText = (text: string, charsMax: number): Fitted | null => {
  const whole = PAIR_CHARS + countPrinted(text);
  if (whole <= charsMax) return { value: text, chars: whole };
  let [begun, chars] = ['', PAIR_CHARS];
  for (const character of text) {
    chars += countPrinted(character);
    if (chars > charsMax) break;
    begun += character;
  }
  const value = begun.replaceAll(EDGES, '').trimEnd();
  return value === '' ? null : { value, chars: charsMax };
};

const fitText = (text: string, { exempt, charsMax }: Bounds): Fitted | null => {
  if (charsMax < PAIR_CHARS) return null;
  if (exempt === null || !isSame(text, exempt)) return cutText(cleanText(text), charsMax);
  const chars = PAIR_CHARS + countPrinted(exempt);
  return chars <= charsMax ? { value: exempt, chars } : null;
};

/** Returns as many members as fit, without those that do not. Null where not even an empty list does. */
const fitMembers = <Member, Kept>(
  members: readonly Member[],
  { exempt, charsMax }: Bounds,
  fitOne: (member: Member, bounds: Bounds) => { value: Kept; chars: number } | null,
): { value: Kept[]; chars: number } | null => {
  if (charsMax < PAIR_CHARS) return null;
  const value: Kept[] = [];
  let chars = PAIR_CHARS;
  for (const member of members.slice(0, MEMBERS_CLEANED_MAX)) {
    const comma = value.length === 0 ? 0 : COMMA_CHARS;
    const fitted = fitOne(member, { exempt, charsMax: charsMax - chars - comma });
    if (!fitted) continue;
    value.push(fitted.value);
    chars += comma + fitted.chars;
  }
  return { value, chars };
};

type Member = [name: string, value: unknown];

const fitNamed = ([name, one]: Member, { exempt, charsMax }: Bounds) => {
  if (name.length >= charsMax || !isCleanName(name)) return null;
  const chars = PAIR_CHARS + countPrinted(name) + COLON_CHARS;
  const fitted = fit(one, { exempt, charsMax: charsMax - chars });
  const value: Member = [name, fitted?.value];
  return fitted && { value, chars: chars + fitted.chars };
};

/** Cleans a value so that JSON prints it with at most `charsMax` characters. Null where it does not fit. */
const fit = (value: unknown, bounds: Bounds): Fitted | null => {
  if (typeof value === 'string') return fitText(value, bounds);
  if (Array.isArray(value)) return fitMembers(value as unknown[], bounds, fit);
  if (typeof value === 'object' && value !== null) {
    const fitted = fitMembers(Object.entries(value) as Member[], bounds, fitNamed);
    return fitted && { value: Object.fromEntries(fitted.value), chars: fitted.chars };
  }
  const { length: chars } = JSON.stringify(value);
  return chars <= bounds.charsMax ? { value, chars } : null;
};

/**
 * Returns a value that only a browser asserted as an email may show it: without URLs, addresses, line breaks, control
 * and invisible characters. A text is cut at ASSERTED_CHARS_MAX; JSON prints a list or an object with at most as many
 * characters, without the members that do not fit. Numbers and booleans stay what they are. The text that is `exempt`
 * (the recipient's own address) stays whole.
 */
export const cleanAsserted = (value: unknown, exempt: string | null): unknown => {
  if (typeof value === 'string') return isSame(value, exempt) ? exempt : cleanText(value);
  if (typeof value !== 'object') return value;
  return fit(value, { exempt, charsMax: ASSERTED_CHARS_MAX })?.value;
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
