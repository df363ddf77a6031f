import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { isLockTimeout } from '../base/database_errors.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { FIRST_ID } from '../base/ids.ts';
import { FUTURE_HOURS_MAX } from './occurred_at.ts';
import { findExpiry, forgetIdsAfter, isEveryMonthThere } from './retention_queries.ts';

/** How many message ids one transaction looks at. */
const FORGET_IDS_MAX = 5_000;
/** How often the timeline's lock is asked for, and the pause that others get in between. */
const DROP_TRIES_MAX = 60;
const DROP_PAUSE_MS = 1_000;

/** Makes the months of the timeline that are missing, from the oldest that is accepted on; answers how many. */
export const keepMonths = async (
  client: Pick<pg.Pool, 'query'>,
  { retentionMonths }: Pick<Deps['config'], 'retentionMonths'>,
): Promise<number> => {
  const { rows } = await client.query<{ made: number }>(
    'select ingest.keep_partitions(months_back => $1) as made',
    [retentionMonths],
  );
  return rows[0]?.made ?? 0;
};

/** Whether there is a month for whatever is accepted. */
export const hasMonths = async ({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<boolean> => {
  const span = { monthsBack: config.retentionMonths, hoursAhead: FUTURE_HOURS_MAX };
  return (await isEveryMonthThere(db, span)).is_there;
};

/** The end of the newest month that has expired and is still there; null when there is none. */
export const findExpiredUntil = async ({
  db,
  config,
}: Pick<Deps, 'db' | 'config'>): Promise<Date | null> =>
  (await findExpiry(db, config.retentionMonths)).until;

/** Forgets a project's message ids of events before a moment, a bounded batch per transaction, until stopped. */
export const forgetMessageIds = async (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  before: Date,
  signal: AbortSignal,
): Promise<void> => {
  for (let after: string | null = FIRST_ID; after !== null;) {
    signal.throwIfAborted();
    const from: string = after;
    after = await inProject(deps, projectId, (scope) =>
      forgetIdsAfter(scope, { before, after: from, idsMax: FORGET_IDS_MAX }),
    );
  }
};

/**
 * Drops the oldest month that ends before a moment; answers its name, or null when there is none. Somebody's
 * long transaction may hold the timeline: it is then asked for again and again, each time for a moment only.
 */
export const dropMonth = async (
  jobs: Pick<pg.Pool, 'query'>,
  before: Date,
  signal: AbortSignal,
): Promise<string | null> => {
  for (let tries = 1; ; tries += 1) {
    try {
      const { rows } = await jobs.query<{ dropped: string | null }>(
        'select ingest.drop_partition(before => $1) as dropped',
        [before],
      );
      return rows[0]?.dropped ?? null;
    } catch (error) {
      if (!isLockTimeout(error) || tries === DROP_TRIES_MAX) throw error;
      await wait(DROP_PAUSE_MS, undefined, { signal });
    }
  }
};
