import type { Eraser } from '../base/whole_person.ts';
import { eraseNotices } from './queries.ts';

/** How many notices one transaction of an erase overwrites. */
const ERASE_NOTICES_MAX = 500;

/** Takes out of notices whom they were about, and what the provider wrote. */
export const eraser: Eraser = {
  eraseAddresses: async (scope, addressKeys) => {
    const erased = await eraseNotices(scope, addressKeys, ERASE_NOTICES_MAX);
    return { rows: { 'feedback.notices': erased }, isAll: erased < ERASE_NOTICES_MAX };
  },
};
