import type { Scope } from '../../base/db.ts';
import { readDefinitions } from '../definitions.ts';
import { readClock } from '../run_queries.ts';
import type { DueRun } from '../due_queries.ts';
import { commonSteps } from './common_steps.ts';
import { moveRuns } from './run_queries.ts';

/**
 * Moves those of some claimed runs that a move concerns whose pieces have not come to them yet: a command counts for
 * every person from its moment on. Returns the runs as they are then.
 */
export const moveClaimed = async (scope: Scope, runs: readonly DueRun[]): Promise<DueRun[]> => {
  const concerned = runs.flatMap((run) =>
    run.moves_to === null ? [] : [run, { ...run, version: run.moves_to }],
  );
  if (concerned.length === 0) return [...runs];
  const definitionOf = await readDefinitions(scope, concerned);
  const isMoved = (run: DueRun, to: number): boolean =>
    run.version !== to &&
    commonSteps(definitionOf(run), definitionOf({ ...run, version: to })).includes(run.step_id);
  const movedTo = new Map<number, string[]>();
  const moved = runs.map((run) => {
    const { moves_to: to, run_id: runId } = run;
    if (to === null || !isMoved(run, to)) return run;
    movedTo.set(to, [...(movedTo.get(to) ?? []), runId]);
    return { ...run, version: to };
  });
  const now = await readClock(scope);
  for (const [to, runIds] of movedTo) await moveRuns(scope, runIds, { to, now });
  return moved;
};
