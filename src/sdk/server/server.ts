import { toAlias, toIdentify, toSent, toTrack } from './calls.ts';
import type { AliasOptions, Call, IdentifyOptions, TrackOptions } from './calls.ts';
import { TrunklineError } from './errors.ts';
import type { Properties, Value } from './errors.ts';
import { FLUSH_TIMEOUT_MS, readOptions } from './options.ts';
import type { Settings, TrunklineOptions } from './options.ts';
import { Sender } from './sender.ts';
import { startTimer } from './timer.ts';

export { TrunklineError };
export type { AliasOptions, IdentifyOptions, TrackOptions, TrunklineOptions };
export type {
  Properties,
  SentCall,
  Traits,
  TrunklineErrorCode,
  TrunklineIssue,
  Value,
  WireAlias,
  WireEvent,
  WireIdentify,
} from './errors.ts';

export type WaitOptions = { timeoutMs?: number };

const readTimeout = ({ timeoutMs = FLUSH_TIMEOUT_MS }: WaitOptions): number => {
  if (Number.isFinite(timeoutMs) && timeoutMs >= 0) return timeoutMs;
  throw new TypeError('timeoutMs must be a number of milliseconds');
};

/** The words of a failure, and of what is behind it: `fetch failed` says little. */
const sayFailure = (failure: unknown): string => {
  const { message = '', cause } = failure as { message?: string; cause?: { message?: string } };
  return [message, cause?.message].filter(Boolean).join(': ');
};

/**
 * Tells the service what happened, from a server. Calls are put into a queue and sent in the background,
 * together; what fails for now is tried again with the same `message_id` until it is taken, so nothing is stored
 * twice. Calls about one person reach the service in their order. Close it before the process ends.
 */
export class Trunkline {
  readonly #settings: Settings;
  readonly #sender: Sender;
  #isClosed = false;

  constructor(options: TrunklineOptions) {
    this.#settings = readOptions(options);
    this.#sender = new Sender(this.#settings);
  }

  /** How many calls the service has not taken yet. */
  get pending(): number {
    return this.#sender.pending;
  }

  /** Something that a person did. Throws a TypeError for what could never be sent, `queue_full` past the bound. */
  track<P extends object & { [K in keyof P]: Value } = Properties>(
    event: string,
    options: TrackOptions<P>,
  ): void {
    this.#add(toTrack(event, options));
  }

  /** Who somebody is and what is known of them; what `anonymousId` did before becomes theirs. */
  identify(options: IdentifyOptions): void {
    this.#add(toIdentify(options));
  }

  /** Links an anonymous id to a person, at the word of a backend. */
  alias(options: AliasOptions): void {
    this.#add(toAlias(options));
  }

  /**
   * Sends what waits now. Resolves when the service has taken it, or refused it and `onError` was told; rejects
   * with `timed_out` when that takes longer, and it is tried on.
   */
  async flush(options: WaitOptions = {}): Promise<void> {
    const isDone = await this.#wait(readTimeout(options));
    if (isDone) return;
    throw this.#timedOut();
  }

  /**
   * Takes no more calls, sends what waits, and rejects with `not_sent` and what is `unsent` when that takes
   * longer. A second call says the same.
   */
  close(options: WaitOptions = {}): Promise<void> {
    const timeoutMs = readTimeout(options);
    this.#isClosed = true;
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  #closing: Promise<void> | undefined;

  async #close(timeoutMs: number): Promise<void> {
    const failed = await this.flush({ timeoutMs }).catch((error: unknown) => error);
    const unsent = this.#sender.stop().map(toSent);
    if (unsent.length === 0) return;
    const why = failed instanceof TrunklineError ? ` ${failed.message}` : '';
    const message = `${unsent.length} calls were not sent: keep what is in \`unsent\`, and send it again.${why}`;
    throw new TrunklineError('not_sent', message, { unsent, cause: failed });
  }

  #timedOut(): TrunklineError {
    const { pending, lastFailure: cause } = this.#sender;
    const why = cause === undefined ? '' : ` The last try: ${sayFailure(cause)}.`;
    const message = `${pending} calls still wait, and are tried on: flush again.${why}`;
    return new TrunklineError('timed_out', message, { cause });
  }

  #add(call: Call): void {
    if (this.#isClosed)
      throw new TrunklineError('closed', 'This client is closed: make a new one to send more.');
    this.#sender.add(call);
  }

  /** Whether everything until now was settled in time. Keeps the process alive meanwhile. */
  async #wait(timeoutMs: number): Promise<boolean> {
    let stopTimer = (): void => {};
    const late = new Promise<boolean>((resolve) => {
      stopTimer = startTimer(() => resolve(false), timeoutMs, true);
    });
    const done = this.#sender.settleAll().then(() => true);
    return Promise.race([done, late]).finally(stopTimer);
  }
}
