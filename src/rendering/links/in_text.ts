import { domainToASCII } from 'node:url';
import { isDomain } from './domains.ts';
import { readText } from './spelling.ts';

/** Schemes without slashes that email software makes links of, or runs. */
export const SCHEMES = (
  'about afp aim bitcoin blob callto cid data ed2k ethereum facetime feed file ftp ftps geo git gopher http https im ' +
  'imap intent irc ircs itms javascript ldap ldaps magnet mailto maps market mid ms-access ms-excel ms-infopath ' +
  'ms-powerpoint ms-project ms-publisher ms-search ms-settings ms-spd ms-visio ms-word msteams news nfs nntp onenote ' +
  'outlook pop rtsp search-ms sftp sip sips skype slack smb sms snews spotify ssh steam svn tel telnet tg urn ' +
  'vbscript view-source webcal whatsapp ws wss xmpp zoommtg zoomus'
).split(' ');

/**
 * How many characters of one email are read for hosts, counted again where a piece is read in another way, and how deep
 * pieces are read in pieces. Mail software cuts an email of 100 KB.
 */
export const HOSTS_CHARS_MAX = 4_000_000;
export const HOSTS_DEPTH_MAX = 20;

/** An email has too much that could be a link to be read. */
export class TooMuchToRead extends Error {
  override readonly name = 'TooMuchToRead';
}

/** Hosts that were found, and the pieces that were read for them: an email repeats its links and words. */
export class Hosts {
  readonly found = new Set<string>();
  readonly #read = new Set<string>();
  readonly #known: Hosts | null;
  #charsLeft = HOSTS_CHARS_MAX;
  #depth = 0;

  /** Without what is found in pieces that others know. */
  constructor(known: Hosts | null = null) {
    this.#known = known;
  }

  hasRead(piece: string): boolean {
    return this.#read.has(piece) || this.#known?.hasRead(piece) === true;
  }

  /** Whether a piece was not read before. */
  isNew(piece: string): boolean {
    if (this.hasRead(piece)) return false;
    this.#charsLeft -= piece.length;
    if (this.#charsLeft < 0) throw new TooMuchToRead();
    this.#read.add(piece);
    return true;
  }

  /** Reads a piece of what is being read. */
  inside(read: () => void): void {
    if (this.#depth === HOSTS_DEPTH_MAX) throw new TooMuchToRead();
    this.#depth += 1;
    read();
    this.#depth -= 1;
  }
}

/**
 * Where relative URLs lead: to no host of their own. `https:evil.com` is relative beside https and a host beside http,
 * and an email has no base of its own.
 */
const BASE_HOST = 'relative.invalid';
const BASES = [`https://${BASE_HOST}/`, `http://${BASE_HOST}/`];

/** A dot at the beginning is what an empty label of a template leaves; one at the end is the root. */
const toHost = (hostname: string): string => hostname.toLowerCase().replaceAll(/^\.+|\.$/g, '');

/** Adds the host of a URL, as the WHATWG parser reads it; of a scheme without hosts the scheme, such as `tel:`. */
export const addUrl = (hosts: Hosts, written: string): void => {
  if (!hosts.isNew(`URL ${written}`)) return;
  for (const base of BASES) {
    const url = URL.parse(written, base);
    if (url === null || url.hostname === BASE_HOST) continue;
    if (url.hostname !== '') hosts.found.add(toHost(url.hostname));
    if (url.protocol === 'http:' || url.protocol === 'https:') continue;
    hosts.found.add(url.protocol);
    hosts.inside(() => addText(hosts, url.href.slice(url.protocol.length)));
  }
};

const WORDS = /[\s<>"'`|^{}()]+/;
/** The derived text part shows the URL of a link like this. */
const IN_BRACKETS = /^\[(\w+:[^[\]]*)\]$/;
const ENDS = /[.,;:!?\]]+$/;
/** A scheme at its place, which no letter before it could lengthen. */
const SCHEME = /(?<![a-z\d+.-])([a-z][a-z\d+.-]{0,30}):/gi;
const TWO_SLASHES = /[\\/]{2,}/g;
/** The host is at the beginning: more of a URL is not read. */
const URL_CHARS_READ = 2_000;
/** What stands between names. Some software takes other characters into a host, such as an emoji, and some does not. */
const BETWEEN_NAMES = [/[^\p{L}\p{M}\p{N}_.-]+/u, /[^\p{L}\p{N}\P{ASCII}_.-]+/u];
/** What some software leaves behind a host: `evil.com_x`, `evil.com-x`. */
const BEHIND_HOST = /(?<=\.[^._-]+)[_-][^.]*$/u;
const WWW = /^www\d*\../i;
/** Wherever it stands: some software links it although more follows. */
const IPV4 = /\d{1,3}(?:\.\d{1,3}){3}/g;

/**
 * What a linkifier may take for the host at the beginning of a text. Where a URL ends there is a guess, and some end it
 * before a character that they know from no host.
 */
const HOSTS = [/^[^\s\0-,/:-@[-^`{-\x7f]+/, /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/u];

const addHostOf = (hosts: Hosts, text: string): void => {
  const begun = text.replace(/^[\\/]+/, '');
  for (const pattern of HOSTS) {
    const [host = ''] = pattern.exec(begun) ?? [];
    if (host !== '') hosts.found.add(toHost(URL.parse(`https://${host}`)?.hostname ?? host));
  }
};

const isScheme = (scheme: string, rest: string): boolean =>
  /^[\\/]/.test(rest) || SCHEMES.includes(scheme.toLowerCase());

const addSchemes = (hosts: Hosts, word: string): void => {
  for (const { 0: match, 1: scheme = '', index } of word.matchAll(SCHEME)) {
    const begun = index + match.length;
    const rest = word.slice(begun, begun + URL_CHARS_READ);
    if (!isScheme(scheme, rest)) continue;
    addUrl(hosts, `${scheme}:${rest.replace(ENDS, '')}`);
    if (/^[\\/]/.test(rest)) addHostOf(hosts, rest);
  }
};

const ASCII_RUN = /\p{ASCII}+/gu;
/** Where a name changes between ASCII and other characters, or of those from a letter to another kind. */
const CHANGE =
  /(?<=\p{ASCII})(?=\P{ASCII})|(?<=\P{ASCII})(?=\p{ASCII})|(?<=(?!\p{ASCII})\p{L})(?=(?!\p{ASCII})\P{L})/gu;
/** How many such places in each label of a name may end a host: a top-level domain has fewer. */
const CHANGES_READ = 20;

/** What of a text stands before each of its dots, and the whole. */
function* listPrefixes(text: string): Generator<string> {
  for (let dot = text.indexOf('.'); dot >= 0; dot = text.indexOf('.', dot + 1))
    yield text.slice(0, dot);
  yield text;
}

/** A name, and where it has other characters than ASCII its parts: some software ends or begins a host there. */
function* listNames(name: string): Generator<string> {
  yield name;
  if (name.search(CHANGE) < 0) return;
  for (let dot = name.indexOf('.'); dot >= 0;) {
    const next = name.indexOf('.', dot + 1);
    const label = name.slice(dot, next < 0 ? name.length : next + 1);
    let read = 0;
    for (const { index } of label.matchAll(CHANGE)) {
      if ((read += 1) > CHANGES_READ) break;
      yield name.slice(0, dot + index);
    }
    dot = next;
  }
  for (const [run] of name.matchAll(ASCII_RUN)) yield* listPrefixes(run);
}

const addName = (hosts: Hosts, name: string): void => {
  const whole = name.replaceAll(/^[._-]+|[._-]+$/g, '');
  if (!whole.includes('.') || !hosts.isNew(`name ${whole}`)) return;
  for (const host of new Set([whole, whole.replace(BEHIND_HOST, '')]))
    if (isDomain(host) || WWW.test(host)) hosts.found.add(toHost(domainToASCII(host) || host));
};

const addNames = (hosts: Hosts, word: string): void => {
  for (const [address] of word.matchAll(IPV4)) hosts.found.add(address);
  const written = new Set(BETWEEN_NAMES.flatMap((between) => word.split(between)));
  for (const one of written) for (const name of listNames(one)) addName(hosts, name);
};

const addWord = (hosts: Hosts, word: string): void => {
  addSchemes(hosts, word);
  for (const { index } of word.matchAll(TWO_SLASHES)) {
    if (word[index - 1] === ':') continue;
    const url = word.slice(index, index + URL_CHARS_READ);
    addUrl(hosts, url);
    addHostOf(hosts, url);
  }
  for (const behind of word.split('@').slice(1)) if (behind.includes('.')) addHostOf(hosts, behind);
  addNames(hosts, word);
};

const addWords = (hosts: Hosts, text: string): void => {
  for (const written of text.split(WORDS)) {
    const word = written.replace(IN_BRACKETS, '$1');
    if (/[.:\\/]/.test(word) && hosts.isNew(word)) addWord(hosts, word);
  }
};

/** Adds the hosts that software would make links to of a text, as it is written and as it is read. */
export function addText(hosts: Hosts, text: string): void {
  addWords(hosts, text);
  const read = readText(text);
  if (read !== null && read !== text) addWords(hosts, read);
}
