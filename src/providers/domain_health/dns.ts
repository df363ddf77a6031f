import type { Resolver } from 'node:dns/promises';
import { isPublicName, isQueryable, toName } from './names.ts';

/** How many DNS queries one check of a domain may send. What is asked twice is sent once. */
export const DNS_QUERIES_MAX = 250;
/** How long one check may take. */
export const CHECK_TIME_MAX_MS = 15_000;
/** How long one query may take, whatever the resolver's own time-outs add up to. */
export const DNS_QUERY_TIME_MAX_MS = 5_000;
/** After so many queries without an answer a check sends no more. */
export const DNS_FAILURES_MAX = 6;
/** No query ends within what is left below this. Timers fire a little early. */
const MOMENT_MS = 2;
/** How many records of one answer are used, besides TXT records, which are filtered instead. */
const RECORDS_MAX = 500;

/** The queries that a check of a domain sends. */
export type DomainReader = Pick<
  Resolver,
  'resolveTxt' | 'resolveCname' | 'resolveMx' | 'resolve4' | 'resolve6' | 'resolvePtr'
>;

/**
 * Records; or none, because there is no such name (NXDOMAIN) or no such type (NODATA); or no answer: the name servers
 * failed, or the check has reached one of its limits.
 */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  | { kind: 'absent'; why: 'no_name' | 'no_data' }
  | { kind: 'failed'; why: 'no_answer' | 'limit' };

export type Exchange = { priority: number; exchange: string };

export type DnsLimits = { queries: number; timeMs: number; failures: number };

const LIMITS: DnsLimits = {
  queries: DNS_QUERIES_MAX,
  timeMs: CHECK_TIME_MAX_MS,
  failures: DNS_FAILURES_MAX,
};

/** Codes of c-ares: the name does not exist; it has no such records; it is no name at all. */
const NO_NAME_CODES: readonly unknown[] = ['ENOTFOUND', 'EBADNAME'];
const NO_DATA = 'ENODATA';

const toFailure = (error: unknown): DnsAnswer<never> => {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === NO_DATA) return { kind: 'absent', why: 'no_data' };
  if (NO_NAME_CODES.includes(code)) return { kind: 'absent', why: 'no_name' };
  return { kind: 'failed', why: 'no_answer' };
};

/** Waits for an answer; after `timeMs` there is none, whatever the resolver still does. */
const withinTime = async <T>(query: Promise<T[]>, timeMs: number): Promise<DnsAnswer<T>> => {
  const { promise: late, resolve } = Promise.withResolvers<DnsAnswer<T>>();
  const timer = setTimeout(resolve, timeMs, { kind: 'failed', why: 'no_answer' });
  const answer = query.then(
    (records): DnsAnswer<T> =>
      records.length > 0 ? { kind: 'found', records } : { kind: 'absent', why: 'no_data' },
    toFailure,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * The DNS queries of one check of a domain. Sends each query once, at most so many of them, and none after the check's
 * time is over or too many went unanswered. Never rejects.
 */
export class DnsQueries {
  readonly #reader: DomainReader;
  readonly #limits: DnsLimits;
  readonly #startedAt = performance.now();
  readonly #answers = new Map<string, Promise<DnsAnswer<unknown>>>();
  #sent = 0;
  #unanswered = 0;
  #isStopped = false;

  constructor(reader: DomainReader, limits: Partial<DnsLimits> = {}) {
    this.#reader = reader;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** How many queries were sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Why something is not known: name servers do not answer, or a limit of the check has kept it from asking. */
  get silence(): 'no_answer' | 'limit' {
    return this.#isStopped ? 'limit' : 'no_answer';
  }

  /** Returns the texts of a name that match, each as its strings; a receiver joins those (RFC 7208 §3.3). */
  async texts(name: string, wanted: RegExp): Promise<DnsAnswer<string[]>> {
    return this.#ask(`TXT ${wanted.source}`, name, async (asked) =>
      (await this.#reader.resolveTxt(asked)).filter((strings) => wanted.test(strings.join(''))),
    );
  }

  aliases(name: string): Promise<DnsAnswer<string>> {
    return this.#ask('CNAME', name, (asked) => this.#reader.resolveCname(asked));
  }

  exchanges(name: string): Promise<DnsAnswer<Exchange>> {
    return this.#ask('MX', name, (asked) => this.#reader.resolveMx(asked));
  }

  addresses(name: string, family: 4 | 6): Promise<DnsAnswer<string>> {
    return family === 4
      ? this.#ask('A', name, (asked) => this.#reader.resolve4(asked))
      : this.#ask('AAAA', name, (asked) => this.#reader.resolve6(asked));
  }

  /** Returns the names of a reverse name, such as 1.2.0.192.in-addr.arpa. */
  pointers(name: string): Promise<DnsAnswer<string>> {
    return this.#ask('PTR', name, (asked) => this.#reader.resolvePtr(asked));
  }

  #ask<T>(
    type: string,
    given: string,
    send: (name: string) => Promise<T[]>,
  ): Promise<DnsAnswer<T>> {
    const name = toName(given);
    if (!isQueryable(name) || !isPublicName(name))
      return Promise.resolve({ kind: 'absent', why: 'no_name' });
    const key = `${type} ${name}`;
    const known = this.#answers.get(key);
    if (known) return known as Promise<DnsAnswer<T>>;
    const answer = this.#send(name, send);
    this.#answers.set(key, answer);
    return answer;
  }

  async #send<T>(name: string, send: (name: string) => Promise<T[]>): Promise<DnsAnswer<T>> {
    const { queries, failures } = this.#limits;
    if (this.#unanswered >= failures) return { kind: 'failed', why: 'no_answer' };
    if (this.#sent >= queries || this.#timeLeft < MOMENT_MS) return this.#stop();
    this.#sent += 1;
    const timeMs = Math.min(this.#timeLeft, DNS_QUERY_TIME_MAX_MS);
    const answer = await withinTime(send(name), timeMs);
    if (answer.kind === 'failed') {
      this.#unanswered += 1;
      if (this.#timeLeft < MOMENT_MS) return this.#stop();
    }
    return answer.kind === 'found'
      ? { kind: 'found', records: answer.records.slice(0, RECORDS_MAX) }
      : answer;
  }

  get #timeLeft(): number {
    return this.#limits.timeMs - (performance.now() - this.#startedAt);
  }

  #stop(): DnsAnswer<never> {
    this.#isStopped = true;
    return { kind: 'failed', why: 'limit' };
  }
}
