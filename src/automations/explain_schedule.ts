import type { Scope } from '../base/db.ts';
import type { RefusedRow } from './explain_queries.ts';
import { toEntry } from './explanation.ts';
import type { Entry } from './explanation.ts';
import type { Definition } from './schema.ts';
import { findSegmentStart } from './segment_start_queries.ts';
import type { ShownRun } from './shown_queries.ts';

/** Why an automation did not take a person: what came, or the start of which occurrence it was. */
export const toRefusal = (
  { reason, event_id, entry, event_at, refused_at: at }: RefusedRow,
  definition: Definition | null,
): Entry => {
  if (reason === 'late' && event_id !== null && definition?.trigger.kind === 'schedule') {
    const detail = { start_id: event_id, due_at: event_at.toISOString() };
    return toEntry('occurrence_late', { at, detail });
  }
  const detail: Record<string, string> = event_id ? { event_id } : { entry: String(entry) };
  return toEntry(reason, { at, detail });
};

/** That no occurrence of a schedule started a person. */
export const toAbsence = (segmentId: string): Entry =>
  toEntry('not_in_occurrence', { detail: { segment_id: segmentId } });

/** That a run began: by which occurrence, where a schedule started it, and when its person has that time. */
export const toBeginning = async (scope: Scope, run: ShownRun): Promise<Entry> => {
  const about = { at: run.started_at, runId: run.run_id };
  const start = run.start_id === null ? null : await findSegmentStart(scope, run.start_id);
  if (start === null || start.occurrence === null) return toEntry('entered', about);
  const { start_id, occurrence } = start;
  const due = run.begins_at ?? start.occurs_at;
  const detail = { start_id, occurrence, ...(due === null ? {} : { due_at: due.toISOString() }) };
  return toEntry('entered', { ...about, detail });
};
