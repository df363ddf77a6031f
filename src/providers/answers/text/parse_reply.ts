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
const LINE =
  /^\s{0,8}(?:(\d{3})(?:[ \t-]{1,4}|$))?#?(?:([245]\.\d{1,3}\.\d{1,3})(?![.\d]))?[ \t:]{0,8}/;

/** An enhanced code inside the text: `(#5.1.1)`, `[4.7.1]`, `550-5.7.1`; not part of a version or an IP. */
const INNER_ENHANCED = /(?<![\w.])([245]\.[0-7]\.\d{1,3})(?![.\d])/g;

/** A reply of another host that this one repeats: `said: 550 5.1.1 …`, `smtp; 550 …`. */
const INNER_CODE =
  /(?:said|responded|returned|replied|smtp|error|remote|code)[:;]?\s{0,4}["'(]?([45]\d{2})(?=[ \t-])/i;

/**
 * Splits a reply of one or more lines (CRLF or LF, with or without codes) into codes and text.
 * Where lines differ in their enhanced code, the last one counts.
 */
export const parseReply = (reply: string): ParsedReply => {
  const raw = bound(reply).split(/\r\n|\n|\r/);
  const parsed = raw.map((line) => {
    const [prefix = '', code, enhanced] = LINE.exec(line) ?? [];
    return { code, enhanced, text: line.slice(prefix.length).trim() };
  });
  const codes = parsed.flatMap(({ code }) => (code === undefined ? [] : [Number(code)]));
  const outer = codes.at(-1);
  const inner = INNER_CODE.exec(reply.slice(0, HEAD_CHARS_MAX))?.[1];
  return {
    code: outer ?? (inner === undefined ? null : Number(inner)),
    enhanced: lastEnhanced(parsed),
    lines: parsed.map(({ text }) => text).filter((text) => text !== ''),
  };
};

const lastEnhanced = (lines: readonly { enhanced?: string | undefined; text: string }[]) => {
  const found = lines.flatMap(({ enhanced, text }) => [
    ...(enhanced === undefined ? [] : [enhanced]),
    ...[...text.matchAll(INNER_ENHANCED)].flatMap(([, inner]) => inner ?? []),
  ]);
  return found.at(-1) ?? null;
};
