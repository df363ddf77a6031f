import { EventEmitter, once } from 'node:events';
import { newId } from '../../base/ids.ts';
import { readMail } from './read_mail.ts';
import type { ReadMail } from './read_mail.ts';

/** How many mails are kept; the oldest drop out. */
export const MAILS_KEPT_MAX = 500;
/** The largest mail taken. The service itself sends none above 2 MiB. */
export const MAIL_BYTES_MAX = 3 * 1024 * 1024;
/** How large the kept mails may be together; the oldest drop out. */
export const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/** A mail that was caught. `from` and `to` are the envelope's addresses. */
export type CaughtMail = ReadMail & { id: string; from: string; to: string[]; received_at: string };

export type Envelope = { from: string; to: string[] };
/** What may happen to a mailbox. */
export type Change = 'caught' | 'emptied';

type Kept = { mail: CaughtMail; raw: Buffer };

/** The caught mails, in memory only, within the bounds above. Ids sort by the time of arrival. */
export class Mailbox {
  #kept: Kept[] = [];
  #bytes = 0;
  readonly #changes = new EventEmitter().setMaxListeners(0);

  /** Keeps a mail; resolves when it can be found. */
  async add(envelope: Envelope, raw: Buffer): Promise<void> {
    const read = await readMail(raw);
    const id = newId();
    this.#kept.push({
      mail: { id, ...envelope, ...read, received_at: new Date().toISOString() },
      raw,
    });
    this.#bytes += raw.length;
    while (this.#kept.length > MAILS_KEPT_MAX || this.#bytes > KEPT_BYTES_MAX) {
      this.#bytes -= this.#kept.shift()?.raw.length ?? 0;
    }
    this.#changes.emit('caught' satisfies Change);
  }

  /** The kept mails newer than `after`, oldest first; all of them without it. */
  list(after = ''): CaughtMail[] {
    return this.#kept.map(({ mail }) => mail).filter(({ id }) => id > after);
  }

  find(id: string): Kept | null {
    return this.#kept.find(({ mail }) => mail.id === id) ?? null;
  }

  empty(): void {
    this.#kept = [];
    this.#bytes = 0;
    this.#changes.emit('emptied' satisfies Change);
  }

  /** As `list`; while that is empty, waits for the next mail, until `signal` aborts. */
  async listWhenAny(after: string | undefined, signal: AbortSignal): Promise<CaughtMail[]> {
    while (this.list(after).length === 0 && !signal.aborted) {
      await once(this.#changes, 'caught' satisfies Change, { signal }).catch(() => {});
    }
    return this.list(after);
  }

  /** Calls back on every change, until `signal` aborts. */
  watch(onChange: (change: Change) => void, signal: AbortSignal): void {
    for (const change of ['caught', 'emptied'] as const) {
      const listener = () => onChange(change);
      this.#changes.on(change, listener);
      signal.addEventListener('abort', () => this.#changes.off(change, listener), { once: true });
    }
  }
}
