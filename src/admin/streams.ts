import type { ServerResponse } from 'node:http';
import type { Db } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import type { Metrics } from '../base/metrics.ts';
import { metricsOf } from '../base/metrics.ts';
import { Refusal } from '../base/refusal.ts';
import type { Limit } from '../base/route.ts';
import { listLooking } from './session_queries.ts';

/** How many streams one process has open at once. */
export const STREAMS_MAX = 500;
/** Of one person, however often they are signed in: nobody's pages take the places of all others'. */
export const STREAMS_PER_PERSON_MAX = 20;
/** Of one session: a browser opens six connections to a server, and needs some of them to ask. */
export const STREAMS_PER_SESSION_MAX = 4;
/** How soon a stream ends after its session, or the role of whoever looks on. */
export const STREAM_CHECK_MS = 5_000;

/** For people who write clients of the admin API, and for whoever wonders why a page asks instead of being told. */
export const streamLimits: readonly Limit[] = (
  [
    ['Streams of one session', STREAMS_PER_SESSION_MAX],
    ['Streams of one person', STREAMS_PER_PERSON_MAX],
    ['Streams of everybody', STREAMS_MAX],
  ] as const
).map(([name, value]) => ({ name, value, unit: 'items', where: 'Console, each process' }));

type Looking = { session: Buffer; personId: string; projectId: string };
type Stream = Looking & { over: AbortController };

/** Whether nothing can be told any more: the answer is closed, or was never begun on a connection that is gone. */
export const hasLeft = (answer: ServerResponse): boolean =>
  answer.closed || answer.destroyed || answer.req.socket.destroyed;

/** The streams of this process: how many there are, and whether whoever looks on still may. */
export class Streams {
  readonly #db: Db;
  readonly #metrics: Metrics;
  readonly #open = new Set<Stream>();
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;

  constructor(deps: Pick<Deps, 'db' | 'resources'>) {
    this.#db = deps.db;
    this.#metrics = metricsOf(deps);
  }

  get count(): number {
    return this.#open.size;
  }

  #refuseTooMany({ session, personId }: Looking): void {
    const open = [...this.#open];
    const refuse = (detail: string): never => {
      throw new Refusal('too_many_streams', { detail });
    };
    if (open.filter((one) => one.session.equals(session)).length >= STREAMS_PER_SESSION_MAX)
      refuse(
        `One session has ${STREAMS_PER_SESSION_MAX} streams at once. Close a page, or ask instead of being told.`,
      );
    if (open.filter((one) => one.personId === personId).length >= STREAMS_PER_PERSON_MAX)
      refuse(
        `One person has ${STREAMS_PER_PERSON_MAX} streams at once. Close pages, or end sessions that you do not use.`,
      );
    if (open.length >= STREAMS_MAX)
      refuse(
        `One process has ${STREAMS_MAX} streams at once. Ask instead of being told, and try again later.`,
      );
  }

  /**
   * One more; answers with what says that it is over. It counts until its answer is closed, which it may be already:
   * whoever asked may have left while the database was asked who they are.
   */
  open({ answer, ...looking }: Looking & { answer: ServerResponse }): AbortSignal {
    if (hasLeft(answer)) return AbortSignal.abort();
    this.#refuseTooMany(looking);
    const stream = { ...looking, over: new AbortController() };
    this.#open.add(stream);
    this.#metrics.streams.inc();
    answer.once('close', () => this.#end(stream));
    this.#timer ??= setInterval(() => void this.check(), STREAM_CHECK_MS).unref();
    return stream.over.signal;
  }

  #end(stream: Stream): void {
    if (!this.#open.delete(stream)) return;
    this.#metrics.streams.dec();
    stream.over.abort();
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  /**
   * Ends the streams of sessions that have ended, and of who may not see the project any more: in one question, and
   * never in two at once. Without a word: who comes again is told why not.
   */
  check(): Promise<void> {
    this.#checking ??= this.#endGone().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #endGone(): Promise<void> {
    const asked = [...this.#open];
    if (asked.length === 0) return;
    try {
      const places = new Set((await listLooking(this.#db, asked)).map(({ place }) => place));
      for (const [at, stream] of asked.entries()) if (!places.has(at + 1)) this.#end(stream);
    } catch {
      // Without an answer nobody is known to have left; what cannot be read ends the streams by itself.
    }
  }

  /** Ends all of them without a word: whoever still wants to look on comes again, to another process. */
  close(): void {
    for (const stream of this.#open) this.#end(stream);
  }
}

const makeStreams = (deps: Pick<Deps, 'db' | 'resources'>): Streams => {
  const streams = new Streams(deps);
  watchQueue(deps, 'streams', { size: () => streams.count, max: STREAMS_MAX });
  return streams;
};

export const streamsOf = (deps: Deps): Streams => deps.resources.of(makeStreams, deps);

export const endStreams = (deps: Deps): void => streamsOf(deps).close();
