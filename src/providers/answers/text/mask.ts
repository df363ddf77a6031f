/** The addresses of the send, where they are known: a reply that names one of them says what it is about. */
export type Addresses = { from?: string | undefined; to?: string | undefined };

/** What stands for masked text. No word of the vocabulary contains `@`. */
export const MASKS = {
  to: '@to',
  from: '@from',
  address: '@addr',
  host: '@host',
  ip: '@ip',
  url: '@url',
} as const;

const URL_TEXT = /\bhttps?:\/\/[^\s<>"]{1,2000}/gi;
const QUOTED_LOCAL = /"[^"\r\n]{1,64}"@[\w.-]{1,253}/g;
const ADDRESS = /[^\s<>()[\],;:"'=@]{1,128}@(?:\[[^\]\s]{1,64}\]|[^\s<>()[\],;:"'@]{1,253})/g;
/** Also as `user=example.com`, the form of VERP. */
const IP4 = /(?<![\w.])\d{1,3}(?:\.(?:\d{1,3}|x{1,3})){3}(?![\w.]*\w)/g;
const IP6 = /(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?:[0-9a-f]{1,4}|:)?(?:::?[0-9a-f]{1,4})?(?![\w:])/gi;
const HOST = /(?<![\w@-])(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.){1,8}[a-z][a-z0-9-]{1,23}(?![\w@-])/gi;

/** Replaces every address: the recipient's and the sender's by a mask of their own. */
export const maskAddresses = (text: string, { from, to }: Addresses = {}): string => {
  const own = new Map<string, string>();
  if (from) own.set(from.toLowerCase(), MASKS.from);
  if (to) own.set(to.toLowerCase(), MASKS.to);
  const toMask = (address: string): string =>
    own.get(address.replace(/[.!?]{1,3}$/, '').toLowerCase()) ?? MASKS.address;
  return text
    .replace(/\$\(_(to|from|ip)\w{1,20}\)/g, (_, name: string) => `@${name}`)
    .replace(QUOTED_LOCAL, toMask)
    .replace(ADDRESS, toMask);
};

export const maskUrls = (text: string): string => text.replace(URL_TEXT, MASKS.url);

/** Replaces IP addresses and host names. A sentence without a space after its period is no host. */
export const maskHosts = (text: string): string =>
  text
    .replace(/([a-z]{2})\.([A-Z][a-z])/g, '$1. $2')
    .replace(IP4, MASKS.ip)
    .replace(IP6, MASKS.ip)
    .replace(HOST, (host) => (isHost(host) ? MASKS.host : host));

/** Words of programs that look like host names: `RESOLVER.ADR`, `Error:RATE_MSG`. */
const isHost = (text: string): boolean =>
  !/^(?:[A-Z]{4,20}\.){1,4}[A-Z]\w+$/.test(text) && !/^(?:e\.g|i\.e)$/i.test(text);
