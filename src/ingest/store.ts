import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, hasCode, listCauses } from '../base/causes.ts';
import { isDatabaseDown } from '../base/database_errors.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import type { EventRow } from './events.ts';
import { acceptEvents, listStoredEvents, listTakenMessages } from './queries.ts';

export type Stored = { eventId: string; isDuplicate: boolean };
type StoreDeps = Pick<Deps, 'db' | 'keys' | 'log'>;

/** How long to wait before each look after what became of a flush. After the last the outcome stays unknown. */
const LOOK_AFTER_MS = [50, 200, 800];

/** What Postgres, or the network before it, said no with: nothing was committed. */
const REFUSED = /^(?:53\w{3}|57014|57P03|55P03|ECONNREFUSED|ENOTFOUND)$/;

/** Whether the connection was lost while the commit may have been on its way. */
const isOutcomeUnknown = (error: unknown): boolean =>
  isDatabaseDown(error) && !hasCode(error, REFUSED);

/** Until months that are missing are likely made: whoever finds some missing is not ready, which is alarming. */
const RETRY_MONTH_SECONDS = 60;

/** Whether an event's month is not there: a check that fails, of no constraint. */
const isMonthMissing = (error: unknown): boolean =>
  listCauses(error).some((cause) => {
    const { constraint } = cause as { constraint?: unknown };
    return codeOf(cause) === '23514' && constraint === undefined;
  });

const toMissing = (cause: unknown): Refusal =>
  new Refusal('unavailable', {
    detail:
      'The timeline has no place for this month yet. Nothing is stored: retry after Retry-After.',
    retryAfterSeconds: RETRY_MONTH_SECONDS,
    cause,
  });

/** What the events of a flush became, or null when not all of them are there. */
const findStored = (
  deps: StoreDeps,
  projectId: string,
  rows: EventRow[],
): Promise<Stored[] | null> =>
  inProject(deps, projectId, async (scope) => {
    const messageKeys = rows.flatMap(({ message_key }) => message_key ?? []);
    const taken = await listTakenMessages(scope, messageKeys);
    const events = await listStoredEvents(
      scope,
      rows.map(({ event_id }) => event_id),
    );
    const firstOf = new Map(taken.map(({ message_key, event_id }) => [message_key, event_id]));
    const own = new Set(events.map(({ event_id }) => event_id));
    const stored: Stored[] = [];
    for (const { event_id, message_key } of rows) {
      const eventId = own.has(event_id) ? event_id : firstOf.get(message_key ?? '');
      if (eventId === undefined) return null;
      stored.push({ eventId, isDuplicate: eventId !== event_id });
    }
    return stored;
  });

/** Looks a flush up by its ids on other connections, a few times. */
const findOutcome = async (
  deps: StoreDeps,
  projectId: string,
  rows: EventRow[],
): Promise<Stored[] | null> => {
  for (const pauseMs of LOOK_AFTER_MS) {
    await wait(pauseMs);
    try {
      const stored = await findStored(deps, projectId, rows);
      if (stored) return stored;
    } catch (error) {
      if (!isDatabaseDown(error)) throw error;
    }
  }
  return null;
};

/**
 * Stores a flush. When its connection is lost on the way, the flush counts as stored only when it is
 * found: until then it may still be committed, or never.
 */
export const store = async (
  deps: StoreDeps,
  projectId: string,
  rows: EventRow[],
): Promise<Stored[]> => {
  try {
    const { stored_ids, duplicates } = await acceptEvents(deps.db, projectId, newId(), rows);
    return stored_ids.map((eventId, at) => ({ eventId, isDuplicate: duplicates[at] === true }));
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw isMonthMissing(error) ? toMissing(error) : error;
    const stored = await findOutcome(deps, projectId, rows);
    deps.log.warn(
      { err: error, project_id: projectId, events: rows.length, is_found: stored !== null },
      'a flush lost its connection',
    );
    if (stored === null) throw error;
    return stored;
  }
};
