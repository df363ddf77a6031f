/** The codes of a reply, and its lines without them. */
export type ParsedReply = {
  /** The basic code (RFC 5321 §4.2) of the last line that has one. */
  code: number | null;
  /** The enhanced code (RFC 3463) that counts: the last one. */
  enhanced: string | null;
  lines: string[];
};

/** Characters of a reply that are read: its start and, because the last line decides, its end. */
const HEAD_CHARS_MAX = 6_000;
const TAIL_CHARS_MAX = 2_000;

const bound = (reply: string): string =>
  reply.length <= HEAD_CHARS_MAX + TAIL_CHARS_MAX
    ? reply
    : `${reply.slice(0, HEAD_CHARS_MAX)}\n${reply.slice(-TAIL_CHARS_MAX)}`;

/** A reply line: its code, the separator, and an enhanced code where there is one. */
const CODE = /^\s{0,8}([2-5]\d{2})(?:([ \t-])[ \t-]{0,4}|$)/;
const ENHANCED = /^[ \t#(]{0,8}([245]\.\d{1,3}\.\d{1,3})(?![.\d])[ \t:)]{0,8}/;

/**
 * An enhanced code inside the text: `(#5.1.1)`, `[4.7.1]`, `550-5.7.1`; not part of a version or
 * an IP.
 */
const INNER_ENHANCED = /(?<![\w.])[245]\.[0-7]\.\d{1,3}(?![.\d])/g;

/** A reply of another host that this one repeats: `said: 550 5.1.1 …`, `smtp; 550 …`. */
const INNER_CODE =
  /(?:said|responded|returned|replied|smtp|error|remote|code)[:;]?\s{0,4}["'(]?([45]\d{2})(?=[ \t-])/i;

type Line = { code?: string | undefined; enhanced?: string | undefined; text: string };

/** `more`: the line before says that this one belongs to the same reply (RFC 5321 §4.2.1). */
const parseLine = (line: string, isCodeDue: boolean): Line & { more: boolean } => {
  const [prefix = '', code, separator] = (isCodeDue ? CODE.exec(line) : null) ?? [];
  const rest = line.slice(prefix.length);
  const [mark = '', enhanced] = ENHANCED.exec(rest) ?? [];
  return { code, enhanced, text: rest.slice(mark.length).trim(), more: separator === '-' };
};

/** Lines that were joined keep their codes inside the text: `550-5.7.1 … 550 5.7.1 …`. */
const JOINED = /(?<![\w.])([45]\d{2})[ -][245]\.\d{1,3}\.\d{1,3}[ \t]{1,4}/g;

/**
 * Splits a reply of one or more lines (CRLF or LF, with or without codes) into codes and text.
 * Where lines differ in their enhanced code, the last one counts.
 */
export const parseReply = (reply: string): ParsedReply => {
  const parsed: Line[] = [];
  let isCodeDue = true;
  for (const raw of bound(reply).split(/\r\n|\n|\r/)) {
    const { more, ...line } = parseLine(raw, isCodeDue);
    // A number at the start of a line that nothing announced is a number of the text.
    isCodeDue = more || line.code === undefined;
    parsed.push(line);
  }
  const codes = parsed.flatMap(({ code }) => (code === undefined ? [] : [code]));
  const outer = codes.at(-1) ?? INNER_CODE.exec(reply.slice(0, HEAD_CHARS_MAX))?.[1];
  return {
    code: outer === undefined ? null : Number(outer),
    enhanced: lastEnhanced(parsed),
    lines: parsed
      .map(({ text }) => text.replace(JOINED, (joined, code) => (code === outer ? '' : joined)))
      .filter((text) => text !== ''),
  };
};

const lastEnhanced = (lines: readonly Line[]) => {
  const found = lines.flatMap(({ enhanced, text }) => [
    ...(enhanced === undefined ? [] : [enhanced]),
    ...(text.match(INNER_ENHANCED) ?? []),
  ]);
  return found.at(-1) ?? null;
};
