/**
 * The addresses of the send, where they are known: a reply that names one of them says what it is
 * about.
 */
export type Addresses = { from?: string | undefined; to?: string | undefined };

/** What stands for masked text. No word of the vocabulary contains `@`. */
export const MASKS = {
  to: '@to',
  toDomain: '@todomain',
  from: '@from',
  fromDomain: '@fromdomain',
  address: '@addr',
  host: '@host',
  ip: '@ip',
  url: '@url',
} as const;

const URL_TEXT = /\bhttps?:\/\/[^\s<>"]{1,2000}/gi;
const QUOTED_LOCAL = /"[^"\r\n]{1,64}"@[\w.-]{1,253}/g;
const ADDRESS = /[^\s<>()[\],;:"'=@]{1,128}@(?:\[[^\]\s]{1,64}\]|[^\s<>()[\],;:"'@]{1,253})/g;
const IP4 = /(?<![\w.])\d{1,3}(?:\.(?:\d{1,3}|x{1,3})){3}(?![\w.]{0,64}\w)/g;
/** A time of day (`08:42:36`) is no address. */
const IP6 =
  /(?<![\w:])(?!\d\d:\d\d:\d\d(?![\w:]))(?:[0-9a-f]{1,4}:){2,7}(?:[0-9a-f]{1,4}|:)?(?:::?[0-9a-f]{1,4})?(?![\w:])/gi;
const HOST = /(?<![\w@-])(?:[a-z0-9_][a-z0-9_-]{0,62}\.){1,8}[a-z][a-z0-9-]{1,23}(?![\w@-])/gi;
/** Variables that one host leaves in its own replies: `$(_toemail)`. */
const PLACEHOLDER = /\$\(_(to|from|ip)\w{1,20}\)/g;

/**
 * Replaces every address; those of the send, and their domains, by masks of their own. `keep` may
 * return what stays of an address instead of its mask.
 */
export const maskAddresses = (
  text: string,
  { from, to }: Addresses = {},
  keep: (address: string) => string | null = () => null,
): string => {
  const own = new Map<string, string>();
  if (from) own.set(from.toLowerCase(), MASKS.from);
  if (to) own.set(to.toLowerCase(), MASKS.to);
  const toMask = (found: string): string => {
    const address = found.replace(/[.!?]{1,3}$/, '');
    return keep(address) ?? own.get(address.toLowerCase()) ?? MASKS.address;
  };
  const masked = text
    .replace(PLACEHOLDER, (_, name: string) => `@${name}`)
    .replace(QUOTED_LOCAL, toMask)
    .replace(ADDRESS, toMask);
  const named = maskLocalPart(maskLocalPart(masked, from, MASKS.from), to, MASKS.to);
  return maskDomain(maskDomain(named, from, MASKS.fromDomain), to, MASKS.toDomain);
};

const DELIMITERS = ["''", '""', '<>', '()', '[]'] as const;

/** Some servers name a mailbox without its domain: `user "full" is unknown`. */
const maskLocalPart = (text: string, address: string | undefined, mask: string): string => {
  const local = address?.slice(0, Math.max(0, address.lastIndexOf('@'))) ?? '';
  if (local === '') return text;
  return DELIMITERS.reduce(
    (left, [open, close]) =>
      left
        .replaceAll(`${open}${local}${close}`, ` ${mask} `)
        .replaceAll(`${open}${local.toLowerCase()}${close}`, ` ${mask} `),
    text,
  );
};

const maskDomain = (text: string, address: string | undefined, mask: string): string => {
  const domain = address?.slice(address.lastIndexOf('@') + 1).toLowerCase() ?? '';
  if (domain === '') return text;
  return text.replace(HOST, (host) => (isOwn(host.toLowerCase(), domain) ? mask : host));
};

/** Relays are set up for a subdomain of the sender's domain, or for the domain above it. */
const isOwn = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`) || domain.endsWith(`.${host}`);

export const maskUrls = (text: string): string => text.replace(URL_TEXT, MASKS.url);

/** Replaces IP addresses and host names. A sentence without a space after its period is no host. */
export const maskHosts = (text: string): string =>
  text
    .replace(/([a-z]{2})\.([A-Z][a-z])/g, '$1. $2')
    .replace(IP4, MASKS.ip)
    .replace(IP6, MASKS.ip)
    .replace(HOST, (host) => (isHost(host) ? MASKS.host : host));

/** Words of programs that look like host names: `RESOLVER.ADR`. */
const isHost = (text: string): boolean =>
  !/^(?:[A-Z]{4,20}\.){1,4}[A-Z]\w{1,40}$/.test(text) && !/^(?:e\.g|i\.e)$/i.test(text);
