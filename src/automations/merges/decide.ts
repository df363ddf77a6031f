import type { ReEntry } from '../schema.ts';
import { findBlocking, isOlder, MERGED } from './rule.ts';
import type { OtherRun } from './rule.ts';

/** A run, and whether it ended as merged and may continue. */
export type Candidate = OtherRun & {
  isOpen: boolean;
  /** The run that it was merged into; null where it was not merged, or cannot continue. */
  mergedInto: string | null;
};

/** A run, and the older run of its person. */
export type Merge = { runId: string; intoRunId: string };

/** What changes about some runs of a person. */
export type Decisions = {
  /** Runs that end as merged. */
  merges: Merge[];
  /** Runs that stay merged, now into another run. */
  moves: Merge[];
  /** Runs that continue, and the run that each was merged into. */
  restores: Merge[];
};

type Rules<Run> = {
  reEntryOf: (run: Run) => ReEntry;
  /** The other runs of the person in the automation of a run. */
  othersOf: (run: Run) => readonly OtherRun[];
};

/**
 * Decides which runs of a person end as merged, and which merged runs continue. The oldest comes first, and what is
 * decided of it counts for those after it. The same runs give the same decisions, however often they are asked.
 */
export const decideMerges = <Run extends Candidate>(
  runs: readonly Run[],
  { reEntryOf, othersOf }: Rules<Run>,
): Decisions => {
  const decided: Decisions = { merges: [], moves: [], restores: [] };
  const outcomes = new Map<string, string | null>();
  const asDecided = (other: OtherRun): OtherRun =>
    outcomes.has(other.run_id) ? { ...other, outcome: outcomes.get(other.run_id) ?? null } : other;
  for (const run of runs.toSorted((a, b) => (isOlder(a, b) ? -1 : 1))) {
    if (!run.isOpen && run.mergedInto === null) continue;
    const blocking = findBlocking(reEntryOf(run), run, othersOf(run).map(asDecided));
    const { run_id: runId, mergedInto } = run;
    if (blocking === null) {
      if (mergedInto === null) continue;
      decided.restores.push({ runId, intoRunId: mergedInto });
      outcomes.set(runId, null);
    } else if (run.isOpen) {
      decided.merges.push({ runId, intoRunId: blocking.run_id });
      outcomes.set(runId, MERGED);
    } else if (blocking.run_id !== mergedInto)
      decided.moves.push({ runId, intoRunId: blocking.run_id });
  }
  return decided;
};
