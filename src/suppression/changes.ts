import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { readAddressState } from './listing.ts';
import { IMPORT_ADDRESSES_MAX } from './schema.ts';
import {
  addImport,
  addressKey,
  lift,
  listImportedEmails,
  resubscribe,
  suppress,
  takeImportBack,
  unsubscribe,
} from './suppression.ts';
import type { Import, ImportItem, Lift, Said } from './suppression.ts';

/** Somebody unsubscribed, and who said so. */
export type Left = { addressKey: Buffer; email: string | null; by: string };

/** What this room's doors hand in of rooms that it does not ask. */
export type Others = {
  /** Runs a change together with what follows for the people who have the addresses. */
  changeAddresses: <T>(
    scope: Scope,
    emails: readonly string[],
    change: (scope: Scope) => Promise<T>,
  ) => Promise<T>;
  /** Puts it on the timelines of those people. */
  observeUnsubscribed: (scope: Scope, left: Left) => Promise<void>;
  /** Wakes whoever works on what was put there, after the commit. */
  wake: (deps: Deps, projectId: string) => void;
};

type Where = { deps: Deps; projectId: string };
type Work = (scope: Scope) => Promise<unknown>;

/** What people with a server key or the Console may do about addresses. Each answers how the address stands then. */
export const changesOf = ({ changeAddresses, observeUnsubscribed, wake }: Others) => {
  const one = ({ deps, projectId }: Where, email: string, work: Work) =>
    inProject(deps, projectId, async (scope) => {
      await changeAddresses(scope, [email], work);
      return readAddressState(scope, email);
    });

  return {
    suppress: (where: Where, said: Said) =>
      one(where, said.email, (scope) => suppress(scope, { ...said, reason: 'manual' })),

    lift: (where: Where, said: Lift) => one(where, said.email, (scope) => lift(scope, said)),

    unsubscribe: async (where: Where, said: Said) => {
      const { deps, projectId } = where;
      const { email, source: by } = said;
      const { isNew, state } = await inProject(deps, projectId, async (scope) => ({
        isNew: await changeAddresses(scope, [email], async (inner) => {
          if (!(await unsubscribe(inner, said))) return false;
          await observeUnsubscribed(inner, { addressKey: addressKey(inner, email), email, by });
          return true;
        }),
        state: await readAddressState(scope, email),
      }));
      if (isNew) wake(deps, projectId);
      return state;
    },

    resubscribe: (where: Where, said: Said) =>
      one(where, said.email, (scope) => resubscribe(scope, said)),

    /** Answers of how many addresses the import's word was new. */
    addImport: ({ deps, projectId }: Where, told: Import, items: readonly ImportItem[]) => {
      const emails = items.map(({ email }) => email);
      return inProject(deps, projectId, (scope) =>
        changeAddresses(scope, emails, (inner) => addImport(inner, told, items)),
      );
    },

    /** Answers how many of its addresses are free then. */
    undoImport: ({ deps, projectId }: Where, told: { importId: string; source: string }) =>
      inProject(deps, projectId, async (scope) => {
        const { emails } = await listImportedEmails(scope, told.importId, IMPORT_ADDRESSES_MAX);
        return changeAddresses(scope, emails, (inner) =>
          takeImportBack(inner, told, IMPORT_ADDRESSES_MAX),
        );
      }),
  };
};
export type Changes = ReturnType<typeof changesOf>;
