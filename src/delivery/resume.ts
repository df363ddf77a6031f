import { inInstallation, inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { countTimeline, holdSending, readSending, resumeSending } from '../base/sending.ts';
import { everyProject } from '../projects/projects.ts';
import { holdRestored } from './sweep_queries.ts';

/** What becomes of what was due before a backup was restored: it may have been sent in the time the backup lacks. */
export const OVERDUE = ['skip', 'send'] as const;
/** Whether a failover to a standby holds sending as a restore does. */
export const FAILOVERS = ['trusted', 'held'] as const;

export type Resuming = {
  overdue: (typeof OVERDUE)[number];
  /** Null: as it was said before. */
  failover: (typeof FAILOVERS)[number] | null;
};
export type Resumed = {
  /** Whether sending was held at all. */
  was_held: boolean;
  /** How many sends that waited are unknown from here on. */
  unknown: number;
};

type ResumeDeps = Pick<Deps, 'db' | 'keys' | 'audit'>;

/** What may have been handed over after the backup was made is unknown from here on. Answers how many. */
const holdAll = async (deps: ResumeDeps, restoredAt: Date): Promise<number> => {
  let count = 0;
  for await (const projectId of everyProject(deps)) {
    let held: number;
    do {
      held = await inProject(deps, projectId, (scope) => holdRestored(scope, restoredAt));
      count += held;
    } while (held > 0);
  }
  return count;
};

/**
 * Lets mail leave the house again. Of what was due before, `skip` makes sends unknown and steps overdue, `send` has
 * them done. Once more is the same: where nothing is held any more, only what is said of failovers counts.
 */
export const resume = async (
  deps: ResumeDeps,
  { overdue, failover }: Resuming,
): Promise<Resumed> => {
  const countsTimeline = failover === null ? null : failover === 'held';
  if (!(await readSending(deps.db)).is_held) {
    if (countsTimeline !== null)
      await inInstallation(deps, (tx) => countTimeline(tx, countsTimeline));
    return { was_held: false, unknown: 0 };
  }
  const restoredAt = overdue === 'skip' ? await inInstallation(deps, holdSending) : null;
  const unknown = restoredAt ? await holdAll(deps, restoredAt) : 0;
  await inInstallation(deps, (tx) => resumeSending(tx, { restoredAt, countsTimeline }));
  return { was_held: true, unknown };
};
