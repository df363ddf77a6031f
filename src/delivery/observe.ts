import { isTimeout } from '../base/database_errors.ts';
import { attempt, sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import {
  claimNotes,
  deleteNotes,
  listIdentitiesOf,
  postponeNote,
  splitNote,
} from './ended_queries.ts';
import type { EndedSend, Note } from './ended_queries.ts';

/** How many notes one transaction takes: a commit of hand-offs leaves one, of as many sends as there are lanes. */
export const OBSERVED_NOTES_MAX = 100;
/** How many sends one flush of the timeline has. */
const FLUSH_SENDS_MAX = 500;

/** Wakes a worker for what hand-offs of a project have ended. */
export const observeHint = (projectId: string): Hint => ({
  task: 'delivery/observe_ended',
  payload: { project_id: projectId },
});

type Ended = EndedSend & { endedAt: Date };

/**
 * Puts on people's timelines what has become of their sends, as `email_sent` or `email_skipped`, each at its time or
 * now: in the transaction that moved them there, and once. After the commit, `ingest.wake` a worker, or leave it to
 * the sweeper.
 */
export const observeEnded = async (
  { tx, projectId }: Scope,
  ended: readonly (EndedSend | Ended)[],
): Promise<void> => {
  for (let from = 0; from < ended.length; from += FLUSH_SENDS_MAX) {
    const piece = ended.slice(from, from + FLUSH_SENDS_MAX);
    const ids = piece.map(({ send_id }) => send_id);
    const at = piece.map((one) => ('endedAt' in one ? one.endedAt.toISOString() : null));
    await tx.query(sql.unsafe`
      select from delivery.observe_sends(
        project_id => ${projectId},
        flush_id => ${newId()},
        send_ids => ${sql.array(ids, 'uuid')},
        event_ids => ${sql.array(piece.map(newId), 'uuid')},
        ended_ats => ${sql.array(at, 'timestamptz')}
      )
    `);
  }
};

/** Puts what some notes say on timelines, and deletes the notes. Whoever it is about cannot be erased meanwhile. */
const observeNotes = async (scope: Scope, notes: readonly Note[]): Promise<void> => {
  const kept = await ingest.withinTimeline(scope, notes, ({ ended_at }) => ended_at);
  const ended = kept.flatMap(({ send_ids, ended_at: endedAt }) =>
    send_ids.map((send_id) => ({ send_id, endedAt })),
  );
  const identityIds = await listIdentitiesOf(
    scope,
    ended.map(({ send_id }) => send_id),
  );
  await profiles.holdProfiles(scope, identityIds);
  await observeEnded(scope, ended);
  await deleteNotes(scope, notes);
};

export type Observing = {
  observed: number;
  isMore: boolean;
  /** Why a note could not be observed by itself: it waits, longer each time. */
  failed: { sendId: string; failureCount: number; error: unknown }[];
};

/**
 * The same for what hand-offs have ended: takes their notes, the oldest first, together; when that fails, each alone,
 * and what fails alone send by send. A send that cannot be observed waits, longer each time, and stops nobody else.
 */
export const observeHandOffs = async (
  scope: Scope,
  notesMax = OBSERVED_NOTES_MAX,
): Promise<Observing> => {
  const notes = await claimNotes(scope, notesMax);
  const observing: Observing = { observed: 0, isMore: notes.length === notesMax, failed: [] };
  const take = async (taken: readonly Note[]) => {
    const tried = await attempt(scope, (inner) => observeNotes(inner, taken), { mayTimeOut: true });
    if (tried.kind === 'done')
      observing.observed += taken.reduce((count, { send_ids }) => count + send_ids.length, 0);
    return tried;
  };
  if (notes.length === 0 || (await take(notes)).kind === 'done') return observing;
  for (const note of notes) {
    const alone = await take([note]);
    if (alone.kind === 'done') continue;
    const [sendId, ...others] = note.send_ids;
    if (sendId !== undefined && others.length === 0)
      observing.failed.push({ sendId, ...(await postponeNote(scope, note)), error: alone.error });
    else {
      await splitNote(scope, note);
      observing.isMore = true;
    }
    if (!isTimeout(alone.error)) continue;
    observing.isMore = true;
    break;
  }
  return observing;
};
