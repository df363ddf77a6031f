import type { Deps } from '../base/deps.ts';
import { isAddressShared } from '../base/forwarded.ts';
import { toOrigin } from '../base/origin.ts';
import type { Refusal } from '../base/refusal.ts';
import { Slots } from '../base/slots.ts';
import { WindowCounters } from '../base/window_counters.ts';
import { addressExceeded } from './exceeded.ts';
import type { Name } from './identifiers.ts';
import { ADDRESS_WINDOW_HOURS, shareOfAddress } from './schema.ts';
import type { QuotaName } from './schema.ts';

const WINDOW_MS = ADDRESS_WINDOW_HOURS * 3_600_000;
/**
 * How many names are known to be charged: the older half makes room. A name has at most 265 characters, so this takes
 * at most 60 MB.
 */
const CHARGED_MAX = 100_000;

/** Remembers which names each sender was charged for. */
class Charged {
  #young = new Map<string, Set<Name>>();
  #older = new Map<string, Set<Name>>();
  #youngCount = 0;

  /** Returns those of some names that a sender was not charged for. */
  listNew(sender: string, names: Iterable<Name>): Name[] {
    const [young, older] = [this.#young.get(sender), this.#older.get(sender)];
    const fresh: Name[] = [];
    for (const name of names) if (!young?.has(name) && !older?.has(name)) fresh.push(name);
    return fresh;
  }

  add(sender: string, names: readonly Name[]): void {
    if (this.#youngCount + names.length > CHARGED_MAX / 2) {
      this.#older = this.#young;
      this.#young = new Map();
      this.#youngCount = 0;
    }
    const known = this.#young.get(sender) ?? new Set();
    for (const name of names) known.add(name);
    this.#young.set(sender, known);
    this.#youngCount += names.length;
  }

  /** Removes names that were added a moment ago. */
  delete(sender: string, names: readonly Name[]): void {
    const [young, older] = [this.#young.get(sender), this.#older.get(sender)];
    for (const name of names)
      if (young?.delete(name)) this.#youngCount -= 1;
      else older?.delete(name);
    if (young?.size === 0) this.#young.delete(sender);
  }
}

/** A key, and the address that uses it: as a text, and as the counter that its address shares with others. */
export type Sender = { text: string; slot: number };
type Undo = () => void;

/**
 * Counts how much of each daily quota of a key an address uses within 24 hours. Addresses share a bounded number of
 * counters. Each process grants its share, so that all processes together stay within the share of the address.
 *
 * A name counts when an address names it for the first time, whether or not the person exists: so the count reveals
 * nothing about people.
 */
export class AddressShares {
  readonly #counters: Record<QuotaName, WindowCounters> = {
    new_profiles: new WindowCounters(WINDOW_MS),
    stored_bytes: new WindowCounters(WINDOW_MS),
  };
  readonly #slots = new Slots();
  readonly #charged = new Charged();
  #processes = 1;

  /** Grants the share of one of so many processes from now on. */
  share(processes: number): void {
    this.#processes = Math.max(1, processes);
  }

  /** Returns what a key with an address counts under. */
  senderOf(keyId: string, address: string): Sender {
    const text = `${keyId} ${toOrigin(address)}`;
    return { text, slot: this.#slots.of(text) };
  }

  /** Charges an address for names. Returns how to undo that, or null where its share has no room. */
  takeNames(sender: Sender, names: Iterable<Name>, quota: number): Undo | null {
    const fresh = this.#charged.listNew(sender.text, names);
    if (fresh.length === 0) return () => {};
    const undo = this.#take('new_profiles', sender, fresh.length, quota);
    if (undo === null) return null;
    this.#charged.add(sender.text, fresh);
    return () => {
      undo(fresh.length);
      this.#charged.delete(sender.text, fresh);
    };
  }

  /** Charges an address for bytes. Returns how to give some back, or null where its share has no room. */
  takeBytes(sender: Sender, bytes: number, quota: number): ((bytes: number) => void) | null {
    return this.#take('stored_bytes', sender, bytes, quota);
  }

  /** Returns the refusal of a request that a share had no room for. */
  exceeded(name: QuotaName, { slot }: Sender, quota: number): Refusal {
    const amount = shareOfAddress(name, quota);
    const { resetMs } = this.#counters[name].read(slot, amount);
    return addressExceeded(name, { amount, retryAfterSeconds: resetMs / 1_000 });
  }

  #take(name: QuotaName, { slot }: Sender, units: number, quota: number) {
    const counters = this.#counters[name];
    const share = shareOfAddress(name, quota, this.#processes);
    if (!counters.hasRoom(slot, units, { share, most: share })) return null;
    const until = counters.charge(slot, units, share);
    return (returned: number) => counters.refund(slot, returned, until);
  }
}

const makeAddressShares = (): AddressShares => new AddressShares();

/** The shares of addresses in this process. */
export const addressSharesOf = ({ resources }: Pick<Deps, 'resources'>): AddressShares =>
  resources.of(makeAddressShares, undefined);

/** Returns what a request counts under; null where it does not count by address. */
export const senderOf = (
  deps: Pick<Deps, 'config' | 'resources'>,
  keyId: string,
  address: string | undefined,
): Sender | null =>
  address === undefined || isAddressShared(deps.config)
    ? null
    : addressSharesOf(deps).senderOf(keyId, address);
