import { newSend, sendsOf } from '../delivery/one_send.ts';
import { SHOWN_ID } from './shown_id.ts';
import type { TestDatabase } from '../support/database.ts';

/** Plans a send to Ann in one of three states. */
export const planShownSend = async (
  database: TestDatabase,
  projectId: string,
  status: 'queued' | 'unknown' | 'rejected',
): Promise<void> => {
  const send = newSend({ sendId: SHOWN_ID, recipient: 'ann@example.com' });
  await sendsOf(database, projectId).plan(send);
  if (status === 'queued') return;
  await database.owner.query(
    `update delivery.sends
     set status = $2, status_reason = case $2 when 'rejected' then 'message_refused' end, handed_off_at = now(),
       attempt_count = 1, subject = 'Welcome, Ann'
     where project_id = $1`,
    [projectId, status],
  );
};

/** How the send stands that an endpoint finds. */
export const sendStatusOf = (path = ''): 'queued' | 'unknown' | 'rejected' => {
  if (path.endsWith('/resolve')) return 'unknown';
  return path.endsWith('/requeue') ? 'rejected' : 'queued';
};
