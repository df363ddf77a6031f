import type { Scope } from '../base/db.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import {
  eraseAddresses,
  findSuppressed,
  holdAddress,
  holdAddresses,
  listChanges,
  listSuppressed,
  listSuppressionReasons,
  suppressAddress,
} from './queries.ts';
import type { Listed, Suppressed, SuppressionReason } from './queries.ts';

export { eraseAddresses, findSuppressed, holdAddress, holdAddresses };
export { listChanges, listSuppressed };
export type { Listed, Suppressed, SuppressionReason };

/** What an address is called in tables: a keyed hash of project and address, so that it outlives an erase unread. */
export const addressKey = ({ keys, projectId }: Scope, email: string): Buffer =>
  keys.hash('address-hash', `${projectId} ${normaliseEmail(email)}`);

/** Puts an address on the list. Once the transaction has committed, no hand-off to it begins. */
export const suppress = async (
  scope: Scope,
  { email, reason, source }: { email: string; reason: SuppressionReason; source: string },
): Promise<void> => {
  await suppressAddress(scope, {
    addressKey: addressKey(scope, email),
    email,
    historyId: newId(),
    reason,
    source,
  });
};

/** Whether the address is on the list now. A hand-off asks `suppression.is_suppressed` instead, under a lock. */
export const isOnList = async (scope: Scope, email: string): Promise<boolean> =>
  (await findSuppressed(scope, addressKey(scope, email))) !== null;

/** What an address was suppressed for, in a fixed order; nothing when it is not. */
export const listReasons = async (scope: Scope, email: string): Promise<SuppressionReason[]> => {
  const rows = await listSuppressionReasons(scope, addressKey(scope, email));
  return rows.map(({ reason }) => reason);
};
