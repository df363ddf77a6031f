import { PartFailed } from '../render.ts';
import type { Guard } from '../guard.ts';
import type { Rendered, Source } from '../render.ts';
import type { Asserted, Variables } from '../variables.ts';
import { ASSERTED_LISTED_MAX, isPlainAddress } from '../asserted.ts';
import { isAmong } from './domains.ts';
import { Hosts, TooMuchToRead } from './hosts.ts';
import { addHtml } from './in_html.ts';
import { addText } from './in_text.ts';

const TAGS = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g;
const QUOTED = /"[^"]*"|'[^']*'/g;

/** What an author has written: each tag is a gap, but for the texts in it. */
const toLiterals = (written: string): string =>
  written.replaceAll(TAGS, (tag) => ` ${(tag.match(QUOTED) ?? []).join(' ')} `);

const addLiterals = (hosts: Hosts, { html, ...texts }: Source): void => {
  const written = toLiterals(html);
  addHtml(hosts, written);
  for (const text of [written, texts.subject, texts.text, texts.preheader])
    addText(hosts, toLiterals(text ?? ''));
};

const addValues = (hosts: Hosts, value: unknown): Hosts => {
  if (typeof value === 'string') addText(hosts, value);
  if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) addValues(hosts, one);
  return hosts;
};

const SYNTAX = /[$()*+./?[\\\]^{|}]/g;

/**
 * Finds an address that is a word of its own. Printed beside another value it is a part of something else, such as
 * `ann@shop.com` and `munity/x`; a URL may continue with any other character.
 */
const alone = (address: string): RegExp =>
  new RegExp(
    `(?<=^|[\\s"'(<>,;]|mailto:)${address.replaceAll(SYNTAX, String.raw`\$&`)}(?=[.,;:!?)]*(?:$|[\\s"'<>]))`,
    'giu',
  );

/** Adds the hosts of a message; the recipient's own address leads to no other host, and its domain is no host of it. */
const addMessage = (
  hosts: Hosts,
  { subject, html, text }: Rendered,
  address: string | null,
): Hosts => {
  const own = address === null ? null : alone(address);
  const read = (part: string) => (own === null ? part : part.replaceAll(own, ' '));
  addHtml(hosts, read(html));
  addText(hosts, read(subject));
  addText(hosts, read(text));
  return hosts;
};

/** The address of the person, where the email may show it whole. */
const addressOf = ({ profile }: Variables): string | null => {
  const { email } = profile as { email?: unknown };
  return typeof email === 'string' && isPlainAddress(email) ? email : null;
};

/** An empty value of the same shape. Names stay, so that a template finds them, and loops do not print them. */
const toBlank = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toBlank);
  if (typeof value === 'object' && value !== null) return withBlanks(value, () => true);
  // Liquid takes an empty text for true: a condition on a boolean needs a value that is false.
  if (typeof value === 'boolean') return null;
  return typeof value === 'string' || typeof value === 'number' ? '' : value;
};

/** Returns the same members, each with another value, or hidden from loops and `json`; templates find all by name. */
const mapMembers = (
  members: object,
  toMember: (name: string, value: unknown) => { value: unknown; enumerable: boolean },
): object => {
  const mapped = {};
  for (const name of Object.getOwnPropertyNames(members))
    Object.defineProperty(mapped, name, {
      ...toMember(name, Reflect.get(members, name)),
      configurable: true,
      writable: true,
    });
  return mapped;
};

type IsAsserted = (name: string) => boolean;

const withBlanks = (members: object, isAsserted: IsAsserted): object =>
  mapMembers(members, (name, value) =>
    isAsserted(name) ? { value: toBlank(value), enumerable: false } : { value, enumerable: true },
  );

/** Hides asserted names past ASSERTED_LISTED_MAX. */
const listFirst = (members: object, isAsserted: IsAsserted): object => {
  let listed = 0;
  return mapMembers(members, (name, value) => {
    if (isAsserted(name)) listed += 1;
    return { value, enumerable: !isAsserted(name) || listed <= ASSERTED_LISTED_MAX };
  });
};

/** Returns variables whose asserted members are changed, of the profile and of the event. */
const change = (
  variables: Variables,
  asserted: Asserted,
  inMembers: (members: object, isAsserted: IsAsserted) => object,
): Variables => {
  const changeIn = (part: keyof Asserted): object => {
    const names = new Set(asserted[part]);
    return inMembers(variables[part], (name) => names.has(name));
  };
  return { ...variables, profile: changeIn('profile'), event: changeIn('event') };
};

/** Returns the members that a server named, as if no browser had asserted anything. */
const withoutNames = (members: object, isAsserted: IsAsserted): object =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !isAsserted(name)));

/** Says of a failure that it comes of the values that were left out. */
const leaveOut = <T>(render: () => T): T => {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof PartFailed)) throw error;
    throw new PartFailed(
      error.part,
      new Error(
        `values that only a browser asserted would make a link to a foreign host, and without them: ${error.message}`,
      ),
    );
  }
};

/** Returns the hosts that are read; null where there is too much to read. */
const readHosts = (read: () => Hosts): Hosts | null => {
  try {
    return read();
  } catch (error) {
    if (error instanceof TooMuchToRead || error instanceof RangeError) return null;
    throw error;
  }
};

/** How many versions of templates are remembered by what their authors wrote. */
const KNOWN_MAX = 100;
const literals = new Map<string, Hosts>();

/** Returns the hosts that an author wrote. A version never changes, so it is read once; the oldest goes first. */
const findLiterals = (source: Source, key: string | undefined): Hosts => {
  const known = key === undefined ? undefined : literals.get(key);
  if (known) return known;
  const hosts = new Hosts();
  addLiterals(hosts, source);
  if (key !== undefined) literals.set(key, hosts);
  for (const oldest of literals.keys()) {
    if (literals.size <= KNOWN_MAX) break;
    literals.delete(oldest);
  }
  return hosts;
};

type Guarded = { source: Source; variables: Variables; asserted: Asserted; key?: string };

/**
 * Returns what keeps the values that only a browser asserted from making links: an email that leads to a host which
 * neither its template nor a server named is rendered without those values.
 *
 * Values are cleaned before, one by one. Only the whole shows what they make together with the template, such as
 * `https://shop.co{{ event.path }}` and `m/x`.
 */
export const makeGuard = ({ source, variables, asserted, key }: Guarded): Guard => ({
  list: (given) => change(given, asserted, listFirst),
  listBare: () => [
    change(variables, asserted, withBlanks),
    change(variables, asserted, withoutNames),
  ],
  check: (message, renderBare) => {
    const address = addressOf(variables);
    const written = readHosts(() => findLiterals(source, key));
    const shown = written && readHosts(() => addMessage(new Hosts(written), message, address));
    if (!written || !shown) return leaveOut(renderBare);
    let foreign = [...shown.found];
    const isLeft = (known: Hosts): boolean => {
      foreign = foreign.filter((host) => !isAmong(host, known.found));
      return foreign.length > 0;
    };
    if (!isLeft(written)) return message;
    const bare = change(variables, asserted, withBlanks);
    const values = { ...bare, profile: { ...bare.profile, email: null } };
    const known = readHosts(() => addValues(new Hosts(), values));
    if (known && !isLeft(known)) return message;
    const again = leaveOut(renderBare);
    const isKnown = known && readHosts(() => addMessage(known, again, address));
    return !isKnown || isLeft(known) ? again : message;
  },
});
