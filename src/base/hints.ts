import { sql } from './db.ts';
import type { Deps } from './deps.ts';

/** A task to wake and the ids it needs. What the task does follows from rows, never from here. */
export type Hint = {
  task: string;
  payload: Record<string, string>;
  /** For work that should have been found long ago: leaves a job alone that waits for its next try. */
  isReminder?: boolean;
};

/**
 * Wakes a worker, after the commit of what it shall look at. A hint that cannot be given is only
 * logged: the rows are there, and the sweeper finds them.
 */
export const hint = async (
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { task, payload, isReminder = false }: Hint,
): Promise<void> => {
  try {
    await db.query(
      sql.unsafe`
        select from queue.add_hint(
          task => ${task}, payload => ${JSON.stringify(payload)}::jsonb, is_reminder => ${isReminder}
        )
      `,
    );
  } catch (error) {
    log.warn({ err: error, task }, 'hint not given; the sweeper will find the work');
  }
};

export const giveHints = async (deps: Pick<Deps, 'db' | 'log'>, hints: Hint[]): Promise<void> => {
  for (const one of hints) await hint(deps, one);
};
