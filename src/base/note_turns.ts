import type { Deps } from './deps.ts';
import { SessionTurns } from './session_turns.ts';
import type { TurnBounds, Turns } from './session_turns.ts';

/** Writes about requests that are answered already wait here for as long as it takes: none of them is refused. */
const OF_NOTES: TurnBounds = {
  sessions: 2,
  sessionsOfProject: 2,
  waiting: Infinity,
  waitingOfProject: Infinity,
  waitMs: 2 ** 31 - 1,
};

const makeNoteTurns = (): SessionTurns => new SessionTurns(OF_NOTES.waitMs, OF_NOTES);

/** For such writes, at most two at a time: there are as many of them as requests, which have their own bounds. */
export const inTurnsOfNotes = <D extends Pick<Deps, 'resources'> & { turns?: Turns }>(
  deps: D,
): D & { turns: Turns } => {
  const turns = deps.resources.of(makeNoteTurns, undefined);
  return { ...deps, turns: turns.of(deps.turns?.kind ?? 'server') };
};
