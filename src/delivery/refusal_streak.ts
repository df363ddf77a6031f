import { createHash } from 'node:crypto';
import { normalizeReply } from '../providers/providers.ts';
import type { SendOutcome } from '../providers/providers.ts';

/** So many recipients in a row get the same refusal; then it is about the account, whatever its words say. */
export const IDENTICAL_REFUSALS_MAX = 5;
/** The same of refusals that say that the mailbox does not exist: a list of old addresses has many of those. */
export const IDENTICAL_BOUNCES_MAX = 25;

/** What is known of refusals in a row: the digest of their text, and how many there were. */
export type Refusals = { digest: string; count: number };

const DIGEST_BYTES = 16;

const digestOf = (outcome: SendOutcome & { kind: 'rejected' }): string => {
  const { code, enhanced, text } = outcome.reply ?? { code: null, enhanced: null, text: null };
  const said = [outcome.reason, code, enhanced, normalizeReply(text ?? '')].join(' ');
  return createHash('sha256').update(said).digest().subarray(0, DIGEST_BYTES).toString('hex');
};

/**
 * The refusals of a provider without an acceptance in between. Identical ones for different recipients hold the provider
 * instead of ending more sends. One instance belongs to one turn of a provider; `Refusals` carries on what turns before
 * it counted.
 */
export class RefusalStreak {
  #digest: string | null = null;
  #before = 0;
  readonly #recipients = new Set<string>();

  /** Continues what earlier turns and other workers counted. */
  continue({ digest, count }: Refusals): void {
    if (digest === this.#digest && this.count >= count) return;
    this.#digest = digest;
    this.#before = count;
    this.#recipients.clear();
  }

  get count(): number {
    return this.#before + this.#recipients.size;
  }

  get refusals(): Refusals | null {
    return this.#digest === null ? null : { digest: this.#digest, count: this.count };
  }

  /** Returns what the outcome means beside those before it. `recipient` tells different ones apart. */
  judge(outcome: SendOutcome, recipient: string): SendOutcome {
    if (outcome.kind === 'accepted') this.reset();
    if (outcome.kind !== 'rejected') return outcome;
    const digest = digestOf(outcome);
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

  reset(): void {
    this.#digest = null;
    this.#before = 0;
    this.#recipients.clear();
  }
}
