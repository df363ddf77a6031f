import { toHost } from './domains.ts';
import { TooMuchToRead } from './hosts.ts';
import type { Hosts } from './hosts.ts';
import { addNames, NAME_CHARS_READ } from './names.ts';
import { cutMarks, hidesMarks, readText } from './spelling.ts';

/** Schemes without slashes that email software makes links of, or runs. */
export const SCHEMES = (
  'about afp aim bitcoin blob callto cid data ed2k ethereum facetime feed file ftp ftps geo git gopher http https im ' +
  'imap intent irc ircs itms javascript ldap ldaps magnet mailto maps market mid ms-access ms-excel ms-infopath ' +
  'ms-powerpoint ms-project ms-publisher ms-search ms-settings ms-spd ms-visio ms-word msteams news nfs nntp onenote ' +
  'outlook pop rtsp search-ms sftp sip sips skype slack smb sms snews spotify ssh steam svn tel telnet tg urn ' +
  'vbscript view-source webcal whatsapp ws wss xmpp zoommtg zoomus'
).split(' ');

/**
 * Where relative URLs lead: to no host of their own. `https:evil.com` is relative beside https and a host beside http,
 * and an email has no base of its own.
 */
const BASE_HOST = 'relative.invalid';
const BASES = [`https://${BASE_HOST}/`, `http://${BASE_HOST}/`];

/**
 * A longer host is none, and to read one costs the square of its characters: it is found as it is written. Ignored
 * characters make it shorter.
 */
export const HOST_CHARS_READ = 2 * NAME_CHARS_READ;

/** Returns the host of a URL as it is written: what stands behind its slashes and a user. */
const writtenHostOf = (url: string): string => {
  const [, authority = ''] = /^(?:[a-z][a-z\d+.-]*:[\\/]*|[\\/]{2,})([^\\/?#]*)/i.exec(url) ?? [];
  return authority.slice(authority.lastIndexOf('@') + 1);
};

/** Adds the host of a URL, as the WHATWG parser reads it; of a scheme without hosts the scheme, such as `tel:`. */
export const addUrl = (hosts: Hosts, url: string): void => {
  const written = cutMarks(url);
  if (!hosts.isNew(`URL ${written}`)) return;
  if (hidesMarks(written)) throw new TooMuchToRead();
  const host = writtenHostOf(written);
  if (host.length > HOST_CHARS_READ) {
    hosts.found.add(toHost(host));
    return;
  }
  for (const base of BASES) {
    const parsed = URL.parse(written, base);
    if (parsed === null || parsed.hostname === BASE_HOST) continue;
    const { protocol, hostname, href } = parsed;
    if (hostname !== '') hosts.found.add(toHost(hostname));
    if (protocol === 'http:' || protocol === 'https:') continue;
    hosts.found.add(protocol);
    hosts.inside(() => addText(hosts, href.slice(protocol.length)));
  }
};

const WORDS = /[\s<>"'`|^{}()]+/;
/** The derived text part shows the URL of a link like this. */
const IN_BRACKETS = /^\[(\w+:[^[\]]*)\]$/;
const ENDS = '.,;:!?]';
/** A scheme at its place, which no letter before it could lengthen. */
const SCHEME = /(?<![a-z\d+.-])([a-z][a-z\d+.-]{0,30}):/gi;
const TWO_SLASHES = /[\\/]{2,}/g;
/** The host is at the beginning: more of a URL is not read. */
export const URL_CHARS_READ = 2_000;
/**
 * What a linkifier may take for the host at the beginning of a text. Where a URL ends there is a guess, and some end it
 * before a character that they know from no host.
 */
const HOSTS = [/^[^\s\0-,/:-@[-^`{-\x7f]+/, /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/u];

const addHostOf = (hosts: Hosts, text: string): void => {
  const begun = text.replace(/^[\\/]+/, '').slice(0, URL_CHARS_READ);
  hosts.count(begun.length);
  for (const pattern of HOSTS) {
    const [host = ''] = pattern.exec(begun) ?? [];
    if (host === '') continue;
    const isHost = host.length <= HOST_CHARS_READ;
    const read = isHost ? URL.parse(`https://${host}`)?.hostname : undefined;
    hosts.found.add(toHost(read ?? host));
  }
};

const withoutEnds = (url: string): string => {
  let end = url.length;
  while (end > 0 && ENDS.includes(url.charAt(end - 1))) end -= 1;
  return url.slice(0, end);
};

const isScheme = (scheme: string, rest: string): boolean =>
  /^[\\/]/.test(rest) || SCHEMES.includes(scheme.toLowerCase());

const addSchemes = (hosts: Hosts, word: string): void => {
  for (const { 0: match, 1: scheme = '', index } of word.matchAll(SCHEME)) {
    const begun = index + match.length;
    const rest = word.slice(begun, begun + URL_CHARS_READ);
    if (!isScheme(scheme, rest)) continue;
    hosts.count(rest.length);
    addUrl(hosts, `${scheme}:${withoutEnds(rest)}`);
    if (/^[\\/]/.test(rest)) addHostOf(hosts, rest);
  }
};

const addWord = (hosts: Hosts, word: string): void => {
  addSchemes(hosts, word);
  for (const { index } of word.matchAll(TWO_SLASHES)) {
    if (word[index - 1] === ':') continue;
    const url = word.slice(index, index + URL_CHARS_READ);
    hosts.count(url.length);
    addUrl(hosts, url);
    addHostOf(hosts, url);
  }
  for (const behind of word.split('@').slice(1)) if (behind.includes('.')) addHostOf(hosts, behind);
  addNames(hosts, word);
};

const addWords = (hosts: Hosts, text: string): void => {
  hosts.count(text.length);
  for (const written of text.split(WORDS)) {
    const word = written.replace(IN_BRACKETS, '$1');
    if (/[.:\\/]/.test(word) && hosts.isNew(word)) addWord(hosts, word);
  }
};

/**
 * Adds the hosts that software would make links to of a text, as it is written and as it is read. Throws TooMuchToRead
 * where it cannot be read.
 */
export function addText(hosts: Hosts, text: string): void {
  addWords(hosts, cutMarks(text));
  const read = readText(text);
  if (read === null) throw new TooMuchToRead();
  if (read !== text) addWords(hosts, read);
}
