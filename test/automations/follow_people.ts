// Does what jobs do once people changed: compares the runs of people who were linked, and wakes runs whose dates moved.
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import type { TestDatabase } from '../support/database.ts';

export const followPeople = async (
  { owner, deps }: TestDatabase,
  projectId: string,
): Promise<void> => {
  const { rows } = await owner.query<{ profile_id: string }>(
    'select profile_id from automations.pending_merges where project_id = $1 order by profile_id',
    [projectId],
  );
  for (const { profile_id } of rows)
    while (
      (await inProject(deps, projectId, (scope) => automations.settleMerges(scope, profile_id)))
        .isMore
    );
  while ((await inProject(deps, projectId, automations.followDates)).isMore);
};
