import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import type { ExportSection, Read, WholePerson } from '../base/whole_person.ts';
import type { Eraser } from '../base/whole_person.ts';
import * as identity from '../identity/identity.ts';
import * as suppression from '../suppression/suppression.ts';
import { listEmails } from './address_queries.ts';
import { eventSection, ownSections } from './export_sections.ts';
import { inTurns } from './export_turns.ts';
import { listProfiles } from './profiles.ts';
import { Profile } from './schema.ts';

/** What of a person other rooms hold, and how they know their addresses. */
export type OtherRooms = {
  sections: readonly ExportSection[];
  erasers: readonly Pick<Eraser, 'noteAddresses'>[];
};

/** Pieces are sent when they are about this long. */
const PIECE_CHARS_MIN = 64 * 1024;

const Timestamp = z.iso.datetime();

const Address = z.strictObject({
  email: z.string(),
  suppressed: z
    .strictObject({ reason: z.string(), source: z.string(), created_at: Timestamp })
    .nullable(),
  unsubscribed_at: Timestamp.nullable(),
  history: z.array(
    z.strictObject({
      change: z.enum(suppression.CHANGES),
      reason: z.string().nullable(),
      source: z.string(),
      note: z.string().nullable(),
      import_id: z.uuid().nullable(),
      changed_at: Timestamp,
    }),
  ),
});

const NOW = '2026-01-31T12:00:05.000Z';
const ADDRESS_EXAMPLE: z.input<typeof Address> = {
  email: 'ann@example.com',
  suppressed: { reason: 'hard_bounce', source: 'webhook/smtp', created_at: NOW },
  unsubscribed_at: null,
  history: [
    {
      change: 'suppressed',
      reason: 'hard_bounce',
      source: 'webhook/smtp',
      note: null,
      import_id: null,
      changed_at: NOW,
    },
  ],
};

/** The shape of an export: the profile, then a list per kind of thing that is held. */
export const exportOf = ({ sections }: OtherRooms) => {
  const lists = [...ownSections, ...sections, eventSection('')].map(
    ({ name, item, about }) => [name, z.array(item).meta({ description: about })] as const,
  );
  return z
    .strictObject({
      exported_at: Timestamp.meta({ examples: [NOW] }),
      profile: Profile,
      addresses: z
        .array(Address.meta({ examples: [ADDRESS_EXAMPLE] }))
        .meta({ description: 'Where mail went, and what is held of that.' }),
      ...Object.fromEntries(lists),
    })
    .meta({ id: 'Export', description: 'Everything that is held about a person.' });
};

const readAddresses = async (emails: readonly string[], read: Read) => {
  const addresses: z.input<typeof Address>[] = [];
  for (const email of emails) {
    addresses.push(
      await read(async (scope) => {
        const key = suppression.addressKey(scope, email);
        const held = await suppression.findSuppressed(scope, key);
        const known = await suppression.findByEmail(scope, email);
        const history = await suppression.listChanges(scope, key);
        return {
          email,
          suppressed: held && {
            reason: held.reason,
            source: held.source,
            created_at: held.suppressed_at.toISOString(),
          },
          unsubscribed_at: known?.unsubscribed_at?.toISOString() ?? null,
          history: history.map((one) => ({ ...one, changed_at: one.changed_at.toISOString() })),
        };
      }),
    );
  }
  return addresses;
};

/** The person by everything the rooms know them by, and their addresses, also those from before. */
const readPerson = async (profileId: string, read: Read, { erasers }: OtherRooms) => {
  const identities = await read((scope) => identity.listMembers(scope, profileId));
  const profileIds = [
    ...new Set([profileId, ...identities.map(({ own_profile_id }) => own_profile_id)]),
  ];
  const ids = identities.map(({ identity_id }) => identity_id);
  const emails = new Set(await read((scope) => listEmails(scope, ids, profileIds)));
  const person: WholePerson = { identities, profileIds, addressKeys: [] };
  for (const { noteAddresses } of erasers) {
    await noteAddresses?.(
      person,
      async (step) => (await read(step)).value,
      (_scope, found) => {
        for (const email of found) emails.add(email);
        return Promise.resolve();
      },
    );
  }
  const addressKeys = await read((scope) =>
    Promise.resolve([...emails].map((email) => suppression.addressKey(scope, email))),
  );
  return { person: { ...person, addressKeys }, emails: [...emails].toSorted() };
};

/** Collects small pieces of text, so that each write is worth its while. */
async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARS_MIN) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

async function* toTexts(profileId: string, read: Read, rooms: OtherRooms): AsyncGenerator<string> {
  const find = async () =>
    (await read((scope) => listProfiles(scope, { by: 'id', value: profileId })))[0];
  const profile = await find();
  if (!profile) throw new Refusal('not_found');
  const { person, emails } = await readPerson(profileId, read, rooms);
  const head = { exported_at: new Date().toISOString(), profile };
  yield `${JSON.stringify(head).slice(0, -1)},"addresses":${JSON.stringify(await readAddresses(emails, read))}`;
  for (const { name, pages } of [...ownSections, ...rooms.sections, eventSection(profileId)]) {
    yield `,${JSON.stringify(name)}:[`;
    let separator = '';
    for await (const page of pages(person, read)) {
      for (const item of page) {
        yield `${separator}${JSON.stringify(item)}`;
        separator = ',';
      }
    }
    yield ']';
  }
  // Whoever was erased, or became part of somebody else, on the way is not here in full: break off.
  if ((await find())?.id !== profileId) throw new Error('the person went while they were exported');
  yield '}';
}

/**
 * Everything held about a person as one JSON text, in pieces. Read page by page, each in a transaction
 * of its own: however long the timeline and however slow the client, little memory and no connection is
 * held. Ends in an error rather than incomplete.
 */
export const exportPerson = (
  deps: Deps,
  projectId: string,
  profileId: string,
  rooms: OtherRooms,
): AsyncGenerator<string> => {
  const read: Read = (work) => inProject(deps, projectId, work);
  return inTurns(deps, projectId, inPieces(toTexts(profileId, read, rooms)));
};
