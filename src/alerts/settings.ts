import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Above these rates receivers begin to refuse a sender. */
export const BOUNCE_PERCENT_DEFAULT = 2;
export const COMPLAINT_PERCENT_DEFAULT = 0.1;
const PERCENT_MIN = 0.01;
const PERCENT_MAX = 100;

const percent = (description: string) =>
  z
    .number()
    .min(PERCENT_MIN, `at least ${PERCENT_MIN}`)
    .max(PERCENT_MAX, `at most ${PERCENT_MAX}`)
    .meta({ description });

/** Which rates alert the owner of a project. */
export const AlertSettings = z.strictObject({
  bounce_percent: percent('Emails that bounce for good, in percent of those sent in 24 hours.'),
  complaint_percent: percent('Emails that recipients report as spam, in percent of the same.'),
});
export type AlertSettings = z.output<typeof AlertSettings>;

const Settings = z.strictObject({ bounce_percent: z.number(), complaint_percent: z.number() });

/** Returns the settings of a project, or the defaults. */
export const readAlertSettings = async ({ tx, projectId }: Scope): Promise<AlertSettings> =>
  (await tx.maybeOne(sql.type(Settings)`
    select bounce_percent, complaint_percent from alerts.settings where project_id = ${projectId}
  `)) ?? { bounce_percent: BOUNCE_PERCENT_DEFAULT, complaint_percent: COMPLAINT_PERCENT_DEFAULT };

/** Changes the settings of a project; the next look at its rates uses them. */
export const writeAlertSettings = async (
  { tx, projectId }: Scope,
  settings: AlertSettings,
): Promise<AlertSettings> => {
  await tx.query(sql.unsafe`
    insert into alerts.settings (project_id, bounce_percent, complaint_percent)
    values (${projectId}, ${settings.bounce_percent}, ${settings.complaint_percent})
    on conflict (project_id) do update
    set bounce_percent = excluded.bounce_percent, complaint_percent = excluded.complaint_percent
  `);
  return settings;
};
