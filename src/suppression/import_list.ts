import { readCsv } from '../base/csv.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { ISSUES_MAX, toIssues } from '../base/parse.ts';
import { Refusal } from '../base/refusal.ts';
import { refuseList } from '../base/unread.ts';
import type { z } from 'zod';
import { SUPPRESSION_REASONS } from './queries.ts';
import { IMPORT_ADDRESSES_MAX, ImportItem } from './schema.ts';
import type { NewImport, Unread } from './schema.ts';

type Read = { items: ImportItem[]; errors: Unread[] };

const readRows = (csv: string): Read => {
  const lines = readCsv(csv, IMPORT_ADDRESSES_MAX + 1);
  const names = (lines[0]?.values ?? []).map((name) => name.toLowerCase());
  const isHead = names.includes('email');
  const rows = isHead ? lines.slice(1) : lines;
  if (rows.length > IMPORT_ADDRESSES_MAX) {
    const message = `at most ${IMPORT_ADDRESSES_MAX} addresses`;
    throw new Refusal('invalid_request', { issues: [{ path: '/csv', message }] });
  }
  const [emailAt, reasonAt] = [isHead ? names.indexOf('email') : 0, names.indexOf('reason')];
  const read: Read = { items: [], errors: [] };
  for (const { line, values } of rows) {
    const reason = (isHead && values[reasonAt]) || undefined;
    const item = ImportItem.safeParse({ email: values[emailAt] ?? '', reason });
    if (item.success) read.items.push(item.data);
    else read.errors.push({ line, message: item.error.issues[0]?.message ?? 'cannot be read' });
  }
  return read;
};

const readAddresses = (addresses: readonly unknown[]): Read => {
  const read: Read = { items: [], errors: [] };
  for (const [at, given] of addresses.entries()) {
    const item = ImportItem.safeParse(given);
    if (item.success) read.items.push(item.data);
    else {
      const [{ path, message } = { path: '', message: 'cannot be read' }] = toIssues(item.error);
      read.errors.push({ path: `/addresses/${at}${path}`, message });
    }
  }
  return read;
};

/** How strong a reason is: what a list says twice of an address is taken at its strongest. */
const strengthOf = ({ reason }: ImportItem): number =>
  reason === 'unsubscribed' ? -1 : SUPPRESSION_REASONS.indexOf(reason);

/** The addresses of an import, each once, and what of it cannot be read: that holds up nobody, if there is anybody. */
export const readImport = (given: z.output<typeof NewImport>): Read => {
  const { items, errors } = 'csv' in given ? readRows(given.csv) : readAddresses(given.addresses);
  if (items.length === 0) refuseList(errors);
  const byEmail = new Map<string, ImportItem>();
  for (const item of items) {
    const key = normaliseEmail(item.email);
    const known = byEmail.get(key);
    if (!known || strengthOf(item) > strengthOf(known)) byEmail.set(key, item);
  }
  return { items: [...byEmail.values()], errors: errors.slice(0, ISSUES_MAX) };
};
