import { isSameEmail } from '../base/email_address.ts';
import { decideMerges } from './merges/decide.ts';
import type { Candidate, Merge } from './merges/decide.ts';
import { MERGED } from './merges/rule.ts';
import { listRunsOfPerson, toEnrollment } from './virtual_others.ts';
import type { Past, Virtual } from './virtual.ts';

const addDecision = (
  virtual: Virtual,
  at: Date,
  {
    stepId,
    decision,
    detail,
  }: { stepId: string; decision: string; detail: Record<string, string> },
): void => {
  virtual.log.push({ stepId, decision, detail, at });
  virtual.run = { ...virtual.run, entries: virtual.run.entries + 1 };
};

const endMerged = (virtual: Virtual, { intoRunId }: Merge, at: Date): void => {
  const detail = { other_run_id: intoRunId };
  addDecision(virtual, at, { stepId: virtual.run.step_id, decision: MERGED, detail });
  virtual.merged = { intoRunId, at, wakeAt: virtual.dueAt ?? virtual.wakeAt };
  virtual.wakeAt = null;
  virtual.dueAt = null;
  virtual.outcome = MERGED;
  virtual.waits = { goal: false, stepId: null };
};

const closeMerge = (virtual: Virtual, until: Date): void => {
  if (virtual.merged === null) return;
  const { intoRunId, at: from } = virtual.merged;
  virtual.undone.push({ intoRunId, from, until });
};

const moveMerged = (virtual: Virtual, { intoRunId }: Merge, at: Date): void => {
  const { merged } = virtual;
  if (merged === null) return;
  closeMerge(virtual, at);
  virtual.merged = { ...merged, intoRunId, at };
  const detail = { other_run_id: intoRunId };
  addDecision(virtual, at, { stepId: virtual.run.step_id, decision: MERGED, detail });
};

/** The emails that a log names as sent by another run, or as not restored. */
const listNamed = ({ log }: Virtual, decision: string) =>
  log.filter((one) => one.decision === decision);

const isNotRestored = (virtual: Virtual, sendId: string): boolean =>
  listNamed(virtual, 'not_restored').some(({ detail }) => detail['about_send_id'] === sendId);

const restore = async (virtual: Virtual, { intoRunId }: Merge, past: Past): Promise<void> => {
  const { merged } = virtual;
  const { now: at } = past.clock;
  if (merged === null) return;
  closeMerge(virtual, at);
  virtual.merged = null;
  virtual.outcome = 'inside';
  virtual.wakeAt = at;
  virtual.dueAt = merged.wakeAt !== null && merged.wakeAt < at ? merged.wakeAt : null;
  const detail = { other_run_id: intoRunId };
  addDecision(virtual, at, { stepId: virtual.run.step_id, decision: 'restored', detail });
  const email = (await past.family.viewAt(virtual.run, at))?.email ?? null;
  const other = past.runs.find(({ run }) => run.run_id === intoRunId);
  for (const { stepId, sendId, to, isTaken, at: sentAt } of other?.sent ?? []) {
    if (!isTaken || sentAt < merged.at || !isSameEmail(to, email)) continue;
    if (isNotRestored(virtual, sendId)) continue;
    const about = { reason: 'email_sent', about_send_id: sendId, other_run_id: intoRunId };
    addDecision(virtual, at, { stepId, decision: 'not_restored', detail: about });
  }
};

/** Says which emails a run left out because a run sent them that belongs to another person again. */
const logLeftOut = (virtual: Virtual, past: Past): void => {
  const own = new Set(listRunsOfPerson(virtual, past).map(({ run }) => run.run_id));
  for (const { stepId, detail } of listNamed(virtual, 'sent_by_other_run')) {
    const { other_run_id: otherId = '', about_send_id: sendId = '' } = detail;
    if (own.has(otherId) || isNotRestored(virtual, sendId)) continue;
    const about = { reason: 'email_left_out', about_send_id: sendId, other_run_id: otherId };
    addDecision(virtual, past.clock.now, { stepId, decision: 'not_restored', detail: about });
  }
};

type Compared = Candidate & { virtual: Virtual };

const toCandidate = (virtual: Virtual): Compared => ({
  ...toEnrollment(virtual),
  isOpen: virtual.wakeAt !== null,
  mergedInto: virtual.merged?.intoRunId ?? null,
  virtual,
});

/** Compares the runs of a family after a link or an undo of the past: as a job does with those that are live. */
export const settleVirtual = async (past: Past): Promise<void> => {
  const { runs, clock } = past;
  const { merges, moves, restores } = decideMerges(runs.map(toCandidate), {
    reEntryOf: ({ virtual }) => virtual.run.definition.settings.re_entry,
    othersOf: ({ virtual }) => listRunsOfPerson(virtual, past).map(toEnrollment),
  });
  const find = ({ runId }: Merge) => runs.find(({ run }) => run.run_id === runId);
  for (const one of merges) {
    const virtual = find(one);
    if (virtual) endMerged(virtual, one, clock.now);
  }
  for (const one of moves) {
    const virtual = find(one);
    if (virtual) moveMerged(virtual, one, clock.now);
  }
  for (const one of restores) {
    const virtual = find(one);
    if (virtual) await restore(virtual, one, past);
  }
  for (const virtual of runs) logLeftOut(virtual, past);
};
