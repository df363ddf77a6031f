import { z } from 'zod';
import { readCsv } from '../base/csv.ts';
import type { Scope } from '../base/db.ts';
import { EmailAddress, normaliseEmail } from '../base/email_address.ts';
import { ISSUES_MAX } from '../base/parse.ts';
import { Refusal } from '../base/refusal.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { refuseList } from '../base/unread.ts';
import * as profiles from '../profiles/profiles.ts';
import { noteListed } from './listed.ts';
import {
  deleteImport,
  findByAddress,
  findImport,
  insertImport,
  insertImported,
  listImportedBy,
  setImport,
  setUndone,
} from './import_queries.ts';

export const IMPORT_PEOPLE_MAX = 1_000;
export const IMPORT_PEOPLE_BYTES_MAX = 512 * 1024;
const IDENTIFIER_CHARS_MAX = 255;

const text = (charsMax: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(charsMax, `at most ${charsMax} characters`)
    .refine(isStorable, NOT_STORABLE);
const ById = z.strictObject({ external_id: text(IDENTIFIER_CHARS_MAX) });
const ByEmail = z.strictObject({ email: EmailAddress });

export const PeopleImport = z
  .union([
    z.strictObject({
      people: z
        .array(z.union([ById, ByEmail]))
        .min(1, 'at least 1')
        .max(IMPORT_PEOPLE_MAX, `at most ${IMPORT_PEOPLE_MAX} people`),
    }),
    z.strictObject({
      csv: z
        .string()
        .min(1, 'must not be empty')
        .meta({
          description:
            'With a head, in which a column is called `external_id` or `email`, separated by commas. Where both are ' +
            'there the id counts, and the address in lines without one.',
        }),
    }),
  ])
  .meta({ id: 'PeopleImport', examples: [{ people: [{ external_id: 'ann' }] }] });
type PeopleImport = z.output<typeof PeopleImport>;

type Unread = { line: number; message: string };
type Named = { externalIds: string[]; emails: string[]; unread: Unread[] };

const refuseCsv = (message: string): never => {
  throw new Refusal('invalid_request', { issues: [{ path: '/csv', message }] });
};

const toUnread = (line: number, { error }: { error?: z.ZodError }): Unread => {
  const [issue] = error?.issues ?? [];
  const where = issue?.path.join('.');
  return { line, message: issue ? `${where}: ${issue.message}` : 'names nobody' };
};

const readRows = (csv: string): Named => {
  const [head, ...rows] = readCsv(csv, IMPORT_PEOPLE_MAX + 1);
  if (rows.length > IMPORT_PEOPLE_MAX) refuseCsv(`at most ${IMPORT_PEOPLE_MAX} people`);
  const names = (head?.values ?? []).map((name) => name.toLowerCase());
  const [idAt, emailAt] = [names.indexOf('external_id'), names.indexOf('email')];
  if (Math.max(idAt, emailAt) < 0)
    refuseCsv('has no column external_id or email; columns are separated by commas');
  const named: Named = { externalIds: [], emails: [], unread: [] };
  for (const { line, values } of rows) {
    const [external_id = '', email = ''] = [values[idAt], values[emailAt]];
    const byId = ById.safeParse({ external_id });
    const byEmail = ByEmail.safeParse({ email });
    if (byId.success) named.externalIds.push(byId.data.external_id);
    else if (external_id !== '') named.unread.push(toUnread(line, byId));
    else if (byEmail.success) named.emails.push(byEmail.data.email);
    else named.unread.push(toUnread(line, email === '' ? {} : byEmail));
  }
  if (named.externalIds.length + named.emails.length === 0) refuseList(named.unread);
  return named;
};

const read = (given: PeopleImport): Named =>
  'csv' in given
    ? readRows(given.csv)
    : {
        externalIds: given.people.flatMap((one) => ('external_id' in one ? one.external_id : [])),
        emails: given.people.flatMap((one) => ('email' in one ? one.email : [])),
        unread: [],
      };

export type Imported = {
  import_id: string;
  people: number;
  unknown: number;
  unread: number;
  errors: Unread[];
};

/**
 * Puts people whom we know on the list of a static segment. Whoever is suppressed or unsubscribed is on the
 * list and not in the segment: a list frees nobody. The same import again changes nothing, also when it was taken
 * back meanwhile.
 */
export const importPeople = async (
  scope: Scope,
  told: { segmentId: string; importId: string },
  given: PeopleImport,
): Promise<Imported> => {
  const { externalIds, emails, unread } = read(given);
  const wanted = [...new Set(externalIds)].map((value) => ({ kind: 'external' as const, value }));
  const addresses = [...new Set(emails.map(normaliseEmail))];
  const byId = await profiles.listIdentities(scope, wanted);
  const byAddress = await findByAddress(scope, addresses);
  const found = [...byId, ...byAddress].map(({ identity_id }) => identity_id);
  const known = new Set(byAddress.map(({ at }) => at)).size + byId.length;
  // Held until the commit: whoever is linked after it is looked at with the list in place.
  const profileOf = await profiles.holdProfiles(scope, found);
  const isNew = (await insertImport(scope, told.segmentId, told.importId)) !== null;
  if (isNew) {
    await insertImported(scope, told, [...profileOf.keys()]);
    await setImport(scope, told.importId, profileOf.size);
    await noteListed(scope, told.segmentId, { ids: [...profileOf.values()], source: 'server' });
  }
  return {
    import_id: told.importId,
    people: profileOf.size,
    unknown: wanted.length + addresses.length - known,
    unread: unread.length,
    errors: unread.slice(0, ISSUES_MAX),
  };
};

/** Takes an import back: whoever came by another one too stays. Done twice it changes nothing more. */
export const undoImport = async (scope: Scope, importId: string): Promise<void> => {
  const profileOf = await profiles.holdProfiles(scope, await listImportedBy(scope, importId));
  await deleteImport(scope, importId);
  const segmentId = await setUndone(scope, importId);
  if (segmentId !== null)
    await noteListed(scope, segmentId, { ids: [...profileOf.values()], source: 'server' });
};

export { findImport };
