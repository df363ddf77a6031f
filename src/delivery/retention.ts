import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readRow, writeRow } from './retention_queries.ts';

/** How many days a project keeps what was rendered and what providers answered. */
export const CONTENT_DAYS_MIN = 1;
export const CONTENT_DAYS_MAX = 3_650;
export const CONTENT_DAYS_DEFAULT = 90;
/** How many months it keeps sends, attempts, feedback events and run logs: the bounds of RETENTION_MONTHS. */
export const SENDS_MONTHS_MIN = 2;
export const SENDS_MONTHS_MAX = 120;

/** How long a project keeps what it sent. */
export const RetentionSettings = z.strictObject({
  content_days: z
    .int()
    .min(CONTENT_DAYS_MIN, `at least ${CONTENT_DAYS_MIN}`)
    .max(CONTENT_DAYS_MAX, `at most ${CONTENT_DAYS_MAX}`)
    .meta({
      description:
        'Days to keep the subject, HTML and text of a send and what its provider answered. Sends that wait, and ' +
        'sends with an unknown outcome, keep theirs.',
    }),
  sends_months: z
    .int()
    .min(SENDS_MONTHS_MIN, `at least ${SENDS_MONTHS_MIN}`)
    .max(SENDS_MONTHS_MAX, `at most ${SENDS_MONTHS_MAX}`)
    .nullable()
    .meta({
      description:
        'Months to keep sends, their attempts, feedback events and run logs; null: as long as events.',
    }),
});
export type RetentionSettings = z.output<typeof RetentionSettings>;

/** Returns how long a project keeps what it sent, or the defaults where it decided nothing. */
export const readRetention = async (scope: Scope): Promise<RetentionSettings> => {
  const row = await readRow(scope);
  return {
    content_days: row?.content_days ?? CONTENT_DAYS_DEFAULT,
    sends_months: row?.sends_months ?? null,
  };
};

/** Changes how long a project keeps what it sent. The next daily job goes by it; what is removed does not come back. */
export const changeRetention = async (
  scope: Scope,
  settings: RetentionSettings,
): Promise<RetentionSettings> => {
  await writeRow(scope, settings);
  return settings;
};
