import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** What becomes of the next request that bears a mark; `onHit` runs when it is on its way. */
type Trap = { mark: string; fate: 'cut_answer' | 'pass'; onHit: () => void };

const MS_PER_SECOND = 1_000;

const later = async (at: number): Promise<void> => {
  const earlyMs = at - performance.now();
  if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs));
};

/** A way to a TCP server that can be slow, narrow, and cut, and lead elsewhere. */
export class FaultProxy {
  latencyMs = 0;
  bytesPerSecond = Infinity;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #target: URL;
  readonly #server = createServer((near) => this.#open(near));
  #trap: Trap | null = null;

  constructor(target: string) {
    this.#target = new URL(target);
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  /** The same URL, by way of the proxy. */
  get url(): string {
    const near = new URL(this.#target);
    near.port = String((this.#server.address() as AddressInfo).port);
    return near.href;
  }

  /** Leads whoever comes from now on to another server. */
  leadTo(target: string): void {
    this.#target = new URL(target);
  }

  /** Cuts every connection hard, as when a cable is pulled and the peers are told. */
  cutAll(): number {
    const cut = this.#pairs.size;
    for (const [near, far] of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
    return cut;
  }

  /** Does this at the next request that bears the mark; takes the trap back when nobody came in time. */
  async trap(mark: string, fate: Trap['fate'], withinMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#trap = { mark, fate, onHit: () => resolve(true) };
    const timer = setTimeout(() => resolve(false), withinMs);
    const wasHit = await promise;
    clearTimeout(timer);
    this.#trap = null;
    return wasHit;
  }

  close(): void {
    this.#server.close();
    this.cutAll();
  }

  #open(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    let isMuted = false;
    this.#carry(near, far, (chunk) => {
      const trap = this.#trap;
      if (trap === null || !chunk.includes(trap.mark)) return true;
      this.#trap = null;
      isMuted = trap.fate === 'cut_answer';
      trap.onHit();
      return true;
    });
    this.#carry(far, near, () => {
      if (isMuted) near.resetAndDestroy();
      return !isMuted;
    });
    for (const [one, other] of [pair, [far, near] as const])
      one
        .setNoDelay(true)
        .on('error', () => {})
        .on('close', () => {
          this.#pairs.delete(pair);
          other.destroy();
        });
  }

  /** In order, each piece when its time has come. */
  #carry(from: Socket, to: Socket, mayPass: (chunk: Buffer) => boolean): void {
    let [dueAt, last] = [0, Promise.resolve()];
    from.on('data', (chunk: Buffer) => {
      if (!mayPass(chunk)) return;
      const takesMs = (chunk.length * MS_PER_SECOND) / this.bytesPerSecond;
      dueAt = Math.max(dueAt, performance.now() + this.latencyMs) + takesMs;
      const thisAt = dueAt;
      last = last.then(() => later(thisAt)).then(() => void to.write(chunk));
    });
  }
}
