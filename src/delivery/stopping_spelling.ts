import type { Scope } from '../base/db.ts';
import * as suppression from '../suppression/suppression.ts';
import { findStoppingKey } from './spelling_queries.ts';

/**
 * Returns the spelling of the recipient's mailbox that stops a browser-triggered send by now; `email` is null once it
 * is erased. Null where the send's own address stops it, or nothing does any more.
 */
export const findStoppingSpelling = async (
  scope: Scope,
  sendId: string,
): Promise<{ email: string | null } | null> => {
  const found = await findStoppingKey(scope, sendId);
  return found && { email: await suppression.readAddress(scope, found.address_key) };
};
