import type { Eraser } from '../base/whole_person.ts';
import { walkPages } from '../base/pages.ts';
import { cancelRuns, deleteLogs, listRunsOf } from './erase_queries.ts';
import type { Run } from './erase_queries.ts';

/** How many runs one transaction of an erase looks at. */
const ERASE_RUNS_MAX = 500;

/** Ends a person's runs and removes what was decided in them; the runs stay, as counts of an automation. */
export const eraser: Eraser = {
  erase: async ({ identities }, inStep) => {
    for (const { identity_id } of identities) {
      await walkPages<Run>(ERASE_RUNS_MAX, (last) =>
        inStep(async (scope) => {
          const page = { after: last?.run_id ?? null, limit: ERASE_RUNS_MAX };
          const runs = await listRunsOf(scope, identity_id, page);
          const ids = runs.map(({ run_id }) => run_id);
          const rows = {
            'automations.runs': await cancelRuns(scope, ids),
            'automations.run_log': await deleteLogs(scope, ids),
          };
          return { rows, value: runs };
        }),
      );
    }
  },
};
