import { setTimeout as wait } from 'node:timers/promises';
import { inHalves } from '../support/session.ts';
import type { Changed, Journal } from './journal.ts';
import type { Random } from './random.ts';
import type { Site } from './site.ts';

export type Asked = {
  /** What it is counted as. */
  kind: string;
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** A key, or none: a session, or a signature in the body. */
  token?: string;
  session?: string;
  body: unknown;
  /** Its Idempotency-Key, where it has no message id. */
  key?: string;
  /** Of what a server key changes: whose it is. */
  projectId?: string;
  /** Of a change that is made anew at each try, as it has no Idempotency-Key: each is in the audit log by itself. */
  isEach?: boolean;
  /** Of such a change that is none once it is made: a try that nobody heard the answer of may have made it. */
  isOnce?: boolean;
  /** What is asked again besides what says nothing of what was done. */
  isAgain?: (told: Pick<Told, 'status' | 'body'>) => boolean;
  /** What somebody may be told besides that it was done: nothing is the matter. */
  mayBe?: readonly number[];
};
export type Told = {
  status: number;
  body: Record<string, unknown>;
  askedAt: number;
  tries: number;
};

const TIMEOUT_MS = 15_000;
const AGAIN_MS = 150;
const DONE = [200, 201, 202];
/** Answers after which a client asks again: it is told nothing of what was done. */
const AGAIN = [429, 500, 503];

const isRunning = ({ status, body }: Pick<Told, 'status' | 'body'>): boolean =>
  status === 409 && body['error'] === 'idempotency_key_in_use';

/** Somebody's backend: it asks until it is answered, any of the processes, with the same ids each time. */
export class Client {
  readonly #site: Site;
  readonly #journal: Journal;
  readonly #random: Random;
  readonly #giveUp: AbortSignal;

  constructor(site: Site, journal: Journal, random: Random, giveUp: AbortSignal) {
    this.#site = site;
    this.#journal = journal;
    this.#random = random;
    this.#giveUp = giveUp;
  }

  /** Answers what it was told in the end, or null when the run was over before. */
  async ask(asked: Asked): Promise<Told | null> {
    const askedAt = Date.now();
    let changed = this.#noteChange(asked);
    for (let tries = 1; !this.#giveUp.aborted; tries += 1) {
      if (asked.isEach && tries > 1) changed = this.#noteChange(asked);
      const told = await this.#try(asked, changed?.requestId).catch((error: unknown) =>
        String(error),
      );
      if (typeof told === 'string') {
        this.#journal.note(asked.kind, 'connection lost');
      } else {
        this.#journal.note(asked.kind, told.status);
        if (told.status >= 400) this.#journal.refusals.push(JSON.stringify(told.body));
        const mayBe = [...DONE, ...(asked.mayBe ?? [])];
        if (mayBe.includes(told.status)) {
          const isMade = DONE.includes(told.status) && !(asked.isOnce && tries > 1);
          if (changed && isMade) changed.isDone = true;
          return { ...told, askedAt, tries };
        }
        const isAgain =
          AGAIN.includes(told.status) || isRunning(told) || asked.isAgain?.(told) === true;
        if (told.status === 500 || !isAgain) {
          const said = `${told.status} ${JSON.stringify(told.body).slice(0, 200)}`;
          this.#journal.surprises.push(`${asked.kind} ${asked.path}, try ${tries}: ${said}`);
        }
        if (!isAgain) return { ...told, askedAt, tries };
      }
      await wait(AGAIN_MS);
    }
    return null;
  }

  #noteChange({ kind, key, projectId, isEach }: Asked): Changed | null {
    const requestId = isEach ? crypto.randomUUID() : key;
    if (requestId === undefined || projectId === undefined) return null;
    const changed = { projectId, kind, requestId, isDone: false };
    this.#journal.changed.push(changed);
    return changed;
  }

  async #try(asked: Asked, requestId?: string): Promise<Pick<Told, 'status' | 'body'>> {
    const { method = 'POST', path, token, session, body, key } = asked;
    const port = this.#random.pick(this.#site.apis).service?.port;
    if (port === undefined) throw new Error('nobody listens');
    const origin = `http://127.0.0.1:${port}`;
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(session === undefined ? {} : { ...inHalves(session), origin }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: (await response.json()) as Told['body'] };
  }
}
