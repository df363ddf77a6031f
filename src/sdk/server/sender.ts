import type { Call } from './calls.ts';
import { TrunklineError } from './errors.ts';
import { REQUESTS_MAX } from './options.ts';
import type { Settings } from './options.ts';
import { CallQueue } from './queue.ts';
import type { Waiting } from './queue.ts';
import { findRefused, toRequest } from './requests.ts';
import { startTimer } from './timer.ts';
import { post } from './transport.ts';
import type { Outcome } from './transport.ts';

/** Of the doubling: beyond it a wait is at its bound whatever it began with. */
const DOUBLINGS_MAX = 20;

type Waiter = { at: number; resolve: () => void; reject: (error: TrunklineError) => void };

/** Sends a queue: several requests at once while all is well, one after each wait while it is not. */
export class Sender {
  readonly #settings: Settings;
  readonly #queue: CallQueue;
  readonly #abort = new AbortController();
  readonly #waiters = new Set<Waiter>();
  /** Calls up to this place go now; the others wait for company. */
  #dueAt = 0;
  #requests = 0;
  #failures = 0;
  #stopInterval: (() => void) | undefined;
  #stopPause: (() => void) | undefined;
  #pausedUntil = 0;
  #stopped: TrunklineError | undefined;
  #lastFailure: unknown;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#queue = new CallQueue(settings);
  }

  get pending(): number {
    return this.#queue.size;
  }

  /** Why the last request has to be sent again; undefined while all is well. */
  get lastFailure(): unknown {
    return this.#failures > 0 ? this.#lastFailure : undefined;
  }

  /** Puts a call into the queue. Throws when it is full, or nothing more is sent. */
  add(call: Call): void {
    if (this.#stopped) throw this.#stopped;
    if (!this.#queue.hasRoomFor(call)) throw this.#full();
    this.#queue.add(call);
    if (this.#queue.lastAt - this.#dueAt >= this.#settings.flushSize) this.#sendAll();
    else this.#stopInterval ??= startTimer(() => this.#sendAll(), this.#settings.flushIntervalMs);
  }

  /** Sends everything now; resolves when it is settled, rejects when nothing more can be sent. */
  settleAll(): Promise<void> {
    if (this.#queue.size === 0) return Promise.resolve();
    if (this.#stopped) return Promise.reject(this.#stopped);
    const settled = new Promise<void>((resolve, reject) => {
      this.#waiters.add({ at: this.#queue.lastAt, resolve, reject });
    });
    this.#sendAll();
    return settled;
  }

  /** Ends what is under way, and answers with what is not settled. */
  stop(): Waiting[] {
    this.#stopped ??= new TrunklineError('closed', 'This client is closed.');
    this.#stopInterval?.();
    this.#stopPause?.();
    this.#abort.abort();
    this.#failWaiters(this.#stopped);
    return this.#queue.list();
  }

  #full(): TrunklineError {
    const { queueCallsMax, queueBytesMax } = this.#settings;
    return new TrunklineError(
      'queue_full',
      `The queue is full: ${this.pending} calls wait for the service. Await flush() before the next, or raise ` +
        `queueCallsMax (${queueCallsMax}) or queueBytesMax (${queueBytesMax}). This call was not kept.`,
    );
  }

  #sendAll(): void {
    this.#stopInterval?.();
    this.#stopInterval = undefined;
    this.#dueAt = this.#queue.lastAt;
    this.#pump();
  }

  #pump(): void {
    while (!this.#stopped && !this.#stopPause) {
      const requestsMax = this.#failures > 0 ? 1 : REQUESTS_MAX;
      if (this.#requests >= requestsMax) return;
      const calls = this.#queue.take(this.#dueAt, this.#settings.flushSize);
      if (calls.length === 0) return;
      this.#requests += 1;
      void this.#send(calls);
    }
  }

  async #send(calls: Waiting[]): Promise<void> {
    const request = { ...toRequest(calls), signal: this.#abort.signal };
    const outcome = await post(this.#settings, request);
    this.#requests -= 1;
    for (const call of calls) call.isUnderWay = false;
    this.#conclude(calls, outcome);
    this.#answerWaiters();
    this.#pump();
  }

  #conclude(calls: Waiting[], outcome: Outcome): void {
    switch (outcome.kind) {
      case 'taken':
        this.#failures = 0;
        return this.#queue.settle(calls);
      case 'refused': {
        this.#failures = 0;
        const refused = findRefused(calls, outcome);
        if (refused.length === 0) for (const call of calls) call.isAlone = true;
        this.#queue.settle(refused.map(({ call }) => call));
        return this.#tell(refused.map(({ error }) => error));
      }
      case 'later':
        this.#lastFailure = outcome.cause;
        return this.#pause(outcome.retryAfterMs);
      case 'stopped':
        return this.#give(outcome.error);
    }
  }

  /**
   * Waits as long as the service asks, and a random time besides that doubles with each failure. Requests that
   * fail side by side are one failure.
   */
  #pause(retryAfterMs: number): void {
    if (this.#stopped) return;
    const { retryBaseMs, retryMaxMs } = this.#settings;
    if (!this.#stopPause) this.#failures += 1;
    const doublings = Math.min(this.#failures - 1, DOUBLINGS_MAX);
    const jitterMs = Math.random() * Math.min(retryMaxMs, retryBaseMs * 2 ** doublings);
    const until = Date.now() + retryAfterMs + jitterMs;
    if (this.#stopPause && until <= this.#pausedUntil) return;
    this.#stopPause?.();
    this.#pausedUntil = until;
    this.#stopPause = startTimer(() => {
      this.#stopPause = undefined;
      this.#pump();
    }, retryAfterMs + jitterMs);
  }

  /** Gives up: whatever waits stays in the queue, for `close` to tell. */
  #give(error: TrunklineError): void {
    if (this.#stopped) return;
    this.#stopped = error;
    this.#stopInterval?.();
    this.#stopPause?.();
    this.#failWaiters(error);
    this.#tell([error]);
  }

  #failWaiters(error: TrunklineError): void {
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters.clear();
  }

  #answerWaiters(): void {
    const { firstAt } = this.#queue;
    for (const waiter of this.#waiters)
      if (firstAt > waiter.at) {
        this.#waiters.delete(waiter);
        waiter.resolve();
      }
  }

  /** A handler that throws must not stop what goes on here. */
  #tell(errors: readonly TrunklineError[]): void {
    for (const error of errors)
      try {
        this.#settings.onError(error);
      } catch (thrown) {
        console.error('trunkline: onError threw', thrown);
      }
  }
}
