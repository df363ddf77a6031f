import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';

/** A send that was moved to where it stays. */
export const EndedSend = z.strictObject({ send_id: z.uuid() });
export type EndedSend = z.output<typeof EndedSend>;

/**
 * Puts on people's timelines what has become of their sends, as `email_sent` or `email_skipped`: in the
 * transaction that moved them there, and once. After the commit, `ingest.wake` a worker, or leave it to the sweeper.
 */
export const observeEnded = async (
  { tx, projectId }: Scope,
  ended: readonly EndedSend[],
): Promise<void> => {
  if (ended.length === 0) return;
  const sendIds = ended.map(({ send_id }) => send_id);
  await tx.query(sql.unsafe`
    select from delivery.observe_sends(
      project_id => ${projectId},
      flush_id => ${newId()},
      send_ids => ${sql.array(sendIds, 'uuid')},
      event_ids => ${sql.array(sendIds.map(newId), 'uuid')}
    )
  `);
};
