import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readRow, writeRow } from './retention_queries.ts';

/** How many days a project keeps what was rendered and what providers answered. */
export const CONTENT_DAYS_MIN = 1;
export const CONTENT_DAYS_MAX = 3_650;
export const CONTENT_DAYS_DEFAULT = 90;
/** How many months it keeps other data: the bounds of RETENTION_MONTHS. */
export const KEPT_MONTHS_MIN = 2;
export const KEPT_MONTHS_MAX = 120;

const Months = z
  .int()
  .min(KEPT_MONTHS_MIN, `at least ${KEPT_MONTHS_MIN}`)
  .max(KEPT_MONTHS_MAX, `at most ${KEPT_MONTHS_MAX}`)
  .nullable();

const RUNS_MONTHS =
  'Months to keep runs and starts of segments after their end; null: as long as events. A run goes after its run log ' +
  'and its emails.';
const ANONYMOUS_MONTHS =
  'Months to keep people of one anonymous id after their last event and change; null: as long as events. A person ' +
  'with an event, a link, a run, an email, an import or a trait of a server stays.';

/** How long a project keeps what it sent, runs and anonymous people. */
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
  sends_months: Months.meta({
    description:
      'Months to keep sends, their attempts, feedback events and run logs; null: as long as events.',
  }),
  runs_months: Months.meta({ description: RUNS_MONTHS }),
  anonymous_months: Months.meta({ description: ANONYMOUS_MONTHS }),
});
export type RetentionSettings = z.output<typeof RetentionSettings>;

const UNCHANGED = ' Leave it out to keep the present value.';

/** A change of them. What came later than the first two may be left out, so that older clients change nothing else. */
export const RetentionChange = RetentionSettings.extend({
  runs_months: Months.optional().meta({ description: RUNS_MONTHS + UNCHANGED }),
  anonymous_months: Months.optional().meta({ description: ANONYMOUS_MONTHS + UNCHANGED }),
});
export type RetentionChange = z.output<typeof RetentionChange>;

/** Returns how long a project keeps its data, or the defaults where it decided nothing. */
export const readRetention = async (scope: Scope): Promise<RetentionSettings> => {
  const row = await readRow(scope);
  return {
    content_days: row?.content_days ?? CONTENT_DAYS_DEFAULT,
    sends_months: row?.sends_months ?? null,
    runs_months: row?.runs_months ?? null,
    anonymous_months: row?.anonymous_months ?? null,
  };
};

/** Changes how long a project keeps its data. The next daily job goes by it; what is removed does not come back. */
export const changeRetention = async (
  scope: Scope,
  { runs_months, anonymous_months, ...given }: RetentionChange,
): Promise<RetentionSettings> => {
  const known = await readRetention(scope);
  const settings = {
    ...given,
    runs_months: runs_months === undefined ? known.runs_months : runs_months,
    anonymous_months: anonymous_months === undefined ? known.anonymous_months : anonymous_months,
  };
  await writeRow(scope, settings);
  return settings;
};
