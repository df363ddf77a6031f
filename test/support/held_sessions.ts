import { TURNS_OF_PROJECT_MAX } from '../../src/base/session_turns.ts';
import type { SessionTurns } from '../../src/base/session_turns.ts';

/** Has all the sessions that requests of a project may have; answers what gives them back. */
export const holdSessions = (turns: SessionTurns, projectId: string): (() => Promise<void>) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = Array.from({ length: TURNS_OF_PROJECT_MAX }, () =>
    turns.have(projectId, () => promise),
  );
  return async () => {
    resolve();
    await Promise.all(held);
  };
};
