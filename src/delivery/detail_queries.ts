import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Detail = z.strictObject({
  category: z.string(),
  on_unknown: z.string(),
  due_at: z.date().nullable(),
  expires_at: z.date(),
  handed_off_at: z.date().nullable(),
  event_id: z.uuid().nullable(),
  event_occurred_at: z.date().nullable(),
  has_content: z.boolean(),
});

/** What was decided about a send when it was planned, and since. `infinity` is no moment: it is due never. */
export const findDetail = ({ tx, projectId }: Scope, sendId: string) =>
  tx.maybeOne(sql.type(Detail)`
    select send.category, send.on_unknown, case when isfinite(send.due_at) then send.due_at end as due_at,
      send.expires_at, send.handed_off_at, send.event_id, send.event_occurred_at,
      content.send_id is not null as has_content
    from delivery.sends as send
    left join delivery.contents as content
      on content.project_id = send.project_id and content.send_id = send.send_id
    where send.project_id = ${projectId} and send.send_id = ${sendId}
  `);

const Attempt = z.strictObject({
  attempt: z.int(),
  started_at: z.date(),
  ended_at: z.date().nullable(),
  outcome: z.string().nullable(),
  reason: z.string().nullable(),
  provider_message_id: z.string().nullable(),
  reply_code: z.int().nullable(),
  reply_enhanced: z.string().nullable(),
  reply_text: z.string().nullable(),
  queue_id: z.string().nullable(),
});

/** How many hand-offs of a send are shown. */
const ATTEMPTS_SHOWN_MAX = 200;

/** The hand-offs of a send, the newest first. */
export const listAttempts = ({ tx, projectId }: Scope, sendId: string) =>
  tx.any(sql.type(Attempt)`
    select attempt, started_at, ended_at, outcome, reason, provider_message_id, reply_code, reply_enhanced, reply_text,
      queue_id
    from delivery.attempts
    where project_id = ${projectId} and send_id = ${sendId}
    order by attempt desc
    limit ${ATTEMPTS_SHOWN_MAX}
  `);

const Content = z.strictObject({ html: z.string() });

/** The HTML that was rendered for somebody; null before that, and once they are erased. */
export const findHtml = async (
  { tx, projectId }: Scope,
  sendId: string,
): Promise<string | null> => {
  const content = await tx.maybeOne(sql.type(Content)`
    select html from delivery.contents where project_id = ${projectId} and send_id = ${sendId}
  `);
  return content?.html ?? null;
};
