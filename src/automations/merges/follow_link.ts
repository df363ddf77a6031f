import type { Scope } from '../../base/db.ts';
import type { Hint } from '../../base/hints.ts';
import * as profiles from '../../profiles/profiles.ts';
import { advanceHint } from '../advance.ts';
import { wakeDates, wakeWaiting } from '../wait_queries.ts';
import { mergeHint } from './merge_hint.ts';
import { hasRuns, insertPending } from './pending_queries.ts';

/**
 * Follows an identity that joined a person, or left one, in the transaction of the link or the undo. Wakes the runs of
 * the person that wait for anything: what the identity did since they began counts for them now. An undo wakes only
 * those that wait for a date. Has the runs compared
 * by a job, where the identity was ever enrolled. Until then they wait, so that no email overtakes the comparison.
 */
export const followLink = async (
  scope: Scope,
  { anonymousId, ownProfileId, joined, left, isOfPage }: profiles.MovedIdentity,
): Promise<Hint[]> => {
  const members = await profiles.listMembers(scope, [joined]);
  const moved = members.find(({ kind, value }) => kind === 'anonymous' && value === anonymousId);
  const hints: Hint[] = [];
  if (moved && (await hasRuns(scope, moved.identity_id))) {
    const isUndo = left !== ownProfileId;
    const concerned = isUndo ? [joined, left] : [joined];
    await insertPending(scope, concerned, { isUndo });
    const lane = isOfPage ? 'page' : 'server';
    hints.push(...concerned.map((profileId) => mergeHint(scope.projectId, profileId, lane)));
  }
  const identityIds = members.map(({ identity_id }) => identity_id);
  // After an undo the traits of the identity are its own again, and so are its dates.
  const wake = joined === ownProfileId ? wakeDates : wakeWaiting;
  const woken = await wake(scope, identityIds);
  return woken.length > 0 ? [...hints, advanceHint(scope.projectId)] : hints;
};
