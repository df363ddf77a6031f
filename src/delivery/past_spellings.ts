import type { Scope } from '../base/db.ts';
import { mailboxOf } from '../base/email_address.ts';
import * as suppression from '../suppression/suppression.ts';
import type { Category } from './queries.ts';
import { listSpellingsSent } from './spelling_queries.ts';

/** An address that an email went to, by its key in hex, and when the first did. */
type Spelling = { key: string; since: Date };

/**
 * The spellings of mailboxes in a simulation, and what was said of each. As `delivery.list_spellings` does for live
 * email, it counts the plain address and every spelling that an email went to: of this simulation, or of another
 * automation by then.
 */
export class PastSpellings {
  readonly #scope: Scope;
  readonly #automationId: string;
  readonly #of = new Map<string, Spelling[]>();
  readonly #words = new Map<string, readonly suppression.Word[]>();

  constructor(scope: Scope, automationId: string) {
    this.#scope = scope;
    this.#automationId = automationId;
  }

  /** Reads the mailboxes of some addresses, all of them together. */
  async readAhead(emails: readonly string[]): Promise<void> {
    const fresh = [...new Set(emails.map(mailboxOf))].filter((mailbox) => !this.#of.has(mailbox));
    const byKey = new Map(fresh.map((mailbox) => [this.#keyOf(mailbox), mailbox]));
    for (const mailbox of fresh) this.#of.set(mailbox, []);
    const keys = [...byKey.keys()].map((key) => Buffer.from(key, 'hex'));
    const sent =
      keys.length === 0 ? [] : await listSpellingsSent(this.#scope, keys, this.#automationId);
    for (const { mailbox_key, address_key, since } of sent) {
      const mailbox = byKey.get(mailbox_key.toString('hex')) ?? '';
      this.#of.get(mailbox)?.push({ key: address_key.toString('hex'), since });
    }
    await this.#readWords([
      ...byKey.keys(),
      ...sent.map(({ address_key }) => address_key.toString('hex')),
      ...emails.map((email) => this.#keyOf(email)),
    ]);
  }

  /** Adds an email of the simulation. Call `readAhead` for its address before. */
  add(email: string, at: Date): void {
    this.#of.get(mailboxOf(email))?.push({ key: this.#keyOf(email), since: at });
  }

  /** Returns why an email must not go to the mailbox of an address at a moment; null where it may. */
  stopAt(email: string, at: Date, category: Category) {
    const mailbox = mailboxOf(email);
    const known = (this.#of.get(mailbox) ?? []).filter(({ since }) => since <= at);
    const keys = new Set([this.#keyOf(mailbox), ...known.map(({ key }) => key)]);
    const reasons = [...keys].flatMap((key) =>
      suppression.reasonsAt(this.#words.get(key) ?? [], at),
    );
    if (reasons.some((reason) => reason !== 'unsubscribed')) return 'suppressed';
    return category === 'marketing' && reasons.length > 0 ? 'unsubscribed' : null;
  }

  #keyOf(email: string): string {
    return suppression.addressKey(this.#scope, email).toString('hex');
  }

  async #readWords(keys: readonly string[]): Promise<void> {
    const unread = [...new Set(keys)].filter((key) => !this.#words.has(key));
    if (unread.length === 0) return;
    const words = await suppression.readWords(
      this.#scope,
      unread.map((key) => Buffer.from(key, 'hex')),
    );
    for (const key of unread) this.#words.set(key, words.get(key) ?? []);
  }
}
