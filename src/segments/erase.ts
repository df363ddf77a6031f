import type { Eraser, InStep } from '../base/whole_person.ts';
import { deleteImportedOf } from './import_queries.ts';
import { deleteCountersOf, deleteHistoryOf, deleteMembershipsOf } from './erase_queries.ts';

/** How many rows one transaction of an erase removes. */
const ERASE_ROWS_MAX = 2_000;

type Delete = Parameters<InStep>[0];

/** Removes page after page of a table. */
const eraseAll = async (inStep: InStep, step: Delete): Promise<void> => {
  while ((await inStep(step)) === ERASE_ROWS_MAX);
};

/**
 * Takes a person out of every segment, with the history of that and what was counted of them. What is
 * written after these steps goes with the rows of identity and profile at the end.
 */
export const eraser: Eraser = {
  erase: async ({ identities, profileIds }, inStep) => {
    const ids = identities.map(({ identity_id }) => identity_id);
    await inStep(async (scope) => {
      const members = await deleteMembershipsOf(scope, profileIds);
      return { rows: { 'segments.members': members }, value: undefined };
    });
    await inStep(async (scope) => {
      const imported = await deleteImportedOf(scope, ids);
      return { rows: { 'segments.imported': imported }, value: undefined };
    });
    await eraseAll(inStep, async (scope) => {
      const history = await deleteHistoryOf(scope, profileIds, ERASE_ROWS_MAX);
      return { rows: { 'segments.history': history }, value: history };
    });
    await eraseAll(inStep, async (scope) => {
      const counters = await deleteCountersOf(scope, ids, ERASE_ROWS_MAX);
      return { rows: { 'segments.counters': counters }, value: counters };
    });
  },
};
