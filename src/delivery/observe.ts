import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';

/** A send that was moved to where it stays. */
export const EndedSend = z.strictObject({ send_id: z.uuid() });
export type EndedSend = z.output<typeof EndedSend>;

const Note = z.strictObject({ send_ids: z.array(z.uuid()), ended_at: z.date() });

/** How many commits of hand-offs are observed in one transaction. */
export const OBSERVED_STEPS_MAX = 200;

/** Wakes a worker for what hand-offs of a project have ended. */
export const observeHint = (projectId: string): Hint => ({
  task: 'delivery/observe_ended',
  payload: { project_id: projectId },
});

type Ended = EndedSend & { endedAt: Date };

/** In the order of `ended`, each at its time, or now. */
const observe = async (
  { tx, projectId }: Scope,
  ended: readonly (EndedSend | Ended)[],
): Promise<void> => {
  if (ended.length === 0) return;
  const at = ended.map((one) => ('endedAt' in one ? one.endedAt.toISOString() : null));
  await tx.query(sql.unsafe`
    select from delivery.observe_sends(
      project_id => ${projectId},
      flush_id => ${newId()},
      send_ids => ${sql.array(
        ended.map(({ send_id }) => send_id),
        'uuid',
      )},
      event_ids => ${sql.array(ended.map(newId), 'uuid')},
      ended_ats => ${sql.array(at, 'timestamptz')}
    )
  `);
};

/**
 * Puts on people's timelines what has become of their sends, as `email_sent` or `email_skipped`: in the
 * transaction that moved them there, and once. After the commit, `ingest.wake` a worker, or leave it to the sweeper.
 */
export const observeEnded = (scope: Scope, ended: readonly EndedSend[]): Promise<void> =>
  observe(scope, ended);

/**
 * The same for what hand-offs have ended: takes their notes and deletes them, the oldest first. Answers how many
 * sends there were, and whether there may be more.
 */
export const observeHandOffs = async (
  scope: Scope,
  stepsMax = OBSERVED_STEPS_MAX,
): Promise<{ observed: number; isMore: boolean }> => {
  const notes = await scope.tx.any(sql.type(Note)`
    with taken as (
      select step_id from delivery.ended
      where project_id = ${scope.projectId}
      order by step_id
      limit ${stepsMax}
      for update skip locked
    )
    delete from delivery.ended as note
    using taken
    where note.project_id = ${scope.projectId} and note.step_id = taken.step_id
    returning note.send_ids, note.ended_at
  `);
  const ended = notes.flatMap(({ send_ids, ended_at }) =>
    send_ids.map((send_id) => ({ send_id, endedAt: ended_at })),
  );
  await observe(scope, ended);
  return { observed: ended.length, isMore: notes.length === stepsMax };
};
