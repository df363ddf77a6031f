import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import type { KnownIdentity } from '../base/whole_person.ts';
import type { Hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import * as identity from '../identity/identity.ts';
import {
  ERASURE_STATUSES,
  findErasable,
  findErasure,
  findErasureOf,
  insertErasure,
  insertTombstones,
  markProfiles,
} from './erase_queries.ts';
import type { ErasureRow, StoredReceipt } from './erase_queries.ts';
import { readExternalId } from './schema.ts';

export const REASON_CHARS_MAX = 500;

export const EraseInput = z
  .strictObject({
    reason: z
      .string()
      .min(1, 'must not be empty')
      .max(REASON_CHARS_MAX, `at most ${REASON_CHARS_MAX} characters`)
      .refine(isStorable, NOT_STORABLE)
      .optional()
      .meta({
        description:
          'Why, for whoever looks while the erase is pending. It may name the person, so it goes with the rest: ' +
          "keep the erasure's id beside the request you act on.",
      }),
  })
  .meta({ id: 'Erase', examples: [{ reason: 'Asked for by mail, ticket 4711' }] });

const Timestamp = z.iso.datetime();

export const Erasure = z
  .strictObject({
    id: z.uuid(),
    profile_id: z.uuid(),
    status: z
      .enum(ERASURE_STATUSES)
      .meta({ description: '`done` once nothing of the person is left.' }),
    reason: z.string().optional().meta({ description: 'As it was given; gone when it is done.' }),
    requested_at: Timestamp,
    done_at: Timestamp.nullable(),
    receipt: z
      .strictObject({
        tables: z.record(z.string(), z.int().nonnegative()).meta({
          description:
            'Rows that were removed or overwritten, of every table with something of people in it.',
        }),
        digest: z.string().meta({
          description:
            'A keyed digest (HMAC-SHA256) of the erasure and its numbers: nobody can change them unnoticed.',
        }),
      })
      .nullable()
      .meta({ description: 'What was erased, once it is. Nothing in it tells of the person.' }),
  })
  .meta({
    id: 'Erasure',
    description: 'The erase of everything about a person.',
    examples: [
      {
        id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
        profile_id: '019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03',
        status: 'done',
        requested_at: '2026-01-31T12:00:00.000Z',
        done_at: '2026-01-31T12:00:02.000Z',
        receipt: {
          tables: { 'ingest.events': 12, 'identity.identities': 2 },
          digest: 'hmac-sha256:3f0c…',
        },
      },
    ],
  });
export type Erasure = z.output<typeof Erasure>;

/** An erasure as the API shows it. */
export const toErasure = (row: ErasureRow): Erasure => ({
  id: row.erasure_id,
  profile_id: row.profile_id,
  status: row.status,
  ...(row.reason === null ? {} : { reason: row.reason }),
  requested_at: row.requested_at.toISOString(),
  done_at: row.done_at?.toISOString() ?? null,
  receipt: row.receipt,
});

/** Wakes a worker for an erasure. */
export const eraseHint = (projectId: string, erasureId: string): Hint => ({
  task: 'profiles/erase_person',
  payload: { project_id: projectId, erasure_id: erasureId },
});

/** By what an identifier would be known again, without saying it. */
export const tombstoneOf = (
  { keys, projectId }: Pick<Scope, 'keys' | 'projectId'>,
  { kind, value }: Pick<KnownIdentity, 'kind' | 'value'>,
): Buffer => keys.hash('tombstone', `${projectId} ${kind} ${value}`);

/** What makes a receipt's numbers ours: the same erasure and numbers give the same digest. */
export const digestOf = (
  { keys, projectId }: Pick<Scope, 'keys' | 'projectId'>,
  erasure: { erasureId: string; profileId: string; requestedAt: Date; doneAt: Date },
  tables: StoredReceipt['tables'],
): string => {
  const said = JSON.stringify([
    projectId,
    erasure.erasureId,
    erasure.profileId,
    erasure.requestedAt.toISOString(),
    erasure.doneAt.toISOString(),
    Object.entries(tables).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);
  const digest = createHash('sha256').update(said).digest('hex');
  return `hmac-sha256:${keys.hash('erase-receipt', digest).toString('hex')}`;
};

/**
 * The profile that a path names, to be erased: also one that is being erased, and by its id one that
 * was, so that asking again is answered the same.
 */
export const findErasableProfile = async (scope: Scope, ref: string): Promise<string | null> => {
  const external = readExternalId(ref);
  if (external !== null)
    return (await identity.findByValue(scope, 'external', external))?.profile_id ?? null;
  const known = (await findErasable(scope, ref)) ?? (await findErasureOf(scope, ref));
  return known?.profile_id ?? null;
};

/**
 * Asks for the erase of a person, once: from the commit on nobody is shown them, mails them, or starts
 * anything for them; the rest is a job's. Who is erased already, or is being, is answered as they are.
 */
export const requestErasure = async (
  scope: Scope,
  profileId: string,
  reason: string | null,
): Promise<ErasureRow> => {
  const members = await identity.holdPerson(scope, profileId);
  const known = await findErasureOf(scope, profileId);
  if (known) return known;
  // Erased as a part of somebody whom they were taken apart from since.
  const marked = members.find(({ erasure_id }) => erasure_id !== null)?.erasure_id;
  const pending = marked ? await findErasure(scope, marked) : null;
  if (pending) return pending;
  // Merged into another profile, or erased as a part of one, since the caller looked.
  if (members.length === 0) throw new Refusal('not_found');

  const erasureId = newId();
  const erasure = await insertErasure(scope, {
    erasureId,
    profileId,
    reason,
    requestedBy: 'server_key',
  });
  if (!erasure) throw new Error('an id was given twice');
  await identity.markErased(
    scope,
    erasureId,
    members.map(({ identity_id }) => identity_id),
  );
  await markProfiles(
    scope,
    erasureId,
    members.map(({ own_profile_id }) => own_profile_id),
  );
  await insertTombstones(
    scope,
    erasureId,
    members.map((member) => tombstoneOf(scope, member)),
  );
  return erasure;
};
