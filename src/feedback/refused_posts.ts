import type { RefusalName } from '../base/refusal.ts';
import type { Source } from './dialects/dialects.ts';
import type { Refused } from './refused_queries.ts';
import type { RefusedTopic } from './topics/refused_topics.ts';

/** How often one process writes down what it refused at one webhook: whoever posts cannot make it write more. */
export const REFUSED_WRITTEN_EVERY_MS = 5_000;
/** Of how many webhooks one process counts refusals at a time. Past it, the next are not counted. */
export const REFUSED_WEBHOOKS_MAX = 1_000;

/** Of how many topics one process counts refusals apart between two writes; the total counts all of them. */
export const REFUSED_TOPICS_WRITTEN_MAX = 10;

export type RefusedAt = { projectId: string; source: Source };

/** A post that was refused: why, when, and the topic that had signed it, if one had. */
export type RefusedPost = { reason: RefusalName; at: Date; topicArn?: string | null };

const addOne = (
  counted: Pick<RefusedTopic, 'count'> | null | undefined,
  { reason, at }: RefusedPost,
): RefusedTopic => ({ count: (counted?.count ?? 0) + 1, lastReason: reason, lastAt: at });

const addPost = (refused: Refused | null, post: RefusedPost): Refused => {
  const topics = new Map(refused?.topics);
  const { topicArn = null } = post;
  if (topicArn !== null && (topics.has(topicArn) || topics.size < REFUSED_TOPICS_WRITTEN_MAX))
    topics.set(topicArn, addOne(topics.get(topicArn), post));
  return { ...addOne(refused, post), topics };
};

type Waiting = {
  at: RefusedAt;
  refused: Refused | null;
  timer: NodeJS.Timeout;
  /** Whether it is known to be a project's: what strangers make up gives way. */
  isKnown: boolean;
  isDropped: boolean;
};

type Options = {
  /** Answers whether there is such a project. */
  write: (at: RefusedAt, refused: Refused) => Promise<boolean>;
  onError: (error: unknown) => void;
  everyMs?: number;
  webhooksMax?: number;
};

/**
 * Counts posts that were refused, in memory, and writes them down now and then: the first of a webhook at once,
 * those after it together. What a crash takes with it was refused all the same.
 */
export class RefusedPosts {
  readonly #options: Required<Options>;
  readonly #waiting = new Map<string, Waiting>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = {
      everyMs: REFUSED_WRITTEN_EVERY_MS,
      webhooksMax: REFUSED_WEBHOOKS_MAX,
      ...options,
    };
  }

  /** Of how many webhooks refusals are counted just now. */
  get webhookCount(): number {
    return this.#waiting.size;
  }

  note(at: RefusedAt, post: RefusedPost): void {
    const key = `${at.projectId}/${at.source}`;
    const known = this.#waiting.get(key);
    if (!known && this.#waiting.size >= this.#options.webhooksMax && !this.#makeRoom()) return;
    const refused = addPost(known?.refused ?? null, post);
    if (known) known.refused = refused;
    else {
      const timer = setInterval(() => this.#turn(key), this.#options.everyMs).unref();
      this.#waiting.set(key, { at, refused, timer, isKnown: false, isDropped: false });
      this.#turn(key);
    }
  }

  /** Writes down what is left. */
  async close(): Promise<void> {
    for (const key of this.#waiting.keys()) {
      this.#turn(key);
      this.#forget(key);
    }
    await this.#writing;
  }

  /** Writes what has come since the last time, one webhook after the other; forgets one at which nothing has. */
  #turn(key: string): void {
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    const { at, refused } = waiting;
    if (!refused) return this.#forget(key);
    waiting.refused = null;
    const { write, onError } = this.#options;
    this.#writing = this.#writing
      .then(async () => {
        if (waiting.isDropped) return;
        waiting.isKnown = await write(at, refused);
        if (!waiting.isKnown) this.#forget(key);
      })
      .catch(onError);
  }

  /** Forgets who has waited longest of those who may be nobody. Answers whether there was one. */
  #makeRoom(): boolean {
    for (const [key, waiting] of this.#waiting) {
      if (waiting.isKnown) continue;
      waiting.isDropped = true;
      this.#forget(key);
      return true;
    }
    return false;
  }

  #forget(key: string): void {
    clearInterval(this.#waiting.get(key)?.timer);
    this.#waiting.delete(key);
  }
}
