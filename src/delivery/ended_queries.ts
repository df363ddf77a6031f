import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';

/** A send that was moved to where it stays. */
export const EndedSend = z.strictObject({ send_id: z.uuid() });
export type EndedSend = z.output<typeof EndedSend>;

/** What one commit of hand-offs has ended. */
const Note = z.strictObject({ step_id: z.uuid(), send_ids: z.array(z.uuid()), ended_at: z.date() });
export type Note = z.output<typeof Note>;

/** Takes the oldest notes that are due and nobody else works on, until the transaction ends. */
export const claimNotes = ({ tx, projectId }: Scope, notesMax: number) =>
  tx.any(sql.type(Note)`
    select step_id, send_ids, ended_at
    from delivery.claim_ended(project_id => ${projectId}, notes_max => ${notesMax})
  `);

const idsOf = (notes: readonly Note[]) =>
  sql.array(
    notes.map(({ step_id }) => step_id),
    'uuid',
  );

export const deleteNotes = ({ tx, projectId }: Scope, notes: readonly Note[]) =>
  tx.query(sql.unsafe`
    delete from delivery.ended where project_id = ${projectId} and step_id = any (${idsOf(notes)})
  `);

const IdentityId = z.strictObject({ identity_id: z.uuid() });

/** Whom some sends are for. */
export const listIdentitiesOf = async (
  { tx, projectId }: Scope,
  sendIds: readonly string[],
): Promise<string[]> => {
  const rows = await tx.any(sql.type(IdentityId)`
    select distinct send.identity_id
    from unnest(${sql.array([...sendIds], 'uuid')}) as asked (send_id)
    cross join lateral (
      select identity_id from delivery.sends
      where project_id = ${projectId} and send_id = asked.send_id
      limit 1
    ) as send
    where send.identity_id is not null
  `);
  return rows.map(({ identity_id }) => identity_id);
};

/** Makes a note for each send of one. */
export const splitNote = async (scope: Scope, note: Note): Promise<void> => {
  const { tx, projectId } = scope;
  await tx.query(sql.unsafe`
    insert into delivery.ended (project_id, step_id, send_ids, ended_at)
    select ${projectId}, part.step_id, array[part.send_id], ${sql.timestamp(note.ended_at)}
    from unnest(${sql.array(note.send_ids.map(newId), 'uuid')}, ${sql.array(note.send_ids, 'uuid')})
      as part (step_id, send_id)
  `);
  await deleteNotes(scope, [note]);
};

const POSTPONE_MAX_SECONDS = 3_600;

const Postponed = z.strictObject({ failure_count: z.int() });

/** Puts a note off, for a second and twice as long each time, an hour at most. */
export const postponeNote = async (
  { tx, projectId }: Scope,
  { step_id: stepId }: Note,
): Promise<{ failureCount: number }> => {
  const { failure_count: before } = await tx.one(sql.type(Postponed)`
    select failure_count from delivery.ended
    where project_id = ${projectId} and step_id = ${stepId}
    for update
  `);
  await tx.query(sql.unsafe`
    update delivery.ended
    set failure_count = failure_count + 1,
      retry_at = statement_timestamp() + make_interval(secs => ${Math.min(2 ** before, POSTPONE_MAX_SECONDS)})
    where project_id = ${projectId} and step_id = ${stepId}
  `);
  return { failureCount: before + 1 };
};
