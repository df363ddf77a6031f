/** What a relay says of a bounce, in SMTP's words. Any of it may be missing. */
export type BounceCodes = { code: number | null; enhanced: string | null; reason: string | null };

/** The enhanced codes (RFC 3463) of a mailbox or a domain that does not exist, or is disabled. */
export const GONE_ENHANCED: readonly string[] = [
  '5.1.1',
  '5.1.2',
  '5.1.3',
  '5.1.6',
  '5.1.10',
  '5.2.1',
];

/** The host or the domain never accepts mail (RFC 7504). */
export const NEVER_ACCEPTS: readonly number[] = [521, 556];

/** An enhanced code anywhere in a text, but no part of an address or a version of four numbers. */
const ENHANCED = /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/;
/** A reply begins with its code, be it after `smtp;` or after who said it. */
const CODE = /(?:^|[;:])\s{0,4}([245]\d{2})(?=$|[ -])/;

const findIn = (texts: readonly (string | null)[], pattern: RegExp): string | null =>
  texts.map((text) => pattern.exec(text ?? '')?.[1]).find((found) => found !== undefined) ?? null;

/** The codes of a bounce: out of what is meant to be one, else out of what is said about it. */
export const readCodes = (
  codes: readonly (string | null)[],
  reasons: readonly (string | null)[],
): BounceCodes => {
  const texts = [...codes, ...reasons];
  const code = findIn(texts, CODE);
  return {
    code: code === null ? null : Number(code),
    enhanced: findIn(texts, ENHANCED),
    reason: reasons.filter((reason) => reason !== null).join('\n') || null,
  };
};
