import type { Eraser } from '../base/whole_person.ts';
import { walkPages } from '../base/pages.ts';
import {
  cancelRuns,
  deleteEnrollments,
  deleteLogs,
  deleteMerges,
  deleteRefusals,
  listRunIds,
  replaceKeys,
} from './erase_queries.ts';
import type { RunId } from './erase_queries.ts';
import { deleteWaits } from './wait_queries.ts';

/** How many runs one transaction of an erase looks at. */
const ERASE_RUNS_MAX = 500;

/**
 * Ends a person's runs, and removes what was decided in them and what they were enrolled by. The runs stay: they count
 * for an automation.
 */
export const eraser: Eraser = {
  erase: async ({ identities }, inStep) => {
    const identityIds = identities.map(({ identity_id }) => identity_id);
    await inStep(async (scope) => {
      await deleteRefusals(scope, identityIds);
      return { rows: {}, value: null };
    });
    const eraseEnrollments = () =>
      inStep(async (scope) => {
        const enrolled = await deleteEnrollments(scope, identityIds, ERASE_RUNS_MAX);
        return { rows: { 'automations.enrollments': enrolled }, value: enrolled };
      });
    while ((await eraseEnrollments()) === ERASE_RUNS_MAX);
    await walkPages<RunId>(ERASE_RUNS_MAX, (last) =>
      inStep(async (scope) => {
        const runs = await listRunIds(scope, identityIds, { last, limit: ERASE_RUNS_MAX });
        const ids = runs.map(({ run_id }) => run_id);
        await deleteWaits(scope, ids);
        await deleteMerges(scope, ids);
        const rows = {
          'automations.runs': (await cancelRuns(scope, ids)) + (await replaceKeys(scope, ids)),
          'automations.run_log': await deleteLogs(scope, ids),
        };
        return { rows, value: runs };
      }),
    );
  },
};
