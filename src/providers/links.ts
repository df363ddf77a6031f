import type { Settings } from './settings.ts';
import type { ConnectOutcome, Link, Network } from './transport.ts';
import { connect } from './transports.ts';

/** How many hand-offs to one provider a process makes at a time, each over a connection of its own. */
export const LINKS_PER_PROVIDER_MAX = 10;
/** Relays close idle connections after minutes; we are first. */
const LINK_IDLE_MS = 30_000;

type Idle = { link: Link; since: number };

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
    return connect(settings, this.#network);
  }

  /** Gives a connection back for the next hand-off. */
  give(key: string, link: Link): void {
    const idle = this.#idle.get(key) ?? [];
    if (!link.isOpen) return;
    if (idle.length >= LINKS_PER_PROVIDER_MAX) {
      link.close();
      return;
    }
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
