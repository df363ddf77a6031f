import type { Deps } from './deps.ts';
import { watchQueue } from './memory_queues.ts';
import { SessionTurns, TURN_WAIT_MAX_MS } from './session_turns.ts';
import type { TurnBounds, Turns } from './session_turns.ts';

/** How many notes wait for a session, of all projects and of one. One more is dropped. */
export const NOTES_WAITING_MAX = 1_000;
export const NOTES_WAITING_OF_PROJECT_MAX = 250;
/** How long a note waits before it is dropped: so long its request waits for its answer, too. */
export const NOTE_WAIT_MAX_MS = TURN_WAIT_MAX_MS;

/** Two projects at a time: one whose rows are locked holds one session, and the others use the second one. */
const OF_NOTES: TurnBounds = {
  sessions: 2,
  sessionsOfProject: 1,
  waiting: NOTES_WAITING_MAX,
  waitingOfProject: NOTES_WAITING_OF_PROJECT_MAX,
  waitMs: NOTE_WAIT_MAX_MS,
};

const makeNoteTurns = (deps: Pick<Deps, 'resources'>): SessionTurns => {
  const turns = new SessionTurns(OF_NOTES.waitMs, OF_NOTES);
  const size = () => turns.waitingCount;
  watchQueue(deps, 'idempotency_notes', { size, max: NOTES_WAITING_MAX });
  return turns;
};

/**
 * For a write about a request that is done and not yet answered. The write rejects with `overloaded` where too many
 * wait, or after NOTE_WAIT_MAX_MS. The caller then answers without it: the claim of the request ends with its lease.
 */
export const inTurnsOfNotes = <D extends Pick<Deps, 'resources'> & { turns?: Turns }>(
  deps: D,
): D & { turns: Turns } => {
  const turns = deps.resources.of(makeNoteTurns, deps);
  return { ...deps, turns: turns.of(deps.turns?.kind ?? 'server') };
};
