import type { Eraser } from '../base/whole_person.ts';
import { walkPages } from '../base/pages.ts';
import {
  cancelRuns,
  deleteLogs,
  deleteMerges,
  deleteRefusals,
  listRunIds,
} from './erase_queries.ts';
import type { RunId } from './erase_queries.ts';
import { deleteWaits } from './wait_queries.ts';

/** How many runs one transaction of an erase looks at. */
const ERASE_RUNS_MAX = 500;

/** Ends a person's runs and removes what was decided in them; the runs stay, as counts of an automation. */
export const eraser: Eraser = {
  erase: async ({ identities }, inStep) => {
    const identityIds = identities.map(({ identity_id }) => identity_id);
    await inStep(async (scope) => {
      await deleteRefusals(scope, identityIds);
      return { rows: {}, value: null };
    });
    await walkPages<RunId>(ERASE_RUNS_MAX, (last) =>
      inStep(async (scope) => {
        const runs = await listRunIds(scope, identityIds, { last, limit: ERASE_RUNS_MAX });
        const ids = runs.map(({ run_id }) => run_id);
        await deleteWaits(scope, ids);
        await deleteMerges(scope, ids);
        const rows = {
          'automations.runs': await cancelRuns(scope, ids),
          'automations.run_log': await deleteLogs(scope, ids),
        };
        return { rows, value: runs };
      }),
    );
  },
};
