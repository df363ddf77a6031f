import { eagernessOf, makePerson } from './people.ts';
import type { Person } from './people.ts';
import { signUpId } from './mails.ts';
import { Random } from './random.ts';
import { makeSession } from './session.ts';
import type { Step } from './session.ts';

export type SeedOptions = {
  people: number;
  events: number;
  days: number;
  seed: number;
  /** The end of the past that is made. */
  until: Date;
};

export type SeedEvent = {
  eventId: string;
  name: string;
  externalId: string | null;
  anonymousId: string | null;
  properties: string;
  occurredAt: number;
  receivedAt: number;
  source: 'browser' | 'server';
};

/** When an identifier was first and last seen; null when it never was. */
export type Seen = { first: number; last: number } | null;

const DAY_MS = 86_400_000;
const DELIVERY_MS_MAX = 400;
/** Returning people are the most eager of so many: a tenth of them makes most of the events. */
const CANDIDATES = 7;
const SIGN_UP_PER_SESSION = 0.45;
/** More of the same visit, step by step. */
const GOES_ON = 0.82;
const SESSION_STEPS_MAX = 40;
const WEEKEND_FACTOR = 0.7;
/** Visits by the hour of the day in UTC. */
const HOURS = [3, 2, 2, 1, 1, 2, 4, 6, 9, 11, 12, 12, 11, 12, 13, 13, 12, 11, 10, 10, 9, 7, 6, 4];
const HOUR_MOST = Math.max(...HOURS);

/** A past that is the same for the same options: days in order, and within them people who come, stay and return. */
export class Past {
  readonly #options: SeedOptions;
  readonly #random: Random;
  /** Four times per person: anonymous first and last, external first and last. */
  readonly #seen: Float64Array<ArrayBuffer>;
  #madeCount = 0;

  constructor(options: SeedOptions) {
    this.#options = options;
    this.#random = new Random(options.seed, options.people, options.events);
    this.#seen = new Float64Array(options.people * 4);
  }

  person(number: number): Person {
    return makePerson(this.#options.seed, number);
  }

  /** What is known of a person's two identifiers once the days were made. */
  seen(number: number): { anonymous: Seen; external: Seen } {
    const [a = 0, b = 0, c = 0, d = 0] = this.#seen.subarray(number * 4, number * 4 + 4);
    return {
      anonymous: a === 0 ? null : { first: a, last: b },
      external: c === 0 ? null : { first: c, last: d },
    };
  }

  /** The events of each day, oldest first. */
  *days(): Generator<SeedEvent[]> {
    const { days, people, events } = this.#options;
    const shares = this.#shares();
    let arrived = 0;
    for (let day = 0; day < days; day += 1) {
      const arrivedThen = Math.round((people * (day + 1)) / days);
      const returns = Math.round((events - people) * (shares[day] ?? 1));
      const budget = arrivedThen + returns - this.#madeCount;
      yield this.#day(day, arrived, arrivedThen, budget);
      arrived = arrivedThen;
    }
  }

  /** How much of all returning falls on a day or before it: more as people gather, less at weekends. */
  #shares(): number[] {
    const { days } = this.#options;
    let sum = 0;
    const sums = Array.from({ length: days }, (_, day) => {
      const weekday = new Date(this.#startOf(day)).getUTCDay();
      sum += (day + 1) * (weekday === 0 || weekday === 6 ? WEEKEND_FACTOR : 1);
      return sum;
    });
    return sums.map((upTo) => upTo / sum);
  }

  #startOf(day: number): number {
    const { until, days } = this.#options;
    return until.getTime() - (days - day) * DAY_MS;
  }

  /** Everybody who arrives comes once at least; what is left of the day's events is of those who return. */
  #day(day: number, from: number, to: number, budget: number): SeedEvent[] {
    const random = this.#random;
    const made: SeedEvent[] = [];
    let left = budget;
    const come = (number: number, most: number): void => {
      const steps = 1 + random.times(GOES_ON, Math.min(most, SESSION_STEPS_MAX) - 1);
      left -= steps;
      this.#visit(number, day, steps, made);
    };
    for (let number = from; number < to; number += 1) come(number, left - (to - number - 1));
    while (left > 0 && to > 0) come(this.#returning(to), left);
    this.#madeCount += made.length;
    return made.sort((a, b) => a.receivedAt - b.receivedAt);
  }

  #returning(count: number): number {
    let best = this.#random.below(count);
    let most = eagernessOf(this.#options.seed, best);
    for (let tried = 1; tried < CANDIDATES; tried += 1) {
      const other = this.#random.below(count);
      const eagerness = eagernessOf(this.#options.seed, other);
      if (eagerness > most) [best, most] = [other, eagerness];
    }
    return best;
  }

  #visit(number: number, day: number, steps: number, made: SeedEvent[]): void {
    const random = this.#random;
    const person = this.person(number);
    const isKnown = this.#seen[number * 4 + 2] !== 0;
    const signsUp = !isKnown && person.signsUp && random.isTrue(SIGN_UP_PER_SESSION);
    const end = this.#startOf(day) + DAY_MS;
    // Whoever is here already comes again when that visit is over.
    let at = Math.max(this.#timeOn(day), this.#lastSeen(number) + 1);
    let knows = isKnown;
    for (const step of makeSession(random, person, { steps, isKnown, signsUp })) {
      at = Math.min(at + step.after * 1_000 + random.below(1_000), end - DELIVERY_MS_MAX);
      knows ||= step.by === 'sign_up';
      made.push(this.#event(number, person, { step, at, knows }));
    }
  }

  #timeOn(day: number): number {
    for (;;) {
      const at = this.#startOf(day) + this.#random.below(DAY_MS - DELIVERY_MS_MAX);
      const hour = HOURS[new Date(at).getUTCHours()] ?? HOUR_MOST;
      if (this.#random.isTrue(hour / HOUR_MOST)) return at;
    }
  }

  #event(
    number: number,
    person: Person,
    { step, at, knows }: { step: Step; at: number; knows: boolean },
  ): SeedEvent {
    const receivedAt = at + this.#random.below(DELIVERY_MS_MAX);
    const isServer = step.by !== 'browser';
    const hasAnonymous = step.by !== 'server';
    if (hasAnonymous) this.#see(number * 4, at);
    if (knows) this.#see(number * 4 + 2, at);
    return {
      eventId:
        step.by === 'sign_up'
          ? signUpId(this.#options.seed, number, at)
          : this.#random.idAt(receivedAt),
      name: step.name,
      externalId: knows ? person.externalId : null,
      anonymousId: hasAnonymous ? person.anonymousId : null,
      properties: JSON.stringify(step.properties),
      occurredAt: at,
      receivedAt,
      source: isServer ? 'server' : 'browser',
    };
  }

  #lastSeen(number: number): number {
    return Math.max(this.#seen[number * 4 + 1] ?? 0, this.#seen[number * 4 + 3] ?? 0);
  }

  #see(slot: number, at: number): void {
    const first = this.#seen[slot] ?? 0;
    this.#seen[slot] = first === 0 ? at : Math.min(first, at);
    this.#seen[slot + 1] = Math.max(this.#seen[slot + 1] ?? 0, at);
  }
}
