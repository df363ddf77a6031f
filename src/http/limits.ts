import type { KeyKind } from '../base/caller.ts';
import { toOrigin } from '../base/origin.ts';
import { Slots } from '../base/slots.ts';
import type { Work } from '../base/work_units.ts';
import type { Config } from '../config.ts';
import { chargeAll, findFull, takeAll, toCharges, toStandings } from './charges.ts';
import type { Charge } from './charges.ts';
import { limitOf } from './limit.ts';
import type { Limit, Standing } from './limit.ts';

export { WINDOW_SECONDS } from './limit.ts';
export type { Standing } from './limit.ts';

type LimitSettings = Pick<
  Config,
  | 'rateLimitServer'
  | 'rateLimitPublishable'
  | 'rateLimitAddress'
  | 'rateLimitUnsubscribe'
  | 'unitLimitServer'
  | 'unitLimitPublishable'
  | 'unitLimitAddress'
  | 'unitLimitAnonymous'
>;

/** The outcome of charging a request for its work. A request that was not taken has cost nothing. */
export type Charged =
  | { kind: 'taken'; standings: Standing[] }
  | { kind: 'exceeded'; standing: Standing }
  | { kind: 'too_costly'; units: number; unitsMax: number };

/** Who sends a request, for the limits: a kind of key, its id, and the address of the client. */
export type Sender = {
  kind: KeyKind;
  keyId: string;
  address: string;
  /** Whether the request was counted by its address already. */
  isAddressCounted?: boolean | undefined;
  /** What the request paid for its body already. */
  paid?: Paid | undefined;
};

/** Units that a request paid before its work was known. Its work then costs what goes beyond them. */
export type Paid = { address: number; key: number };

/**
 * Counts requests, and the work in them, per key. Requests with publishable keys also count per address of origin,
 * their work per address and per anonymous id. Posts to webhooks have the limits of server keys, and counters of their
 * own: per project, or per project and address where they bring no token.
 *
 * The counters are in memory. Each process grants its share of a limit, so that all processes together stay within
 * it. Heartbeats say how many processes there are (`presence.ts`).
 */
export class Limits {
  readonly #requests: Record<'server' | 'publishable' | 'address' | 'unsubscribe', Limit | null>;
  readonly #units: Record<'server' | 'publishable' | 'address' | 'anonymous', Limit | null>;
  /** Addresses and anonymous ids share counters. */
  readonly #slots = new Slots();

  constructor(settings: LimitSettings) {
    this.#requests = {
      server: limitOf('key', settings.rateLimitServer),
      publishable: limitOf('key', settings.rateLimitPublishable),
      address: limitOf('address', settings.rateLimitAddress),
      unsubscribe: limitOf('address', settings.rateLimitUnsubscribe),
    };
    this.#units = {
      server: limitOf('key_units', settings.unitLimitServer),
      publishable: limitOf('key_units', settings.unitLimitPublishable),
      address: limitOf('address_units', settings.unitLimitAddress),
      anonymous: limitOf('anonymous_id_units', settings.unitLimitAnonymous),
    };
  }

  /** Returns how many counters are in memory. */
  get counterCount(): number {
    return this.#all().reduce((sum, { counters }) => sum + counters.size, 0);
  }

  /** Grants the share of one of so many processes from now on. */
  share(processes: number): void {
    for (const limit of this.#all()) limit.share(Math.max(1, processes));
  }

  /**
   * Counts a request before its body is read. A key or an address without units left is refused here, too. The
   * address comes first: one address that sends too much does not use up the key for all others.
   */
  takeRequest(sender: Sender): Standing[] {
    const charges = this.#requestCharges(sender);
    const refused = findFull(charges) ?? findFull(this.#unitCharges(sender, [{ units: 1 }]));
    if (refused) return [refused];
    chargeAll(charges);
    return toStandings(charges);
  }

  /** Counts a request that names its key in the body, by its address alone. Returns null while there is room. */
  takeAddress(address: string): Standing | null {
    return takeAll(this.#addressCharges(this.#requests.address, address, 1));
  }

  /**
   * Counts a request for an unsubscribe link, by its address. Many recipients may share one: a mail provider posts
   * their one-click unsubscribes for them. Returns null while there is room.
   */
  takeUnsubscribe(address: string): Standing | null {
    return takeAll(this.#addressCharges(this.#requests.unsubscribe, address, 1));
  }

  /** Charges a request for its work: whole, or not at all. */
  chargeWork(sender: Sender, work: readonly Work[]): Charged {
    const charges = this.#unitCharges(sender, work);
    for (const { limit, units } of charges)
      if (units > limit.quota) return { kind: 'too_costly', units, unitsMax: limit.quota };
    const exceeded = takeAll(this.#owed(charges, sender.paid));
    if (exceeded) return { kind: 'exceeded', standing: exceeded };
    const standings = toStandings(charges.filter(({ limit }) => limit !== this.#units.anonymous));
    return { kind: 'taken', standings };
  }

  /** Charges a body before it is parsed: whole, or not at all. Returns null while there is room. */
  chargeBody(sender: Sender, units: number): Standing | null {
    return takeAll(this.#owed(this.#unitCharges(sender, [{ units }]), sender.paid));
  }

  /** The same by its address alone, before its key is known. */
  chargeBodyOfAddress(address: string, units: number): Standing | null {
    return takeAll(this.#addressCharges(this.#units.address, address, units));
  }

  /** Returns the limit of an address that has no unit left, or null. */
  findSpent(address: string): Standing | null {
    return findFull(this.#addressCharges(this.#units.address, address, 1));
  }

  /**
   * Charges for a body that was refused. What is not left is charged all the same: the work is done. An address without
   * room for it pays alone: many bodies at once from one address do not use up the key for all others.
   */
  chargeRefused(sender: Sender, units: number): void {
    const charges = this.#owed(this.#unitCharges(sender, [{ units }]), sender.paid);
    const spent = charges.find(({ limit, name, units: owed }) => {
      return limit === this.#units.address && !limit.hasRoom(name, owed);
    });
    chargeAll(spent ? [spent] : charges);
  }

  /** The same by its address alone. */
  chargeRefusedOfAddress(address: string, units: number): void {
    chargeAll(this.#addressCharges(this.#units.address, address, units));
  }

  #addressCharges(limit: Limit | null, address: string, units: number): Charge[] {
    const name = () => this.#slots.of(toOrigin(address));
    return toCharges([[limit, name, Math.min(units, limit?.quota ?? 0)]]);
  }

  /** What charges cost beyond what was paid already. Nothing is paid ahead by anonymous id. */
  #owed(charges: readonly Charge[], paid: Paid | undefined): readonly Charge[] {
    if (!paid) return charges;
    const { address, anonymous } = this.#units;
    const paidTo = (limit: Limit): number =>
      limit === anonymous ? 0 : limit === address ? paid.address : paid.key;
    return charges
      .map(({ limit, name, units }) => ({ limit, name, units: units - paidTo(limit) }))
      .filter(({ units }) => units > 0);
  }

  #all(): Limit[] {
    return [...Object.values(this.#requests), ...Object.values(this.#units)].filter(
      (limit) => limit !== null,
    );
  }

  #requestCharges({ kind, keyId, address, isAddressCounted }: Sender): Charge[] {
    const isPublic = kind === 'publishable';
    return toCharges([
      isPublic &&
        isAddressCounted !== true && [
          this.#requests.address,
          () => this.#slots.of(toOrigin(address)),
          1,
        ],
      [
        isPublic ? this.#requests.publishable : this.#requests.server,
        () => this.#nameOf(kind, keyId),
        1,
      ],
    ]);
  }

  /** A single part cannot be split by its client, so it costs a whole window at most. */
  #unitCharges({ kind, keyId, address }: Sender, work: readonly Work[]): Charge[] {
    const total = Math.max(
      1,
      work.reduce((sum, { units }) => sum + units, 0),
    );
    const bound = ({ limit, units, ...rest }: Charge): Charge => ({
      ...rest,
      limit,
      units: work.length <= 1 ? Math.min(units, limit.quota) : units,
    });
    if (kind !== 'publishable')
      return toCharges([[this.#units.server, () => this.#nameOf(kind, keyId), total]]).map(bound);
    const devices = [...this.#unitsOfDevices(keyId, work)];
    return toCharges([
      [this.#units.address, () => this.#slots.of(toOrigin(address)), total],
      [this.#units.publishable, () => keyId, total],
      ...devices.map(([counter, units]) => [this.#units.anonymous, () => counter, units] as const),
    ]).map(bound);
  }

  /** The units of each anonymous id, by counter: two ids that share a counter are charged together. */
  #unitsOfDevices(keyId: string, work: readonly Work[]): Map<number, number> {
    const charged = new Map<number, number>();
    if (!this.#units.anonymous) return charged;
    const devices = Map.groupBy(work, ({ device }) => device);
    for (const [device, parts] of devices) {
      if (device === undefined) continue;
      const counter = this.#slots.of(`${keyId} ${device}`);
      const units = parts.reduce((sum, part) => sum + part.units, 0);
      charged.set(counter, (charged.get(counter) ?? 0) + units);
    }
    return charged;
  }

  /** Returns what a sender counts under. Keys are known and few; the senders of webhooks are not. */
  #nameOf(kind: KeyKind, keyId: string): string | number {
    return kind === 'hook' ? this.#slots.of(`hook ${keyId}`) : keyId;
  }
}

export const makeLimits = (settings: LimitSettings): Limits => new Limits(settings);
