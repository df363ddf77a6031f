import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import { findDetail, listAttempts } from './detail_queries.ts';
import { findSend } from './resolve.ts';
import { toSendNow } from './send_log.ts';

const toText = (at: Date | null): string | null => at?.toISOString() ?? null;

/** A send with what was decided about it and every hand-off of it, the newest first. */
export const readSend = async (scope: Scope, sendId: string) => {
  const send = await findSend(scope, sendId);
  const detail = await findDetail(scope, sendId);
  if (!send || !detail) throw new Refusal('not_found', { detail: 'There is no such send.' });
  const attempts = await listAttempts(scope, sendId);
  return {
    ...(await toSendNow(scope, send)),
    category: detail.category,
    on_unknown: detail.on_unknown,
    due_at: toText(detail.due_at),
    expires_at: detail.expires_at.toISOString(),
    handed_off_at: toText(detail.handed_off_at),
    event_id: detail.event_id,
    event_occurred_at: toText(detail.event_occurred_at),
    has_content: detail.has_content,
    hand_offs: attempts.map(({ started_at, ended_at, ...attempt }) => ({
      ...attempt,
      started_at: started_at.toISOString(),
      ended_at: toText(ended_at),
    })),
  };
};
export type ReadSend = Awaited<ReturnType<typeof readSend>>;
