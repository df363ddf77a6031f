import type { Scope } from '../base/db.ts';
import type { Eraser, InStep, Person, RowCounts } from '../base/whole_person.ts';
import { walkPages } from '../base/pages.ts';
import {
  deleteContents,
  eraseAnswers,
  eraseSends,
  listSendsOf,
  listSendsTo,
} from './erase_queries.ts';
import type { OwnerKind, SendOf } from './erase_queries.ts';

/** How many sends one transaction of an erase looks at. */
const ERASE_SENDS_MAX = 500;

const ownersOf = (person: Person, kind: OwnerKind) => ({
  kind,
  ids:
    kind === 'profile'
      ? person.profileIds
      : person.identities.map(({ identity_id }) => identity_id),
});

/** Does something about every send of owners, a page per step. */
const eachPage = (
  owners: ReturnType<typeof ownersOf>,
  inStep: InStep,
  work: (scope: Scope, sends: readonly SendOf[]) => Promise<RowCounts>,
): Promise<void> =>
  walkPages<SendOf>(ERASE_SENDS_MAX, (last) =>
    inStep(async (scope) => {
      const sends = await listSendsOf(scope, owners, { last, limit: ERASE_SENDS_MAX });
      return { rows: await work(scope, sends), value: sends };
    }),
  );

const eraseAll = async (scope: Scope, sendIds: string[]): Promise<RowCounts> => ({
  'delivery.sends': await eraseSends(scope, sendIds),
  'delivery.contents': await deleteContents(scope, sendIds),
  'delivery.attempts': await eraseAnswers(scope, sendIds),
});

/** Cancels what waits to be sent to a person, and takes them out of what was. */
export const eraser: Eraser = {
  // Of their profiles only: what was sent for a device while it was linked went to somebody else's address.
  noteAddresses: (person, inStep, note) =>
    eachPage(ownersOf(person, 'profile'), inStep, async (scope, sends) => {
      await note(
        scope,
        sends.flatMap(({ recipient }) => recipient ?? []),
      );
      return {};
    }),

  erase: async (person, inStep) => {
    for (const kind of ['profile', 'identity'] as const)
      await eachPage(ownersOf(person, kind), inStep, (scope, sends) =>
        eraseAll(
          scope,
          sends.map(({ send_id }) => send_id),
        ),
      );
  },

  eraseAddresses: async (scope, addressKeys) => {
    const ids = await listSendsTo(scope, addressKeys, ERASE_SENDS_MAX);
    return { rows: await eraseAll(scope, ids), isAll: ids.length < ERASE_SENDS_MAX };
  },
};
