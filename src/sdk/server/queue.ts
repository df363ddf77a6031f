import type { Call } from './calls.ts';
import { BATCH_BYTES_MAX } from './options.ts';

/** A call in its place; what is under way keeps it until it is settled. */
export type Waiting = Call & {
  /** Its place, counted from 1. */
  at: number;
  isUnderWay: boolean;
  /** Sent by itself from now on: a request with others was refused, and nobody said because of whom. */
  isAlone: boolean;
};

/** `{"sent_at":"…","events":[` and `]}`, rounded up. */
const ENVELOPE_BYTES = 128;

export type QueueBounds = { queueCallsMax: number; queueBytesMax: number };

/**
 * Calls in their order, until the service has taken or refused them. Bounded in number and in bytes:
 * whoever adds asks first.
 */
export class CallQueue {
  readonly #bounds: QueueBounds;
  readonly #calls = new Set<Waiting>();
  #bytes = 0;
  #lastAt = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#calls.size;
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  /** The place of the first call that is not settled; Infinity when there is none. */
  get firstAt(): number {
    for (const { at } of this.#calls) return at;
    return Infinity;
  }

  hasRoomFor({ bytes }: Call): boolean {
    const { queueCallsMax, queueBytesMax } = this.#bounds;
    return this.#calls.size < queueCallsMax && this.#bytes + bytes <= queueBytesMax;
  }

  add(call: Call): void {
    this.#lastAt += 1;
    this.#bytes += call.bytes;
    this.#calls.add({ ...call, at: this.#lastAt, isUnderWay: false, isAlone: false });
  }

  /** Removes what is taken, refused or given up. */
  settle(calls: readonly Waiting[]): void {
    for (const call of calls) if (this.#calls.delete(call)) this.#bytes -= call.bytes;
  }

  /** Everything that is not settled, in order. */
  list(): Waiting[] {
    return [...this.#calls];
  }

  /**
   * The next calls that may share a request, marked as under way: up to `eventsMax` events, or one call of
   * another kind. None passes an earlier one that is about the same person, waits or is under way.
   */
  take(dueAt: number, eventsMax: number): Waiting[] {
    const taken: Waiting[] = [];
    const held = new Set<string>();
    let bytes = ENVELOPE_BYTES;
    for (const call of this.#calls) {
      if (taken.length === 0 && call.at > dueAt) break;
      const isFree = !call.isUnderWay && !call.people.some((person) => held.has(person));
      const isSingle = call.kind !== 'track' || call.isAlone;
      const fits = taken.length === 0 || (!isSingle && bytes + call.bytes + 1 <= BATCH_BYTES_MAX);
      if (isFree && fits) {
        call.isUnderWay = true;
        taken.push(call);
        bytes += call.bytes + 1;
        if (isSingle || taken.length >= eventsMax) return taken;
      } else for (const person of call.people) held.add(person);
    }
    return taken;
  }
}
