import { domainToASCII } from 'node:url';
import { z } from 'zod';

/** RFC 5321 §4.5.3.1: 64 for the local part, 254 for a path without its brackets. */
export const EMAIL_CHARS_MAX = 254;

export const LOCAL_PART_CHARS_MAX = 64;

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/**
 * A dot-string (RFC 5321 §4.1.2) at a host name of two labels or more (RFC 1035), the last of which is
 * no number. No quoted strings: nobody has one.
 */
const ADDRESS = new RegExp(`^(${ATOM}(?:\\.${ATOM})*)@(?:${LABEL}\\.)+(?=[A-Za-z])${LABEL}$`);

/** Said before the domain is put in ASCII: that would read a URL's other parts, escapes and tabs out of it. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.\-\u3002]+$/u;

const trimAndEncode = (text: string): string => {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  if (at < 1 || !DOMAIN.test(trimmed.slice(at + 1))) return trimmed;
  const domain = domainToASCII(trimmed.slice(at + 1));
  return domain === '' ? trimmed : `${trimmed.slice(0, at)}@${domain}`;
};

const isAddress = (text: string): boolean =>
  text.length <= EMAIL_CHARS_MAX &&
  (ADDRESS.exec(text)?.[1]?.length ?? Infinity) <= LOCAL_PART_CHARS_MAX;

/** The form in which addresses are compared: lower case throughout. */
export const normaliseEmail = (email: string): string => trimAndEncode(email).toLowerCase();

/** Whether two addresses are the same; one that is null is the same as no other. */
export const isSameEmail = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && normaliseEmail(one) === normaliseEmail(other);

/** Providers that ignore dots in the local part; the first is the name that stands for all of them. */
const DOTLESS = ['gmail.com', 'googlemail.com'] as const;
const QUOTED = /^"(.*)"$/s;
const ESCAPED = /\\(.)/gs;

/**
 * Returns the mailbox that an address leads to, as far as its spelling shows that: in lower case, its domain in ASCII
 * without a trailing dot, its local part without quotes and `+tag`; at Gmail also without dots. Addresses of one
 * mailbox count together wherever a limit is per recipient.
 */
export const mailboxOf = (email: string): string => {
  const address = normaliseEmail(email.trim().replace(/\.+$/, ''));
  const at = address.lastIndexOf('@');
  const written = address.slice(0, Math.max(0, at)).replace(QUOTED, '$1').replaceAll(ESCAPED, '$1');
  const domain = address.slice(at + 1);
  const tag = written.indexOf('+', 1);
  const local = tag < 0 ? written : written.slice(0, tag);
  return DOTLESS.some((one) => one === domain)
    ? `${local.replaceAll('.', '')}@${DOTLESS[0]}`
    : `${local}@${domain}`;
};

/** The address, or null when the value is not one. Trimmed, its domain in ASCII, its local part untouched. */
export const readEmail = (value: unknown): string | null => {
  if (typeof value !== 'string' || value.length > EMAIL_CHARS_MAX) return null;
  const address = trimAndEncode(value);
  return isAddress(address) ? address : null;
};

/** One e-mail address, as somebody wrote it and in whatever alphabet: wherever one is asked for, this reads it. */
export const EmailAddress = z
  .string()
  .transform((text, context) => {
    const address = readEmail(text);
    if (address !== null) return address;
    context.addIssue('must be one e-mail address, such as ann@example.com');
    return z.NEVER;
  })
  .meta({ format: 'idn-email' });
