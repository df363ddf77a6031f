import type { Eraser } from '../base/whole_person.ts';
import { eraseNotices } from './queries.ts';

/** How many notices one transaction of an erase overwrites. */
const ERASE_NOTICES_MAX = 500;

/** Takes out of notices whom they were about, and what the provider wrote. */
export const eraser: Eraser = {
  erase: async ({ addressKeys }, inStep) => {
    for (const addressKey of addressKeys) {
      const eraseSome = () =>
        inStep(async (scope) => {
          const erased = await eraseNotices(scope, addressKey, ERASE_NOTICES_MAX);
          return { rows: { 'feedback.notices': erased }, value: erased === ERASE_NOTICES_MAX };
        });
      while (await eraseSome());
    }
  },
};
