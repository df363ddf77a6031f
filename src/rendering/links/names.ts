import { domainToASCII } from 'node:url';
import { isDomain, LABELS_READ, toHost } from './domains.ts';
import type { Hosts } from './hosts.ts';

/** What stands between names. Some software takes other characters into a host, such as an emoji, and some does not. */
const BETWEEN_NAMES = [/[^\p{L}\p{M}\p{N}_.-]+/u, /[^\p{L}\p{N}\P{ASCII}_.-]+/u];
const ASCII_RUN = /\p{ASCII}+/gu;
/** Where a name changes between ASCII and other characters, or of those from a letter to another kind. */
const CHANGE =
  /(?<=\p{ASCII})(?=\P{ASCII})|(?<=\P{ASCII})(?=\p{ASCII})|(?<=(?!\p{ASCII})\p{L})(?=(?!\p{ASCII})\P{L})/gu;
/** How many such places in each label of a name may end a host: a top-level domain has fewer. */
const CHANGES_READ = 20;
/** Wherever it stands: some software links it although more follows. */
const IPV4 = /\d{1,3}(?:\.\d{1,3}){3}/g;
const WWW = /^www\d*\../i;
/** More of a name is no host (RFC 1035, section 2.3.4). Its last labels say whose it is. */
export const NAME_CHARS_READ = 253;

/** Lists where each dot of a text stands, and its end. */
function* listDots(text: string): Generator<number> {
  for (let dot = text.indexOf('.'); dot >= 0; dot = text.indexOf('.', dot + 1)) yield dot;
  yield text.length;
}

/** Lists where a host may end in a name with other characters than ASCII, in order: at a change behind a dot. */
function* listChanges(name: string): Generator<number> {
  for (let dot = name.indexOf('.'); dot >= 0;) {
    const next = name.indexOf('.', dot + 1);
    const label = name.slice(dot, next < 0 ? name.length : next + 1);
    let read = 0;
    for (const { index } of label.matchAll(CHANGE)) {
      if ((read += 1) > CHANGES_READ) break;
      yield dot + index;
    }
    dot = next;
  }
  yield name.length;
}

const isMark = (character: string | undefined): boolean =>
  character === '.' || character === '_' || character === '-';

/** Reads a name once, from its beginning to each place where a host may end. */
class NameReader {
  readonly #name: string;
  readonly #begun: number;
  /** How many characters a name has at least that begins with `www.`. */
  readonly #wwwChars: number;
  #at: number;
  /** Where the last labels begin. */
  readonly #labels: number[];
  /** The first hyphen or low line of the label. */
  #mark = -1;

  constructor(name: string) {
    const begun = name.search(/[^._-]/);
    this.#name = name;
    this.#begun = this.#at = begun < 0 ? name.length : begun;
    this.#labels = [this.#begun];
    const start = name.slice(this.#begun, this.#begun + NAME_CHARS_READ);
    this.#wwwChars = WWW.exec(start)?.[0].length ?? Infinity;
  }

  #advance(end: number): void {
    for (; this.#at < end; this.#at += 1) {
      const character = this.#name[this.#at];
      if (character === '.') {
        this.#labels.push(this.#at + 1);
        if (this.#labels.length > LABELS_READ) this.#labels.shift();
        this.#mark = -1;
      } else if (this.#mark < 0 && isMark(character)) this.#mark = this.#at;
    }
  }

  #hostUpTo(end: number): { host: string; isWww: boolean } {
    const begun = Math.max(this.#labels[0] ?? this.#begun, end - NAME_CHARS_READ);
    return { host: this.#name.slice(begun, end), isWww: end - this.#begun >= this.#wwwChars };
  }

  /**
   * Yields the hosts that end before one of the places, which are in order: without marks at the end, and without what
   * some software leaves behind a host, as in `evil.com_x` and `evil.com-x`.
   */
  *listHosts(places: Iterable<number>): Generator<{ host: string; isWww: boolean }> {
    for (const place of places) {
      let end = place;
      while (end > this.#at && isMark(this.#name[end - 1])) end -= 1;
      if (end > this.#at) {
        this.#advance(end);
        yield this.#hostUpTo(end);
        if (this.#mark > (this.#labels.at(-1) ?? end)) yield this.#hostUpTo(this.#mark);
      }
      if (place > this.#at) this.#advance(place);
    }
  }
}

const addHosts = (hosts: Hosts, name: string, places: Iterable<number>): void => {
  for (const { host, isWww } of new NameReader(name).listHosts(places)) {
    hosts.count(host.length);
    if (!host.includes('.') || !hosts.isNew(`${isWww ? 'www' : 'name'} ${host}`)) continue;
    if (isWww || isDomain(host)) hosts.found.add(toHost(domainToASCII(host) || host));
  }
};

/** Adds a name, and of one with other characters than ASCII its parts: some software ends or begins a host there. */
const addName = (hosts: Hosts, name: string): void => {
  if (name.search(CHANGE) < 0) return addHosts(hosts, name, [name.length]);
  addHosts(hosts, name, listChanges(name));
  for (const [run] of name.matchAll(ASCII_RUN)) addHosts(hosts, run, listDots(run));
};

/** Adds the hosts that software makes links of although no URL begins there. */
export const addNames = (hosts: Hosts, word: string): void => {
  for (const [address] of word.matchAll(IPV4)) hosts.found.add(address);
  const written = new Set(BETWEEN_NAMES.flatMap((between) => word.split(between)));
  for (const one of written) if (one.includes('.')) addName(hosts, one);
};
