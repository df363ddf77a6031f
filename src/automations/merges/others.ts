import type { Scope } from '../../base/db.ts';
import { isSameEmail } from '../../base/email_address.ts';
import * as profiles from '../../profiles/profiles.ts';
import type { WalkedRun } from '../due_queries.ts';
import { remembered } from '../remembered.ts';
import { areExclusive, valueDigestOf } from './rule.ts';
import { listOtherRuns, listSplits, listUndoneMerges } from './run_queries.ts';
import type { RunOfPerson, OtherRow, SplitRow, UndoneMerge } from './run_queries.ts';
import { listSentOfRuns } from './send_queries.ts';
import type { RunSend } from './send_queries.ts';

type ProfileOf = ReadonlyMap<string, string>;
type Members = Awaited<ReturnType<typeof profiles.listMembers>>;

/** An email of a step, and the run that sent it. */
export type SentByOther = { runId: string; sendId: string };

const toRunOfPerson = (run: WalkedRun, profileId: string): RunOfPerson => ({
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
): boolean => at >= merged_at && at <= undone_at && isSameEmail(recipient, to);

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
  readonly #runsOfPeople: readonly RunOfPerson[];
  /** The runs whose re-entry rule may allow the person only one. */
  readonly #exclusive: ReadonlySet<string>;
  readonly #restored: readonly string[];
  readonly #members = remembered(() => this.#readMembers());
  readonly #runs = remembered(() => this.#readRuns());
  readonly #undone = remembered(() => this.#readUndone());
  readonly #sends = remembered(() => this.#readSends());
  readonly #splits = remembered(() => this.#readSplits());

  constructor(scope: Scope, runs: readonly WalkedRun[], profileOf: ProfileOf) {
    this.#scope = scope;
    this.#runsOfPeople = runs.flatMap((run) => {
      const profileId = profileOf.get(run.identity_id);
      return profileId === undefined ? [] : [toRunOfPerson(run, profileId)];
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
    const others = ((await this.#runs.get()).get(run.run_id) ?? []).filter((other) =>
      areExclusive(reEntry, run, other),
    );
    const undone = (await this.#undone.get()).get(run.run_id) ?? [];
    if (others.length + undone.length === 0) return null;
    const sends = await this.#sends.get();
    const sentBy = ({ run_id }: { run_id: string }) =>
      (sends.get(run_id) ?? []).filter((send) => send.step_id === stepId);
    const [found] = [
      ...others.flatMap(sentBy),
      ...undone.flatMap((merge) => sentBy(merge).filter((send) => wentInstead(merge, send, to))),
    ];
    return found ? { runId: found.run_id, sendId: found.send_id } : null;
  }

  /** Has the emails read again when the next run asks, because a run of the transaction sends one. */
  forgetSends(): void {
    this.#sends.forget();
  }

  /**
   * Returns the profile by which a person's arm of a split is chosen: the one of the first run that passed the split,
   * or of the first run. Null for a person with one identity.
   */
  async findArm(run: WalkedRun, stepId: string): Promise<string | null> {
    const rows = (await this.#splits.get()).get(run.run_id) ?? [];
    const passed = rows.find((row) => row.step_id === stepId);
    if (passed?.profile_id) return passed.profile_id;
    const ownerId = (passed ?? rows[0])?.identity_id;
    const owner = (await this.#members.get()).find(({ identity_id }) => identity_id === ownerId);
    return owner?.own_profile_id ?? null;
  }

  async #readMembers(): Promise<Members> {
    const profileIds = [...new Set(this.#runsOfPeople.map(({ profile_id }) => profile_id))];
    return withOthers(await profiles.listMembers(this.#scope, profileIds));
  }

  /** The runs of people with several identities, of those that are walked. */
  async #listWithOthers(): Promise<RunOfPerson[]> {
    const known = new Set((await this.#members.get()).map(({ profile_id }) => profile_id));
    return this.#runsOfPeople.filter(({ profile_id }) => known.has(profile_id));
  }

  async #readRuns(): Promise<Map<string, OtherRow[]>> {
    const asked = (await this.#listWithOthers()).filter(({ run_id }) =>
      this.#exclusive.has(run_id),
    );
    if (asked.length === 0) return new Map();
    return byRun(await listOtherRuns(this.#scope, asked, await this.#members.get()));
  }

  async #readUndone(): Promise<Map<string, UndoneMerge[]>> {
    if (this.#restored.length === 0) return new Map();
    return byRun(await listUndoneMerges(this.#scope, this.#restored));
  }

  async #readSends(): Promise<Map<string, RunSend[]>> {
    const others = [
      ...(await this.#runs.get()).values(),
      ...(await this.#undone.get()).values(),
    ].flat();
    const runIds = [...new Set(others.map(({ run_id }) => run_id))];
    return Map.groupBy(await listSentOfRuns(this.#scope, runIds), ({ run_id }) => run_id);
  }

  async #readSplits(): Promise<Map<string, SplitRow[]>> {
    const asked = await this.#listWithOthers();
    if (asked.length === 0) return new Map();
    return byRun(await listSplits(this.#scope, asked, await this.#members.get()));
  }
}
