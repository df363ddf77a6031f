import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';

const NAME_CHARS_MAX = 253;
const LABEL_CHARS_MAX = 63;

/**
 * Names that are resolved only inside a private network (RFC 6761, 6762, 7686, 8375, 9476; ICANN's `internal`, and what
 * routers and companies use). Receivers elsewhere find nothing there, and customers must not read names of the
 * operator's network.
 */
const PRIVATE_NAMES =
  'localhost local internal intranet private corp home lan localdomain home.arpa onion alt invalid'.split(
    ' ',
  );

/** Returns a name in lower case, without the dot at its end. */
export const toName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** Returns a domain as DNS knows it, in lower case and in ASCII (RFC 5891); null where it is none. */
export const toDomain = (text: string): string | null => {
  const ascii = domainToASCII(toName(text.trim()));
  return ascii !== '' && isQueryable(ascii) && ascii.includes('.') ? ascii : null;
};

/** Whether a query can be made of a name (RFC 1035 §2.3.4). */
export const isQueryable = (name: string): boolean =>
  name.length > 0 &&
  name.length <= NAME_CHARS_MAX &&
  name.split('.').every((label) => label.length > 0 && label.length <= LABEL_CHARS_MAX);

/** Whether receivers in other networks can look a name up. */
export const isPublicName = (name: string): boolean =>
  name.includes('.') && !PRIVATE_NAMES.some((zone) => name === zone || name.endsWith(`.${zone}`));

/** Whether a name is a domain or below it. */
export const isWithin = (name: string, domain: string): boolean =>
  toName(name) === toName(domain) || toName(name).endsWith(`.${toName(domain)}`);

/** Returns the name one label up; null at a top-level domain. */
export const parentOf = (name: string): string | null => {
  const dot = name.indexOf('.');
  return dot < 0 ? null : name.slice(dot + 1);
};

/** Returns the domain that its owner registered, by the Public Suffix List; itself where it is a suffix or unknown. */
export const registeredOf = (domain: string): string =>
  getDomain(domain, { allowPrivateDomains: true }) ?? domain;
