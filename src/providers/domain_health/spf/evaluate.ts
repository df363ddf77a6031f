import type { DnsQueries } from '../dns.ts';
import { isQueryable, isWithin } from '../names.ts';
import { isInNetwork, readAddress, reverseName } from './address.ts';
import type { Address } from './address.ts';
import { expandDomain, needsClientName } from './macro.ts';
import type { MacroString, MacroValues } from './macro.ts';
import { isSpf, parseRecord } from './record.ts';
import type { Cidr, Mechanism, Qualifier, SpfRecord } from './record.ts';

/** How many terms of a record may send queries, those of included records counted (RFC 7208 §4.6.4). */
export const SPF_LOOKUPS_MAX = 10;
/** How many of those may find nothing. */
export const SPF_VOIDS_MAX = 2;
/** How many exchanges of one `mx`, and names of one `ptr`, are looked up. */
export const SPF_NAMES_MAX = 10;

export type SpfResult =
  'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror';

/** Who sends: the client's address, the reverse-path and the name of its EHLO. */
export type SpfClient = { address: Address; mailFrom: string; helo: string };

const RESULTS = {
  '+': 'pass',
  '-': 'fail',
  '~': 'softfail',
  '?': 'neutral',
} as const satisfies Record<Qualifier, SpfResult>;

/** Ends an evaluation from within. */
class Ended extends Error {
  readonly result: 'temperror' | 'permerror';

  constructor(result: 'temperror' | 'permerror') {
    super(result);
    this.result = result;
  }
}

/** One evaluation of a domain's policy for a client, and what it has cost so far. */
class Evaluation {
  readonly #dns: DnsQueries;
  readonly #client: SpfClient;
  readonly #sender: { local: string; domain: string };
  #lookups = 0;
  #voids = 0;

  constructor(dns: DnsQueries, client: SpfClient) {
    this.#dns = dns;
    this.#client = client;
    this.#sender = senderOf(client);
  }

  /** Evaluates the record of a domain, or the one that is given in its place. */
  async of(domain: string, given?: string): Promise<SpfResult> {
    const text = given ?? (await this.#find(domain));
    if (text === null) return 'none';
    const parsed = parseRecord(text);
    if (parsed.kind === 'invalid') throw new Ended('permerror');
    const { terms, redirect } = parsed.record satisfies SpfRecord;
    for (const { qualifier, mechanism } of terms)
      if (await this.#matches(mechanism, domain)) return RESULTS[qualifier];
    if (!redirect) return 'neutral';
    this.#countLookup();
    const result = await this.of(await this.#nameOf(redirect.domain, domain));
    if (result === 'none') throw new Ended('permerror');
    return result;
  }

  /** The one record of a domain (§4.5); null where there is none. */
  async #find(domain: string): Promise<string | null> {
    const answer = await this.#dns.texts(domain, /^v=spf1/i);
    if (answer.kind === 'failed') throw new Ended('temperror');
    const texts = answer.kind === 'found' ? answer.records.map((one) => one.join('')) : [];
    const [record, ...more] = texts.filter(isSpf);
    if (more.length > 0) throw new Ended('permerror');
    return record ?? null;
  }

  async #matches(mechanism: Mechanism, domain: string): Promise<boolean> {
    switch (mechanism.kind) {
      case 'all':
        return true;
      case 'ip':
        return isInNetwork(this.#client.address, mechanism.network);
      case 'include':
        return this.#includes(await this.#look(mechanism.domain, domain));
      case 'exists':
        return this.#exists(await this.#look(mechanism.domain, domain));
      case 'a':
        return this.#isAt(await this.#look(mechanism.domain, domain), mechanism.cidr);
      case 'mx':
        return this.#isExchange(await this.#look(mechanism.domain, domain), mechanism.cidr);
      case 'ptr':
        return this.#isNamed(await this.#look(mechanism.domain, domain));
    }
  }

  async #includes(name: string): Promise<boolean> {
    const result = await this.of(name);
    if (result === 'none') throw new Ended('permerror');
    return result === 'pass';
  }

  async #exists(name: string): Promise<boolean> {
    return (await this.#addresses(name, 4)).length > 0;
  }

  async #isAt(name: string, cidr: Cidr): Promise<boolean> {
    const { address } = this.#client;
    const addresses = await this.#addresses(name, address.family);
    return addresses.some((one) => isInNetwork(address, { ...one, prefix: cidr[address.family] }));
  }

  async #isExchange(name: string, cidr: Cidr): Promise<boolean> {
    const answer = await this.#dns.exchanges(name);
    if (answer.kind === 'failed') throw new Ended('temperror');
    if (answer.kind === 'absent') return this.#countVoid();
    if (answer.records.length > SPF_NAMES_MAX) throw new Ended('permerror');
    for (const { exchange } of answer.records.toSorted((a, b) => a.priority - b.priority))
      if (exchange !== '' && (await this.#isAt(exchange, cidr))) return true;
    return false;
  }

  async #isNamed(target: string): Promise<boolean> {
    const names = await this.#validatedNames(true);
    return names.some((name) => isWithin(name, target));
  }

  /** The names of the client whose addresses lead back to it (§5.5). What fails here is passed over. */
  async #validatedNames(isCounted: boolean): Promise<string[]> {
    const answer = await this.#dns.pointers(reverseName(this.#client.address));
    if (answer.kind === 'absent' && isCounted) this.#countVoid();
    if (answer.kind !== 'found') return [];
    const names: string[] = [];
    for (const name of answer.records.slice(0, SPF_NAMES_MAX)) {
      const back = await this.#dns.addresses(name, this.#client.address.family);
      if (back.kind !== 'found') continue;
      if (back.records.some((text) => this.#isClient(text))) names.push(name);
    }
    return names;
  }

  #isClient(text: string): boolean {
    const address = readAddress(text);
    return (
      address?.family === this.#client.address.family && address.bits === this.#client.address.bits
    );
  }

  async #addresses(name: string, family: 4 | 6): Promise<Address[]> {
    const answer = await this.#dns.addresses(name, family);
    if (answer.kind === 'failed') throw new Ended('temperror');
    if (answer.kind === 'absent') this.#countVoid();
    const texts = answer.kind === 'found' ? answer.records : [];
    return texts.map(readAddress).filter((address) => address !== null);
  }

  /** Counts a term that sends queries, and returns the name that it is about. */
  #look(parts: MacroString | null, domain: string): Promise<string> {
    this.#countLookup();
    return this.#nameOf(parts, domain);
  }

  #countLookup(): void {
    this.#lookups += 1;
    if (this.#lookups > SPF_LOOKUPS_MAX) throw new Ended('permerror');
  }

  #countVoid(): false {
    this.#voids += 1;
    if (this.#voids > SPF_VOIDS_MAX) throw new Ended('permerror');
    return false;
  }

  async #nameOf(parts: MacroString | null, domain: string): Promise<string> {
    if (!parts) return domain;
    const values: MacroValues = {
      local: this.#sender.local,
      senderDomain: this.#sender.domain,
      domain,
      address: this.#client.address,
      helo: this.#client.helo,
    };
    return expandDomain(
      parts,
      values,
      needsClientName(parts) ? await this.#clientName(domain) : undefined,
    );
  }

  /** `%{p}`: the domain itself, a name below it, any name, or `unknown` (§7.3). */
  async #clientName(domain: string): Promise<string> {
    const names = await this.#validatedNames(false);
    const name =
      names.find((one) => isWithin(one, domain) && isWithin(domain, one)) ??
      names.find((one) => isWithin(one, domain)) ??
      names[0];
    return name?.replace(/\.$/, '') ?? 'unknown';
  }
}

const senderOf = ({ mailFrom, helo }: SpfClient): { local: string; domain: string } => {
  const sender = mailFrom === '' ? helo : mailFrom;
  const at = sender.lastIndexOf('@');
  const local = sender.slice(0, Math.max(0, at));
  return { local: local === '' ? 'postmaster' : local, domain: sender.slice(at + 1) };
};

/** Whether a policy can be asked for (§4.3): a name of several labels that a query can be made of. */
const isDomain = (domain: string): boolean =>
  domain.includes('.') && isQueryable(domain) && !/[[\]]/.test(domain);

/**
 * Evaluates the SPF policy of the sender's domain for a client (`check_host`, RFC 7208 §4). `record` stands in place of
 * the domain's own. Explanations are not fetched.
 */
export const evaluateSpf = async (
  dns: DnsQueries,
  client: SpfClient,
  record?: string,
): Promise<SpfResult> => {
  const { domain } = senderOf(client);
  if (!isDomain(domain)) return 'none';
  try {
    return await new Evaluation(dns, client).of(domain.toLowerCase(), record);
  } catch (error) {
    if (error instanceof Ended) return error.result;
    throw error;
  }
};
