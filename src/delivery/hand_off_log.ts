import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { isDatabaseDown } from '../base/database_errors.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { makeWaker } from '../base/hints.ts';
import { metricsOf } from '../base/metrics.ts';
import { Watchers } from '../base/watchers.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Bounce, TakeBounce } from './bounce.ts';
import { stepHandOffs } from './hand_off_queries.ts';
import type { Decision, HandOff, OutcomeRow } from './hand_off_queries.ts';
import { observeHint } from './observe.ts';

/** What an attempt came to is known here only: writing it is tried until nobody would believe it any more. */
const OUTCOME_TRIES_MS = [100, 500, 1_000, ...Array.from({ length: 40 }, () => 2_000)];

/**
 * How long a commit waits at most for hand-offs that are under way: what a commit costs by itself is most of it, and
 * providers take hundreds of times as long to answer.
 */
const GATHER_MS = 3;

/**
 * How many commits of one turn there are at a time: while one is made, providers answer to what the other began. More
 * would only make them smaller.
 */
export const COMMITS_AT_ONCE_MAX = 2;

type Begin = {
  row: HandOff;
  resolve: (decision: Decision) => void;
  reject: (error: unknown) => void;
};
type End = { row: OutcomeRow; resolve: () => void; reject: (error: unknown) => void };

/** Whether a send that was to begin may have ended instead. */
const isEnd = (decision: Decision): boolean => !['handing_off', 'queued'].includes(decision);

type LogDeps = Pick<Deps, 'db' | 'keys' | 'log' | 'resources'>;
type Write = () => Promise<unknown>;

/**
 * The two commits of each hand-off of one project. What the lanes of a turn want written while as many commits as may
 * be are under way is written together in the next: one for many, and no waiting when there is only one.
 */
export class HandOffLog {
  readonly #deps: LogDeps;
  readonly #projectId: string;
  readonly #takeBounce: TakeBounce;
  readonly #triesMs: readonly number[];
  readonly #gatherMs: number;
  /** The sends that have begun and not ended. */
  readonly #underWay = new Set<string>();
  readonly #watchers = new Watchers();
  #begins: Begin[] = [];
  /** The sends that commits under way are to begin. */
  readonly #writing = new Set<string>();
  #ends: End[] = [];
  #isGathering = false;
  #commits = 0;

  constructor(
    deps: LogDeps,
    projectId: string,
    takeBounce: TakeBounce,
    { triesMs = OUTCOME_TRIES_MS, gatherMs = GATHER_MS } = {},
  ) {
    this.#deps = deps;
    this.#projectId = projectId;
    this.#takeBounce = takeBounce;
    this.#triesMs = triesMs;
    this.#gatherMs = gatherMs;
  }

  /** Resolves once it is committed that the hand-off begins, or that it must not. */
  begin(row: HandOff): Promise<Decision> {
    const isTwice = ({ row: other }: Begin) => other.sendId === row.sendId;
    // A lease that ran out while a lane connected may have been claimed for another lane of ours.
    if (this.#begins.some(isTwice) || this.#writing.has(row.sendId)) return Promise.resolve('lost');
    return new Promise((resolve, reject) => {
      this.#begins.push({ row, resolve, reject });
      void this.#write();
    });
  }

  /** Resolves once it is committed what became of an attempt. */
  end(row: OutcomeRow): Promise<void> {
    this.#leave(row);
    return new Promise((resolve, reject) => {
      this.#ends.push({ row, resolve, reject });
      void this.#write();
    });
  }

  /**
   * The same of one that was a bounce, with what that calls for: in a commit of its own, as there are few. Where
   * that fails, and not the database, it is tried on; that the message was refused does not wait for it.
   */
  async endBounced(row: OutcomeRow, bounce: Bounce): Promise<void> {
    this.#leave(row);
    const endAlone = () => stepHandOffs(this.#deps.db, this.#projectId, [row], []);
    const endWhole = () =>
      inProject(this.#deps, this.#projectId, (scope) =>
        this.#takeBounce(scope, bounce, async ({ tx }) => {
          await stepHandOffs(tx, this.#projectId, [row], []);
        }),
      );
    const write = () =>
      endWhole().catch(async (error: unknown) => {
        if (!isDatabaseDown(error)) await endAlone();
        throw error;
      });
    await write()
      .catch((error: unknown) => this.#keep(row, write, error))
      .catch(async (err: unknown) => {
        const told = { err, send_id: row.sendId, trace_id: row.traceId };
        this.#deps.log.error(told, 'bounce has no effect');
        await endAlone();
      });
    this.#count(row);
    ingest.wake(this.#deps, this.#projectId);
    this.#wakeObserver();
  }

  #count({ outcome, reason }: OutcomeRow): void {
    metricsOf(this.#deps).sends.inc({ outcome, reason: reason ?? '' });
  }

  /** What ended comes onto its person's timeline, with what ends in the next moments. */
  #wakeObserver(): void {
    this.#deps.resources.of(makeWaker, this.#deps).wakeForMany(observeHint(this.#projectId));
  }

  async #write(): Promise<void> {
    if (this.#isGathering || this.#commits === COMMITS_AT_ONCE_MAX) return;
    this.#isGathering = true;
    // A lane that ends an attempt begins the next within the same turn of the event loop.
    await turn();
    // What is under way ends, and the next begins, in the same commit.
    await this.#watchers.when(() => this.#underWay.size === 0, this.#gatherMs);
    const [begins, ends] = [this.#begins, this.#ends];
    [this.#begins, this.#ends] = [[], []];
    for (const { row } of begins) this.#writing.add(row.sendId);
    this.#isGathering = false;
    this.#commits += 1;
    await this.#writeTogether(begins, ends);
    this.#commits -= 1;
    for (const { row } of begins) this.#writing.delete(row.sendId);
    if (this.#begins.length + this.#ends.length > 0) void this.#write();
  }

  #leave({ sendId }: OutcomeRow): void {
    this.#underWay.delete(sendId);
    // Whoever ends begins the next within the same turn of the event loop.
    if (this.#underWay.size === 0) setImmediate(() => this.#watchers.notify());
  }

  async #writeTogether(begins: Begin[], ends: End[]): Promise<void> {
    try {
      const outcomes = ends.map(({ row }) => row);
      const rows = begins.map(({ row }) => row);
      const decisions = await stepHandOffs(this.#deps.db, this.#projectId, outcomes, rows);
      for (const { row, resolve } of ends) {
        this.#count(row);
        resolve();
      }
      if (ends.length > 0 || [...decisions.values()].some(isEnd)) this.#wakeObserver();
      for (const { row, resolve } of begins) {
        const decision = decisions.get(row.sendId) ?? 'lost';
        if (decision === 'handing_off') this.#underWay.add(row.sendId);
        resolve(decision);
      }
    } catch (error) {
      // Outcomes are the same when they are written twice.
      for (const { row, resolve, reject } of ends) {
        const write = () => stepHandOffs(this.#deps.db, this.#projectId, [row], []);
        const kept = this.#keep(row, write, error).then(() => this.#count(row));
        kept.then(resolve, reject);
      }
      if (begins.length > 1 && !isDatabaseDown(error))
        for (const begin of begins) await this.#writeTogether([begin], []);
      // Whether it was committed is unknown.
      else for (const { reject } of begins) reject(error);
    }
  }

  /** Writes one outcome by itself, again and again. */
  async #keep({ sendId, traceId }: OutcomeRow, write: Write, first: unknown): Promise<void> {
    let error = first;
    const told = { err: error, send_id: sendId, trace_id: traceId };
    this.#deps.log.warn(told, 'outcome not written; trying again');
    for (const waitMs of this.#triesMs) {
      await wait(waitMs);
      try {
        await write();
        return;
      } catch (again) {
        error = again;
      }
    }
    throw error;
  }
}
