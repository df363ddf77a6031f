import type { Scope } from '../../base/db.ts';
import { normaliseEmail } from '../../base/email_address.ts';
import * as profiles from '../../profiles/profiles.ts';
import { STOPPED } from '../past_queries.ts';
import type { DueRun } from '../run_queries.ts';
import type { Definition } from '../schema.ts';
import { areExclusive, valueDigestOf } from './rule.ts';
import { listOtherRuns, listSplits, listUndoneMerges } from './run_queries.ts';
import type { Asked, OtherRow, SplitRow, UndoneMerge } from './run_queries.ts';
import { listSendsOfRuns } from './send_queries.ts';
import type { RunSend } from './send_queries.ts';

type WalkedRun = DueRun & { definition: Definition };
type ProfileOf = ReadonlyMap<string, string>;
type Members = Awaited<ReturnType<typeof profiles.listMembers>>;

/** An email of a step, and the run that sent it. */
export type SentByOther = { runId: string; sendId: string };

const toAsked = (run: WalkedRun, profileId: string): Asked => ({
  run_id: run.run_id,
  automation_id: run.automation_id,
  identity_id: run.identity_id,
  profile_id: profileId,
  digest: valueDigestOf(run),
});

/** Whether an email went while a run was merged into the run that sent it, to the address that the run has now. */
const wentInstead = (
  { merged_at, undone_at }: UndoneMerge,
  { queued_at: at, recipient }: RunSend,
  to: string,
): boolean =>
  at >= merged_at &&
  at <= undone_at &&
  recipient !== null &&
  normaliseEmail(recipient) === normaliseEmail(to);

/** Asks for something once, and only once the first run needs it. */
const once = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: Promise<T> | null = null;
  return () => (answer ??= ask());
};

const byRun = <Row extends { of_run_id: string }>(rows: readonly Row[]): Map<string, Row[]> =>
  Map.groupBy(rows, ({ of_run_id }) => of_run_id);

/** The same for people with one identity costs one statement. */
const withOthers = (members: Members): Members => {
  const groups = Map.groupBy(members, ({ profile_id }) => profile_id);
  return members.filter(({ profile_id }) => (groups.get(profile_id)?.length ?? 0) > 1);
};

/**
 * What the other runs of their people did before the runs of one transaction, read for all of them in a few statements
 * once the first of them asks.
 */
export class Others {
  readonly #scope: Scope;
  readonly #asked: readonly Asked[];
  /** The runs whose re-entry rule may allow the person only one. */
  readonly #exclusive: ReadonlySet<string>;
  readonly #restored: readonly string[];
  readonly #members = once(() => this.#readMembers());
  readonly #runs = once(() => this.#readRuns());
  readonly #undone = once(() => this.#readUndone());
  readonly #sends = once(() => this.#readSends());
  readonly #splits = once(() => this.#readSplits());

  constructor(scope: Scope, runs: readonly WalkedRun[], profileOf: ProfileOf) {
    this.#scope = scope;
    this.#asked = runs.flatMap((run) => {
      const profileId = profileOf.get(run.identity_id);
      return profileId === undefined ? [] : [toAsked(run, profileId)];
    });
    const exclusive = runs.filter(
      ({ definition, is_test }) => definition.settings.re_entry !== 'every_time' && !is_test,
    );
    this.#exclusive = new Set(exclusive.map(({ run_id }) => run_id));
    this.#restored = exclusive.flatMap(({ run_id, was_merged }) => (was_merged ? [run_id] : []));
  }

  /** Finds the email of a step that another run of the person sent in the place of a run. */
  async findSent(run: WalkedRun, stepId: string, to: string): Promise<SentByOther | null> {
    if (!this.#exclusive.has(run.run_id)) return null;
    const { re_entry: reEntry } = run.definition.settings;
    const others = ((await this.#runs()).get(run.run_id) ?? []).filter((other) =>
      areExclusive(reEntry, run, other),
    );
    const undone = (await this.#undone()).get(run.run_id) ?? [];
    if (others.length + undone.length === 0) return null;
    const sends = await this.#sends();
    const sentBy = ({ run_id }: { run_id: string }) =>
      (sends.get(run_id) ?? []).filter((send) => send.step_id === stepId);
    const [found] = [
      ...others.flatMap(sentBy),
      ...undone.flatMap((merge) => sentBy(merge).filter((send) => wentInstead(merge, send, to))),
    ];
    return found ? { runId: found.run_id, sendId: found.send_id } : null;
  }

  /**
   * Returns the profile by which a person's arm of a split is chosen: the one of the first run that passed the split,
   * or of the first run. Null for a person with one identity.
   */
  async findArm(run: WalkedRun, stepId: string): Promise<string | null> {
    const rows = (await this.#splits()).get(run.run_id) ?? [];
    const passed = rows.find((row) => row.step_id === stepId);
    if (passed?.profile_id) return passed.profile_id;
    const ownerId = (passed ?? rows[0])?.identity_id;
    const owner = (await this.#members()).find(({ identity_id }) => identity_id === ownerId);
    return owner?.own_profile_id ?? null;
  }

  async #readMembers(): Promise<Members> {
    const profileIds = [...new Set(this.#asked.map(({ profile_id }) => profile_id))];
    return withOthers(await profiles.listMembers(this.#scope, profileIds));
  }

  /** The runs of people with several identities, as far as they are asked about. */
  async #listAsked(): Promise<Asked[]> {
    const known = new Set((await this.#members()).map(({ profile_id }) => profile_id));
    return this.#asked.filter(({ profile_id }) => known.has(profile_id));
  }

  async #readRuns(): Promise<Map<string, OtherRow[]>> {
    const asked = (await this.#listAsked()).filter(({ run_id }) => this.#exclusive.has(run_id));
    if (asked.length === 0) return new Map();
    return byRun(await listOtherRuns(this.#scope, asked, await this.#members()));
  }

  async #readUndone(): Promise<Map<string, UndoneMerge[]>> {
    if (this.#restored.length === 0) return new Map();
    return byRun(await listUndoneMerges(this.#scope, this.#restored));
  }

  async #readSends(): Promise<Map<string, RunSend[]>> {
    const others = [...(await this.#runs()).values(), ...(await this.#undone()).values()].flat();
    const runIds = [...new Set(others.map(({ run_id }) => run_id))];
    const sends = await listSendsOfRuns(this.#scope, runIds);
    return Map.groupBy(
      sends.filter(({ status }) => !STOPPED.includes(status)),
      ({ run_id }) => run_id,
    );
  }

  async #readSplits(): Promise<Map<string, SplitRow[]>> {
    const asked = await this.#listAsked();
    if (asked.length === 0) return new Map();
    return byRun(await listSplits(this.#scope, asked, await this.#members()));
  }
}
