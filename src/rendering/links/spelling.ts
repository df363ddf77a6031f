// How software reads the characters of a URL: the WHATWG URL parser, and what it takes over from UTS 46.

/** What no reader sees: zero-width characters, bidi controls, tags, soft hyphens, private use and unassigned ones. */
export const UNSEEN =
  /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]|[\uFE00-\uFE0E]|[\u{E0100}-\u{E01EF}]/gu;
/** Characters that stand for a dot, a slash, a colon and an at sign. */
const DOTS = /[\u3002\uFF61\uFF0E\u2024\uFE52]/gu;
const SLASHES = /[\u2044\u2215\u29F8\uFF0F]/g;
const COLONS = /[\uFF1A\uFE55\uA789\u2236]/g;
const ATS = /[\uFF20\uFE6B]/g;

/** Replaces each character that stands for a slash, a colon or an at sign. */
export const spellMarks = (text: string): string =>
  text.replaceAll(SLASHES, '/').replaceAll(COLONS, ':').replaceAll(ATS, '@');

const PERCENT_ENCODED = /(?:%[0-9a-f]{2})+/gi;
const decode = (text: string): string =>
  text.replaceAll(PERCENT_ENCODED, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
  );

/**
 * A text has at most 30 marks in a row that combine (UAX #15, "Stream-Safe Text Format"). Sorting more takes long, and
 * what no reader sees may stand between them.
 */
export const MARKS_READ = 30;
const MARK = String.raw`[\p{M}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115F\u1160\u3164\uFFA0\uFF9E\uFF9F]`;
/** Finds a row at once. A pattern for rows that are too long would begin anew at each mark of the others. */
const MARKS = new RegExp(`${MARK}+`, 'gu');

/** Returns a text without the marks past MARKS_READ in a row. */
export const cutMarks = (text: string): string =>
  text.replaceAll(MARKS, (marks) =>
    marks.length <= MARKS_READ ? marks : Array.from(marks).slice(0, MARKS_READ).join(''),
  );

/** Whether a URL has more than MARKS_READ marks in a row once it is decoded. */
export const hidesMarks = (url: string): boolean => {
  const decoded = decode(url);
  return cutMarks(decoded) !== decoded;
};

/** A host is decoded once; redirects and click tracking may decode a URL again. */
const READINGS_MAX = 5;
/** A compatible character may stand for 18 others (NFKC). A text that becomes longer than this is not read. */
export const SPELLING_CHARS_MAX = 1_000_000;
/** A text of these characters reads as it is written. */
const READ_AS_WRITTEN = /^[\x20-\x24\x26-\x7e]*$/;

/**
 * Returns a text as software reads it: percent-decoded, each character by the one that it is compatible with (NFKC),
 * without those that are ignored or are marks past MARKS_READ, and with plain dots, slashes, colons and at signs. Null
 * where it changes with each reading.
 */
export const readText = (text: string): string | null => {
  if (READ_AS_WRITTEN.test(text)) return text;
  let read = text;
  for (let readings = 0; readings < READINGS_MAX; readings += 1) {
    const seen = cutMarks(decode(read).replaceAll(UNSEEN, ''));
    const next = spellMarks(seen.normalize('NFKC')).replaceAll(UNSEEN, '').replaceAll(DOTS, '.');
    if (next === read) return read;
    if (next.length > SPELLING_CHARS_MAX) return null;
    read = next;
  }
  return null;
};
