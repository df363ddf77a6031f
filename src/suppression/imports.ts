import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { addressKey } from './address_key.ts';
import { countFree, importAddresses, listImported, undoImport } from './change_queries.ts';
import type { SuppressionReason } from './queries.ts';

export type Import = { importId: string; source: string; note: string | null };
export type ImportItem = { email: string; reason: SuppressionReason | 'unsubscribed' };

/**
 * Says an import's word of each address: it adds, and never lifts or weakens. Answers of how many it was
 * new; the same import again adds nothing.
 */
export const addImport = (scope: Scope, told: Import, items: readonly ImportItem[]) => {
  const rows = items.map(({ email, reason }) => ({
    addressKey: addressKey(scope, email),
    email,
    reason,
    historyId: newId(),
  }));
  return importAddresses(scope, told, rows);
};

/** How the addresses of an import read, where they still do. */
export const listImportedEmails = async (
  scope: Scope,
  importId: string,
  addressesMax: number,
): Promise<{ count: number; emails: string[] }> => {
  const rows = await listImported(scope, importId, addressesMax);
  return { count: rows.length, emails: rows.flatMap(({ email }) => email ?? []) };
};

/** Takes an import back: whoever was named by anybody else stays. Answers how many of its addresses are free then. */
export const takeImportBack = async (
  scope: Scope,
  told: { importId: string; source: string },
  addressesMax: number,
): Promise<number> => {
  const rows = await listImported(scope, told.importId, addressesMax);
  const changes = rows.map(({ address_key }) => ({ addressKey: address_key, historyId: newId() }));
  await undoImport(scope, told, changes);
  return countFree(scope, told.importId);
};
