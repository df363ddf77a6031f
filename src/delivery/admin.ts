import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { EMAIL_CHARS_MAX } from '../base/email_address.ts';
import { watch } from '../base/feeds.ts';
import { listInput, PAGE_ITEMS_DEFAULT } from '../base/page.ts';
import {
  editorProcedure,
  liveProcedure,
  ownerProcedure,
  projectProcedure,
  router,
} from '../base/procedure.ts';
import { readSend } from './read_send.ts';
import { REJECTION_REASONS } from '../providers/providers.ts';
import { countRejected, requeue, requeueAll } from './requeue.ts';
import { cancel, resolveOrRepeat, RESOLUTIONS } from './resolve.ts';
import { pageSends, SHOWN_STATUSES, toSend } from './send_log.ts';
import { changeSendingLimits, readSettings, SendingSettings } from './settings.ts';
import { listSilences, SILENCE_FIX } from './silences.ts';

export { findHtml } from './detail_queries.ts';

const OfReason = z.object({
  reason: z.enum(REJECTION_REASONS),
  providerId: z.uuid().optional(),
});

const Filter = z.object({
  status: z.enum(SHOWN_STATUSES).optional(),
  email: z.string().min(1).max(EMAIL_CHARS_MAX).optional(),
  automationId: z.uuid().optional(),
});
const latest = {
  name: 'sends.latest',
  read: (scope: Scope) => pageSends(scope, { limit: PAGE_ITEMS_DEFAULT }),
};
const OfSend = z.object({ sendId: z.uuid() });

export const sendProcedures = router({
  /** The send log, newest first. */
  list: projectProcedure
    .input(Filter)
    .input(listInput)
    .query(({ ctx, input: { projectId, automationId: automation_id, ...wanted } }) =>
      inProject(ctx.deps, projectId, (scope) => pageSends(scope, { ...wanted, automation_id })),
    ),

  /** The first page of the log as it stands, and again each time that something in it has changed. */
  latest: liveProcedure.subscription(({ ctx, input: { projectId } }) =>
    watch(ctx.deps, { projectId, source: latest }, ctx.over),
  ),

  read: projectProcedure
    .input(OfSend)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => readSend(scope, input.sendId)),
    ),

  /** The providers that do not answer: for how many hand-offs, and since when. */
  silences: projectProcedure.query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) =>
      (await listSilences(scope)).map(({ since, ...rest }) => ({
        ...rest,
        since: since.toISOString(),
        fix: SILENCE_FIX,
      })),
    ),
  ),

  /** Says what became of a send whose outcome is unknown. */
  resolve: editorProcedure
    .input(OfSend.extend({ outcome: z.enum(RESOLUTIONS) }))
    .mutation(async ({ ctx, input: { projectId, sendId, outcome } }) =>
      toSend(await resolveOrRepeat(ctx.deps, projectId, sendId, { outcome })),
    ),

  /** Says of an unknown send that it was not sent, and hands it over once more. */
  sendAgain: editorProcedure
    .input(OfSend.extend({ afterAttempt: z.int().positive() }))
    .mutation(async ({ ctx, input: { projectId, sendId, afterAttempt } }) => {
      const found = { outcome: 'not_sent', send_again_after: afterAttempt } as const;
      return toSend(await resolveOrRepeat(ctx.deps, projectId, sendId, found));
    }),

  /** Queues a rejected send again. */
  requeue: editorProcedure
    .input(OfSend)
    .mutation(async ({ ctx, input: { projectId, sendId } }) =>
      toSend(await requeue(ctx.deps, projectId, sendId)),
    ),

  /** How many rejected sends of one reason can be queued again. */
  countRejected: projectProcedure
    .input(OfReason)
    .query(({ ctx, input: { projectId, reason, providerId } }) =>
      inProject(ctx.deps, projectId, (scope) =>
        countRejected(scope, { reason, provider_id: providerId }),
      ),
    ),

  /** Queues the rejected sends of one reason again, a bounded number at a time. */
  requeueAll: editorProcedure
    .input(OfReason)
    .mutation(({ ctx, input: { projectId, reason, providerId } }) =>
      requeueAll(ctx.deps, projectId, { reason, provider_id: providerId }),
    ),

  /** Cancels a send that waits to be handed over. */
  cancel: editorProcedure
    .input(OfSend)
    .mutation(({ ctx, input: { projectId, sendId } }) =>
      inProject(ctx.deps, projectId, async (scope) => toSend(await cancel(scope, sendId))),
    ),
});

/** How much email strangers can cause. */
export const sendingLimitProcedures = router({
  read: projectProcedure.query(({ ctx, input: { projectId } }) =>
    inProject(ctx.deps, projectId, readSettings),
  ),

  change: ownerProcedure
    .input(z.object(SendingSettings.shape))
    .mutation(({ ctx, input: { projectId, ...settings } }) =>
      changeSendingLimits(ctx.deps, projectId, settings),
    ),
});
