import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { startService } from '../../src/runtime/start_service.ts';
import type { Service } from '../../src/runtime/start_service.ts';

/** How soon whoever looks after a process starts it again, as an init system would. */
const RESTART_MS = 300;
const KIBIBYTES_PER_MEBIBYTE = 1024;
/** What a process says when it begins to end, which may take as long as what it has begun. */
const BEGINS_TO_END = /"msg":"stopping"/;

export type SlotOptions = {
  name: string;
  env: Record<string, string>;
  onLine: (line: string) => void;
};

/** Once it has ended, and everything that it said was heard. */
const endOf = async ({ child }: Service): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.stdout) await finished(child.stdout, { writable: false }).catch(() => {});
  return child.exitCode;
};

/** Which ends are wanted: those of a process that says first that it stops, or also those without a word. */
type Wanted = 'in_order' | 'anyhow';

/** The place of one process: whenever it ends, the next is started in it. */
export class Slot {
  readonly name: string;
  service: Service | null = null;
  /** Ends that nobody of us had asked for: the exit code or signal, and what it last complained of. */
  readonly ownEnds: string[] = [];
  starts = 0;
  #isClosed = false;
  #asked = false;
  /** Until when an end that begins is wanted, and when that of this process began: of `performance.now()`. */
  #expectedUntil = 0;
  #wanted: Wanted = 'in_order';
  #endsSince: number | null = null;
  #once: Record<string, string> = {};
  #running: Promise<void> = Promise.resolve();
  readonly #options: SlotOptions;

  constructor(options: SlotOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Starts it and keeps it; resolves when it is ready for the first time. */
  async open(): Promise<this> {
    const first = Promise.withResolvers<void>();
    this.#running = this.#keep(first.resolve);
    await first.promise;
    return this;
  }

  /** Ends the process that is there; the next has these settings, once. */
  async end(signal: NodeJS.Signals, nextEnv: Record<string, string> = {}): Promise<void> {
    this.#once = nextEnv;
    // Of who is not there yet, no end was asked for.
    this.#asked = this.service !== null;
    await this.service?.stop(signal);
  }

  /** An end of this process that begins within this time is wanted. */
  expectEnd(withinMs: number, wanted: Wanted = 'in_order'): void {
    this.#expectedUntil = performance.now() + withinMs;
    this.#wanted = wanted;
  }

  signal(name: NodeJS.Signals): void {
    this.service?.child.kill(name);
  }

  /** Resident memory, where it runs. */
  residentMiB(): number | null {
    try {
      const status = readFileSync(`/proc/${this.service?.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / KIBIBYTES_PER_MEBIBYTE;
    } catch {
      return null;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.signal('SIGCONT');
    await this.end('SIGTERM');
    await this.#running;
  }

  readonly #hear = (line: string): void => {
    if (BEGINS_TO_END.test(line)) this.#endsSince ??= performance.now();
    this.#options.onLine(line);
  };

  /** Whether the end that this process came to was to be expected. */
  #isExpected(): boolean {
    const silentAt = this.#wanted === 'anyhow' ? performance.now() : Infinity;
    return (this.#endsSince ?? silentAt) < this.#expectedUntil;
  }

  async #keep(onReady: () => void): Promise<void> {
    while (!this.#isClosed) {
      const given = this.#once;
      const env = { ...this.#options.env, ...given };
      this.#endsSince = null;
      const service = await startService({ env, onLine: this.#hear }).catch((error: unknown) => {
        this.#options.onLine(String(error));
        return null;
      });
      if (service !== null) {
        // What is meant for the next process is not lost to one that never became ready.
        if (this.#once === given) this.#once = {};
        this.service = service;
        this.starts += 1;
        onReady();
        if (this.#isClosed) service.child.kill();
        const code = await endOf(service);
        this.service = null;
        const how = `${code ?? service.child.signalCode}: ${service.lastError() ?? 'silent'}`;
        if (!this.#asked && !this.#isExpected() && !this.#isClosed) this.ownEnds.push(how);
        this.#asked = false;
      }
      if (!this.#isClosed) await wait(RESTART_MS);
    }
  }
}
