import { createHash } from 'node:crypto';
import { normalizeReply } from '../providers/providers.ts';
import type { SendOutcome } from '../providers/providers.ts';

/** So many recipients in a row get the same refusal; then it is about the account, whatever its words say. */
export const IDENTICAL_REFUSALS_MAX = 5;
/** The same of refusals that say that the mailbox does not exist: a list of old addresses has many of those. */
export const IDENTICAL_BOUNCES_MAX = 25;

/** What is known of refusals in a row: the digest of their text, and how many there were. */
export type Refusals = { digest: string; count: number };

/** `recipient` tells different ones apart. */
type Judged = { recipient: string; isUnconfirmed: boolean };
type Rejected = SendOutcome & { kind: 'rejected' };
type Deferred = SendOutcome & { kind: 'deferred' };

const DIGEST_BYTES = 16;

const digestOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(parts.join(' ')).digest().subarray(0, DIGEST_BYTES).toString('hex');

const digestOfRefusal = ({ reason, reply }: Rejected): string =>
  digestOf(reason, reply?.code, reply?.enhanced, normalizeReply(reply?.text ?? ''));

/** Whether an answer would stop the whole provider, and came for one recipient. */
const isSuspicious = ({ isOfOne, waits }: Deferred): boolean =>
  isOfOne === true && (waits === 'park' || waits === 'hold');

/** What was said of one recipient concerns that one. */
const waitingAlone = (outcome: SendOutcome): SendOutcome =>
  outcome.kind === 'deferred' && outcome.isOfOne ? { ...outcome, waits: 'send' } : outcome;

/** Marks the digest of an answer about the account that so far came for one recipient. */
const SUSPECT = 'account';
const suspectOf = (reason: string): string => `${SUSPECT} ${digestOf(reason)}`;

/**
 * The refusals of a provider without an acceptance in between. Identical ones for different recipients hold the
 * provider instead of ending more sends. An answer about the account counts once a second recipient gets it, too.
 * One instance belongs to one turn of a provider; `Refusals` carries on what turns before it counted.
 */
export class RefusalStreak {
  #digest: string | null = null;
  #before = 0;
  /** `account <digest of the reason> <digest of the recipient>`. */
  #suspect: string | null = null;
  readonly #recipients = new Set<string>();

  /** Continues what earlier turns and other workers counted. */
  continue({ digest, count }: Refusals): void {
    if (digest.startsWith(SUSPECT)) {
      this.#suspect ??= digest;
      return;
    }
    if (digest === this.#digest && this.count >= count) return;
    this.#digest = digest;
    this.#before = count;
    this.#recipients.clear();
  }

  get count(): number {
    return this.#before + this.#recipients.size;
  }

  get refusals(): Refusals | null {
    if (this.#suspect !== null) return { digest: this.#suspect, count: 1 };
    return this.#digest === null ? null : { digest: this.#digest, count: this.count };
  }

  /**
   * Returns what the outcome means beside those before it. A page chooses unconfirmed addresses: what the provider
   * answers about them counts for no other send, or five of them would stop the email of a whole project.
   */
  judge(outcome: SendOutcome, { recipient, isUnconfirmed }: Judged): SendOutcome {
    if (outcome.kind === 'accepted') this.reset();
    if (isUnconfirmed) return waitingAlone(outcome);
    if (outcome.kind === 'deferred' && isSuspicious(outcome))
      return this.#believe(outcome, recipient);
    return outcome.kind === 'rejected' ? this.#count(outcome, recipient) : outcome;
  }

  #count(outcome: Rejected, recipient: string): SendOutcome {
    const digest = digestOfRefusal(outcome);
    if (digest !== this.#digest) this.reset();
    this.#digest = digest;
    this.#recipients.add(recipient);
    const max = outcome.bounce?.type === 'hard' ? IDENTICAL_BOUNCES_MAX : IDENTICAL_REFUSALS_MAX;
    if (this.count <= max) return outcome;
    const { reply } = outcome;
    return {
      kind: 'deferred',
      reason: 'identical_refusals',
      waits: 'hold',
      ...(reply ? { reply } : {}),
    };
  }

  /** The send alone waits, unless the answer before was about the account as well, beside another recipient. */
  #believe(outcome: Deferred, recipient: string): SendOutcome {
    const suspect = suspectOf(outcome.reason);
    const own = `${suspect} ${digestOf(recipient)}`;
    const isSaidAgain = this.#suspect !== null && this.#suspect !== own;
    if (isSaidAgain && this.#suspect?.startsWith(suspect)) return outcome;
    this.#suspect = own;
    return { ...outcome, waits: 'send' };
  }

  reset(): void {
    this.#digest = null;
    this.#before = 0;
    this.#suspect = null;
    this.#recipients.clear();
  }
}
