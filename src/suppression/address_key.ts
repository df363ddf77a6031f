import type { Scope } from '../base/db.ts';
import { mailboxOf, normaliseEmail } from '../base/email_address.ts';

/** Returns the key of an address in tables: a keyed hash of project and address, which outlives an erase unread. */
export const addressKey = (
  { keys, projectId }: Pick<Scope, 'keys' | 'projectId'>,
  email: string,
): Buffer => keys.hash('address-hash', `${projectId} ${normaliseEmail(email)}`);

/** Returns the key of the mailbox that an address leads to: that of its plainest address. */
export const mailboxKey = (scope: Pick<Scope, 'keys' | 'projectId'>, email: string): Buffer =>
  addressKey(scope, mailboxOf(email));
