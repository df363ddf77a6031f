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
/** How many names are known to be charged: the oldest half makes room. About 50 bytes each, so 13 MB. */
const CHARGED_MAX = 262_144;

/** Remembers which names an address was charged for, as numbers. */
class Charged {
  #young = new Set<number>();
  #older = new Set<number>();

  has(mark: number): boolean {
    return this.#young.has(mark) || this.#older.has(mark);
  }

  add(mark: number): void {
    if (this.#young.size >= CHARGED_MAX / 2) {
      this.#older = this.#young;
      this.#young = new Set();
    }
    this.#young.add(mark);
  }

  delete(mark: number): void {
    this.#young.delete(mark);
    this.#older.delete(mark);
  }
}

/** A key, and the address that uses it. */
export type Sender = { keyId: string; address: string };
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

  /** Charges an address for names. Returns how to undo that, or null where its share has no room. */
  takeNames(sender: Sender, names: Iterable<Name>, quota: number): Undo | null {
    const { keyId, address } = sender;
    const origin = toOrigin(address);
    const marks: number[] = [];
    for (const name of names) {
      const mark = this.#slots.markOf(`${keyId} ${origin} ${name}`);
      if (!this.#charged.has(mark)) marks.push(mark);
    }
    if (marks.length === 0) return () => {};
    const undo = this.#take('new_profiles', sender, marks.length, quota);
    if (undo === null) return null;
    for (const mark of marks) this.#charged.add(mark);
    return () => {
      undo(marks.length);
      for (const mark of marks) this.#charged.delete(mark);
    };
  }

  /** Charges an address for bytes. Returns how to give some back, or null where its share has no room. */
  takeBytes(sender: Sender, bytes: number, quota: number): ((bytes: number) => void) | null {
    return this.#take('stored_bytes', sender, bytes, quota);
  }

  /** Returns the refusal of a request that a share had no room for. */
  exceeded(name: QuotaName, sender: Sender, quota: number): Refusal {
    const amount = shareOfAddress(name, quota);
    const { resetMs } = this.#counters[name].read(this.#slotOf(sender), amount);
    return addressExceeded(name, { amount, retryAfterSeconds: resetMs / 1_000 });
  }

  #take(name: QuotaName, sender: Sender, units: number, quota: number) {
    const counters = this.#counters[name];
    const slot = this.#slotOf(sender);
    const share = shareOfAddress(name, quota, this.#processes);
    if (!counters.hasRoom(slot, units, { share, most: share })) return null;
    const until = counters.charge(slot, units, share);
    return (returned: number) => counters.refund(slot, returned, until);
  }

  #slotOf({ keyId, address }: Sender): number {
    return this.#slots.of(`${keyId} ${toOrigin(address)}`);
  }
}

const makeAddressShares = (): AddressShares => new AddressShares();

/** The shares of addresses in this process. */
export const addressSharesOf = ({ resources }: Pick<Deps, 'resources'>): AddressShares =>
  resources.of(makeAddressShares, undefined);

/** Returns the address that a request counts under; null where it does not count by address. */
export const addressOf = (
  { config }: Pick<Deps, 'config'>,
  address: string | undefined,
): string | null => (address === undefined || isAddressShared(config) ? null : address);
