import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { EMAIL_CHARS_MAX } from '../base/email_address.ts';
import { listInput } from '../base/page.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { findDetail, listAttempts } from './detail_queries.ts';
import { cancel, findSend, resolveOrRepeat, RESOLUTIONS } from './resolve.ts';
import { pageSends, SHOWN_STATUSES, toSend, toSendNow } from './send_log.ts';

export { findHtml } from './detail_queries.ts';

const Filter = z.object({
  status: z.enum(SHOWN_STATUSES).optional(),
  email: z.string().min(1).max(EMAIL_CHARS_MAX).optional(),
});
const OfSend = z.object({ sendId: z.uuid() });

const toText = (at: Date | null): string | null => at?.toISOString() ?? null;

/** A send with what was decided about it and every hand-off of it. */
const readSend = async (scope: Scope, sendId: string) => {
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

export const sendProcedures = router({
  /** The send log, newest first. */
  list: projectProcedure
    .input(Filter)
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageSends(scope, input)),
    ),

  read: projectProcedure
    .input(OfSend)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => readSend(scope, input.sendId)),
    ),

  /** Says what became of a send whose outcome is unknown. */
  resolve: projectProcedure
    .input(OfSend.extend({ outcome: z.enum(RESOLUTIONS) }))
    .mutation(({ ctx, input: { projectId, sendId, outcome } }) =>
      resolveOrRepeat(ctx.deps, projectId, sendId, { outcome }),
    ),

  /** Says of an unknown send that it was not sent, and hands it over once more. */
  sendAgain: projectProcedure
    .input(OfSend.extend({ afterAttempt: z.int().positive() }))
    .mutation(({ ctx, input: { projectId, sendId, afterAttempt } }) =>
      resolveOrRepeat(ctx.deps, projectId, sendId, {
        outcome: 'not_sent',
        send_again_after: afterAttempt,
      }),
    ),

  /** Cancels a send that waits to be handed over. */
  cancel: projectProcedure
    .input(OfSend)
    .mutation(({ ctx, input: { projectId, sendId } }) =>
      inProject(ctx.deps, projectId, async (scope) => toSend(await cancel(scope, sendId))),
    ),
});
