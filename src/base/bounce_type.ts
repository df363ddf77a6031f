/** What a relay says of a bounce, in SMTP's words. Any of it may be missing. */
export type BounceCodes = { code: number | null; enhanced: string | null; reason: string | null };

/** What an enhanced code (RFC 3463) says after its class where there is no such mailbox, or it is closed. */
export const MAILBOX_GONE: readonly string[] = ['1.1', '1.2', '1.3', '1.6', '1.10', '2.1'];
/** That it never will be there is said by the class. */
export const GONE_ENHANCED: readonly string[] = MAILBOX_GONE.map((detail) => `5.${detail}`);

/** The host or the domain never accepts mail (RFC 7504). */
export const NEVER_ACCEPTS: readonly number[] = [521, 556];

export const NO_SUCH_MAILBOX = 550;
const UNKNOWN_USER = new RegExp(
  [
    'user (?:unknown|not found)',
    'no such (?:user|mailbox|account|recipient)',
    'unknown (?:user|recipient|mailbox)',
    'does not exist',
    'mailbox (?:not found|unavailable)',
    'invalid (?:user|recipient|mailbox)',
  ].join('|'),
  'i',
);
/** Codes that say less than the text beside them. */
export const AMBIGUOUS_ENHANCED: readonly string[] = ['5.1.0', '5.1.4'];
/** What one large host says at its edge of recipients that it does not know. */
export const EDGE_ENHANCED = '5.4.1';
const EDGE_REFUSAL = /recipient address rejected: access denied/i;

/** Hard only where the codes say that the mailbox is gone; 5.7.x is policy; in doubt it is soft. */
export const bounceTypeOf = ({
  code,
  enhanced,
  reason,
}: BounceCodes): 'hard' | 'soft' | 'block' => {
  if (enhanced?.startsWith('5.7.')) return 'block';
  if (enhanced && GONE_ENHANCED.includes(enhanced)) return 'hard';
  if (code !== null && NEVER_ACCEPTS.includes(code)) return 'hard';
  const text = reason ?? '';
  if (enhanced === EDGE_ENHANCED && EDGE_REFUSAL.test(text)) return 'hard';
  if (enhanced !== null) {
    const isSaid = AMBIGUOUS_ENHANCED.includes(enhanced) && UNKNOWN_USER.test(text);
    return isSaid ? 'hard' : 'soft';
  }
  return code === NO_SUCH_MAILBOX && UNKNOWN_USER.test(text) ? 'hard' : 'soft';
};

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
