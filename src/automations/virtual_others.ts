import { isSameEmail } from '../base/email_address.ts';
import { areExclusive, isOlder } from './merges/rule.ts';
import type { OtherRun } from './merges/rule.ts';
import type { Past, Virtual } from './virtual.ts';

/** Returns what the re-entry rule compares of a run of the past. */
export const toEnrollment = ({ run, entryKey, outcome }: Virtual): OtherRun => ({
  run_id: run.run_id,
  identity_id: run.identity_id,
  started_at: run.started_at,
  entry_key: entryKey,
  outcome: outcome === 'inside' ? null : outcome,
});

/** Lists the runs of the person that a run belongs to now, with the run itself. */
export const listRunsOfPerson = (
  { run }: Virtual,
  { family, runs, clock }: Pick<Past, 'family' | 'runs' | 'clock'>,
): readonly Virtual[] => {
  const members = family.personAt(run, clock.now)?.members ?? [];
  const ids = new Set(members.map(({ identity_id }) => identity_id));
  return runs.filter((one) => ids.has(one.run.identity_id));
};

type Email = { stepId: string; to: string };

/** Finds the email of a step that another run of the person sent in the place of a run. */
export const findSent = (
  virtual: Virtual,
  past: Past,
  { stepId, to }: Email,
): { runId: string; sendId: string } | null => {
  const { re_entry: reEntry } = virtual.run.definition.settings;
  if (reEntry === 'every_time') return null;
  const own = toEnrollment(virtual);
  const others = listRunsOfPerson(virtual, past).filter((other) =>
    areExclusive(reEntry, own, toEnrollment(other)),
  );
  const taken = ({ run, sent }: Virtual) =>
    sent
      .filter((one) => one.stepId === stepId && one.isTaken)
      .map((one) => ({ runId: run.run_id, ...one }));
  const instead = virtual.undone.flatMap(({ intoRunId, from, until }) =>
    past.runs
      .filter(({ run }) => run.run_id === intoRunId)
      .flatMap(taken)
      .filter((one) => one.at >= from && one.at <= until)
      .filter((one) => isSameEmail(one.to, to)),
  );
  const [found] = [...others.flatMap(taken), ...instead];
  return found ? { runId: found.runId, sendId: found.sendId } : null;
};

/** Whether a decision chose an arm of a split. */
const isOfSplit = (decision: string): boolean => decision === 'split' || decision === 'held_out';

/** Returns the profile by which the arm of a split is chosen: as for a run that is live. */
export const findArm = (virtual: Virtual, past: Past, stepId: string): string => {
  const { family, clock } = past;
  const person = family.personAt(virtual.run, clock.now);
  const ownOf = ({ run }: Virtual) =>
    family.people.identify(run.identity_id)?.own_profile_id ?? person?.profileId ?? '';
  if ((person?.members.length ?? 0) < 2) return person?.profileId ?? '';
  const runs = listRunsOfPerson(virtual, past).toSorted((a, b) =>
    isOlder(toEnrollment(a), toEnrollment(b)) ? -1 : 1,
  );
  for (const one of runs) {
    const passed = one.log.find((logged) => logged.stepId === stepId && isOfSplit(logged.decision));
    if (passed) return passed.detail['profile_id'] ?? ownOf(one);
  }
  return ownOf(runs[0] ?? virtual);
};
