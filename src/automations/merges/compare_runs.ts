import { inProject } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { giveHints } from '../../base/hints.ts';
import { advanceHint } from '../advance.ts';
import { mergeHint } from './merge_hint.ts';
import type { MergeLane } from './merge_hint.ts';
import { settleMerges } from './settle.ts';

type Comparison = { projectId: string; profileId: string; lane: MergeLane };

/** Compares a part of the runs of a person. Safe to repeat: how far it is is kept with what it did. */
export const compareRuns = async (
  deps: Pick<Deps, 'db' | 'keys' | 'log'>,
  { projectId, profileId, lane }: Comparison,
): Promise<void> => {
  const { isMore } = await inProject(deps, projectId, (scope) => settleMerges(scope, profileId));
  await giveHints(deps, [isMore ? mergeHint(projectId, profileId, lane) : advanceHint(projectId)]);
};
