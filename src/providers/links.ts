import type { Settings } from './settings.ts';
import type { FailureReason, SendOutcome } from './outcome.ts';
import type { ConnectOutcome, Link, Network, WireMessage } from './transport.ts';
import { connect } from './transports.ts';

/** How many hand-offs to one provider a process makes at a time, each over a connection of its own. */
export const LINKS_PER_PROVIDER_MAX = 10;
/** Relays close idle connections after minutes; we are first. */
const LINK_IDLE_MS = 30_000;

type Idle = { link: Link; since: number };

/** A connection carries this many messages; then a new one does. Relays close busy ones after a hundred or more. */
export const MESSAGES_PER_LINK_MAX = 100;

/** From a connection that was open: it was gone, or taken back, before the first byte of the message. */
const GONE_REASONS: readonly string[] = [
  'connection_failed',
  'connection_refused_by_policy',
] satisfies FailureReason[];

/** Whether a message was definitely not taken because of the connection alone (such as 421, RFC 5321 §3.8). */
const isOfConnection = (outcome: SendOutcome): boolean =>
  outcome.kind === 'deferred' &&
  (outcome.waits === 'connection' || GONE_REASONS.includes(outcome.reason));

/**
 * A connection that may be kept. Providers close those that are idle, also at the moment of use: then nothing of
 * the message was given to anybody, and a new connection carries it, once. One that was never kept is not renewed.
 */
class KeptLink implements Link {
  #link: Link;
  readonly #open: () => Promise<ConnectOutcome>;
  #messages = 0;
  isKept = false;

  constructor(link: Link, open: () => Promise<ConnectOutcome>) {
    this.#link = link;
    this.#open = open;
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  /** Whether it has carried as many messages as one connection does. */
  get isWorn(): boolean {
    return this.#messages >= MESSAGES_PER_LINK_MAX;
  }

  async send(message: WireMessage): Promise<SendOutcome> {
    this.#messages += 1;
    const outcome = await this.#link.send(message);
    if (!this.isKept || !isOfConnection(outcome) || !message.mayStart()) return outcome;
    this.isKept = false;
    this.#messages = 1;
    if (this.isOpen) this.close();
    const renewed = await this.#open();
    if (renewed.kind === 'failed') return renewed.outcome;
    this.#link = renewed.link;
    return this.#link.send(message);
  }

  close(): void {
    this.#link.close();
  }
}

/** Open connections to providers, kept between sends. One belongs to one hand-off at a time. */
export class Links {
  readonly #idle = new Map<string, Idle[]>();
  readonly #network: Network;
  readonly #sweep: NodeJS.Timeout;

  constructor(network: Network) {
    this.#network = network;
    this.#sweep = setInterval(
      () => this.#closeIdle(Date.now() - LINK_IDLE_MS),
      LINK_IDLE_MS / 3,
    ).unref();
  }

  /** An open connection for one hand-off. `key` names provider and credentials, so that old ones are not reused. */
  async take(key: string, settings: Settings): Promise<ConnectOutcome> {
    const idle = this.#idle.get(key) ?? [];
    for (let kept = idle.pop(); kept; kept = idle.pop()) {
      if (kept.link.isOpen) return { kind: 'connected', link: kept.link };
    }
    const open = () => connect(settings, this.#network);
    const opened = await open();
    return opened.kind === 'failed'
      ? opened
      : { kind: 'connected', link: new KeptLink(opened.link, open) };
  }

  /** Gives a connection back for the next hand-off. */
  give(key: string, link: Link): void {
    const idle = this.#idle.get(key) ?? [];
    if (!link.isOpen) return;
    const isWorn = link instanceof KeptLink && link.isWorn;
    if (isWorn || idle.length >= LINKS_PER_PROVIDER_MAX) {
      link.close();
      return;
    }
    if (link instanceof KeptLink) link.isKept = true;
    idle.push({ link, since: Date.now() });
    this.#idle.set(key, idle);
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#closeIdle(Infinity);
  }

  #closeIdle(before: number): void {
    for (const [key, idle] of this.#idle) {
      for (const { link, since } of idle) if (since < before) link.close();
      const kept = idle.filter(({ since }) => since >= before);
      if (kept.length > 0) this.#idle.set(key, kept);
      else this.#idle.delete(key);
    }
  }
}
