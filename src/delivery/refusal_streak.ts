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
type Judged = {
  recipient: string;
  /** Whether only browsers asserted the address. */
  isUnconfirmed: boolean;
  /** Whether a page may have chosen recipient and words. */
  isOfPage: boolean;
  /** Whether the message shows what only a browser asserted. */
  showsAsserted: boolean;
};
/** Whether an email shows words of a page, and whether a page caused it. */
type AssertedWords = Pick<Judged, 'showsAsserted' | 'isOfPage'>;
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

/** What a page can make most relays do, with a recipient or with words of its own choice. */
const CAUSED_BY_PAGES: readonly Deferred['waits'][] = ['provider', 'connection'];

/**
 * Whether an answer over an open connection concerns the send alone: trouble and silence do, where a page chose the
 * message. Words about the account or its rate count, unless they were said of a recipient that a page made up.
 */
const isOfSend = (outcome: Deferred, { isUnconfirmed, isOfPage }: Judged): boolean =>
  isOfPage &&
  (outcome.reply === undefined ||
    CAUSED_BY_PAGES.includes(outcome.waits) ||
    (isUnconfirmed && outcome.isOfOne === true));

/**
 * Whether an answer may be about words that a page asserted. The send is tried again without them, so that a page ends
 * and holds no email with words; only the answer to that one counts. A relay that names the mailbox after the text had
 * accepted it before, so that may be about words as well. A temporary answer to an email that a page caused
 * is judged by `isOfSend`.
 */
const isOfWords = (
  outcome: Rejected | Deferred,
  { showsAsserted, isOfPage }: AssertedWords,
): boolean => {
  if (!showsAsserted) return false;
  return outcome.kind === 'rejected'
    ? outcome.isOfText === true ||
        (outcome.bounce === undefined && outcome.reason !== 'recipient_refused')
    : outcome.isOfText === true && !isOfPage;
};

/**
 * Whether an outcome gives reason to suspect words that a page asserted in email that no page caused. Such email shows
 * none of them for a time then (`noteWords`).
 */
export const makesSuspectWords = (outcome: SendOutcome, judged: AssertedWords): boolean =>
  judged.showsAsserted &&
  !judged.isOfPage &&
  (outcome.kind === 'unknown' ||
    (outcome.kind === 'deferred' && outcome.reason === 'asserted_refused'));

/** Returns a deferral in place of an outcome, with the same answer of the provider. */
const deferFor = (
  { reply }: Rejected | Deferred,
  reason: Deferred['reason'],
  waits: Deferred['waits'],
): SendOutcome => ({ kind: 'deferred', reason, waits, ...(reply ? { reply } : {}) });

/** One refusal again and again, for different recipients. */
class Streak {
  #digest: string | null = null;
  #before = 0;
  readonly #recipients = new Set<string>();

  get count(): number {
    return this.#before + this.#recipients.size;
  }

  get refusals(): Refusals | null {
    return this.#digest === null ? null : { digest: this.#digest, count: this.count };
  }

  continue({ digest, count }: Refusals): void {
    if (digest === this.#digest && this.count >= count) return;
    this.#digest = digest;
    this.#before = count;
    this.#recipients.clear();
  }

  /** Counts a refusal. Returns whether it is more than the answers of recipients explain. */
  isTooLong(outcome: Rejected, recipient: string): boolean {
    const digest = digestOfRefusal(outcome);
    if (digest !== this.#digest) this.reset();
    this.#digest = digest;
    this.#recipients.add(recipient);
    const max = outcome.bounce?.type === 'hard' ? IDENTICAL_BOUNCES_MAX : IDENTICAL_REFUSALS_MAX;
    return this.count > max;
  }

  reset(): void {
    this.#digest = null;
    this.#before = 0;
    this.#recipients.clear();
  }
}

/** Marks the digest of an answer about the account that so far came for one recipient. */
const SUSPECT = 'account';
const suspectOf = (reason: string): string => `${SUSPECT} ${digestOf(reason)}`;

/**
 * The refusals of a provider without an acceptance in between. Identical ones for different recipients hold the
 * provider instead of ending more sends. An answer about the account counts once a second recipient gets it, too.
 * One instance belongs to one turn of a provider; `Refusals` carries on what turns before it counted.
 *
 * A page chooses recipients and words. What the provider answers to them counts apart and stops no other email: else
 * five refusals of a page would stop a whole project. Identical ones make the sends wait, each alone.
 */
export class RefusalStreak {
  readonly #streak = new Streak();
  readonly #ofPages = new Streak();
  /** `account <digest of the reason> <digest of the recipient>`. */
  #suspect: string | null = null;

  /** Continues what earlier turns and other workers counted. */
  continue(refusals: Refusals): void {
    if (refusals.digest.startsWith(SUSPECT)) this.#suspect ??= refusals.digest;
    else this.#streak.continue(refusals);
  }

  get count(): number {
    return this.#streak.count;
  }

  get refusals(): Refusals | null {
    if (this.#suspect !== null) return { digest: this.#suspect, count: 1 };
    return this.#streak.refusals;
  }

  /** Returns what the outcome means beside those before it. */
  judge(outcome: SendOutcome, judged: Judged): SendOutcome {
    if (outcome.kind === 'accepted') this.reset();
    if (outcome.kind !== 'rejected' && outcome.kind !== 'deferred') return outcome;
    if (isOfWords(outcome, judged)) return deferFor(outcome, 'asserted_refused', 'send');
    if (outcome.kind === 'rejected') return this.#count(outcome, judged);
    if (isOfSend(outcome, judged)) return { ...outcome, waits: 'send' };
    return isSuspicious(outcome) ? this.#believe(outcome, judged.recipient) : outcome;
  }

  #count(outcome: Rejected, judged: Judged): SendOutcome {
    const { recipient, isOfPage } = judged;
    const streak = isOfPage ? this.#ofPages : this.#streak;
    if (!streak.isTooLong(outcome, recipient)) return outcome;
    return deferFor(outcome, 'identical_refusals', isOfPage ? 'send' : 'hold');
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
    this.#streak.reset();
    this.#ofPages.reset();
    this.#suspect = null;
  }
}
