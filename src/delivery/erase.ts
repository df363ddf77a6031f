import type { Scope } from '../base/db.ts';
import type { WholePerson, Eraser, InStep, RowCounts } from '../base/whole_person.ts';
import { walkPages } from '../base/pages.ts';
import { deleteContents, eraseSends, listSendsOf } from './erase_queries.ts';
import type { Owner, SendOf } from './erase_queries.ts';

/** How many sends one transaction of an erase looks at. */
const ERASE_SENDS_MAX = 500;

/** Does something about every send, a page per step. */
const eachPage = (
  owner: Owner,
  inStep: InStep,
  work: (scope: Scope, sends: readonly SendOf[]) => Promise<RowCounts>,
): Promise<void> =>
  walkPages<SendOf>(ERASE_SENDS_MAX, (last) =>
    inStep(async (scope) => {
      const page = { after: last?.send_id ?? null, limit: ERASE_SENDS_MAX };
      const sends = await listSendsOf(scope, owner, page);
      return { rows: await work(scope, sends), value: sends };
    }),
  );

const ownersOf = ({ profileIds, addressKeys }: WholePerson): Owner[] => [
  ...profileIds.map((profileId) => ({ profileId })),
  ...addressKeys.map((addressKey) => ({ addressKey })),
];

/** Cancels what waits to be sent to a person, and takes them out of what was. */
export const eraser: Eraser = {
  noteAddresses: async ({ profileIds }, inStep, note) => {
    for (const profileId of profileIds) {
      await eachPage({ profileId }, inStep, async (scope, sends) => {
        await note(
          scope,
          sends.flatMap(({ recipient }) => recipient ?? []),
        );
        return {};
      });
    }
  },

  erase: async (person, inStep) => {
    for (const owner of ownersOf(person)) {
      await eachPage(owner, inStep, async (scope, sends) => {
        const ids = sends.map(({ send_id }) => send_id);
        return {
          'delivery.sends': await eraseSends(scope, ids),
          'delivery.contents': await deleteContents(scope, ids),
        };
      });
    }
  },
};
