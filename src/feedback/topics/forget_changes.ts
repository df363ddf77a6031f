import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';

/** How long it stays what became of a topic, in months: as long as the audit log. The function keeps the same. */
export const TOPIC_CHANGES_MONTHS = 24;
/** How many changes one transaction of the daily job forgets. */
export const FORGOTTEN_CHANGES_MAX = 500;

const Forgotten = z.strictObject({ forgotten: z.int() });

/** Forgets the oldest changes of topics of a project that are too old. The same again finds what is left. */
export const forgetTopicChanges = async (
  { tx, projectId }: Scope,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const { forgotten } = await tx.one(sql.type(Forgotten)`
    select feedback.forget_topic_changes(
      project_id => ${projectId},
      before => now() - make_interval(months => ${TOPIC_CHANGES_MONTHS}),
      rows_max => ${FORGOTTEN_CHANGES_MAX}
    ) as forgotten
  `);
  return { pruned: forgotten, after: forgotten < FORGOTTEN_CHANGES_MAX ? null : after };
};
