import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { SessionTurns, TURN_WAIT_MAX_MS } from '../base/session_turns.ts';
import type { TurnBounds } from '../base/session_turns.ts';

/**
 * How much of the database attempts at passwords get. Each person waits in a line of their own, and so does each origin
 * of strangers. Strangers get half of everything, so their flood takes one session and delays no known device.
 */
const OF_ATTEMPTS: TurnBounds = {
  sessions: 2,
  sessionsOfProject: 2,
  waiting: 200,
  waitingOfProject: 40,
  waitMs: TURN_WAIT_MAX_MS,
};

const makeTurns = (deps: Pick<Deps, 'resources'>): SessionTurns => {
  const turns = new SessionTurns(OF_ATTEMPTS.waitMs, OF_ATTEMPTS);
  const size = () => turns.waitingCount;
  watchQueue(deps, 'attempts', { size, max: OF_ATTEMPTS.waiting });
  return turns;
};

/** Runs the statement that counts an attempt when its line has a turn, or refuses it with `overloaded`. */
export const inTurnOfAttempts = <T>(
  { resources }: Pick<Deps, 'resources'>,
  { line, isKnown }: { line: string; isKnown: boolean },
  work: () => Promise<T>,
): Promise<T> =>
  resources.of(makeTurns, { resources }).have(line, work, isKnown ? 'server' : 'publishable');
