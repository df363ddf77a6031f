import type { Family } from './family.ts';
import type { Goal } from './step_schema.ts';
import type { Virtual } from './virtual.ts';
import type { Run } from './world.ts';

const findNext = (family: Family, run: Run, awaited: Goal, after: Date): Promise<Date | null> =>
  'segment_id' in awaited
    ? family.nextEntry(run, awaited.segment_id, after)
    : family.nextEvent(run, awaited, after);

/** When the run goes on: at its time, or with the first that wakes it before. */
export const findWake = async (
  family: Family,
  { run, follows }: Pick<Virtual, 'run' | 'follows'>,
  { awaited, until, after }: { awaited: readonly Goal[]; until: Date; after: Date },
): Promise<Date> => {
  const wakes = [until];
  if (awaited.length > 0) wakes.push(family.nextLink(after) ?? until);
  if (follows.length > 0) wakes.push(family.nextRelink(after) ?? until);
  for (const one of awaited) wakes.push((await findNext(family, run, one, after)) ?? until);
  return new Date(Math.min(...wakes.map((at) => at.getTime())));
};

/** Whether a run begins to wait for something: then it looks once more, as one that is live does. */
export const beginsToWait = (
  { run, waits }: Virtual,
  { stepId, hasMatch, hasGoal }: { stepId: string; hasMatch: boolean; hasGoal: boolean },
): boolean => {
  if (stepId !== run.step_id) waits.stepId = null;
  const isNew = (hasGoal && !waits.goal) || (hasMatch && waits.stepId !== stepId);
  waits.goal ||= hasGoal;
  if (hasMatch) waits.stepId = stepId;
  return isNew;
};
