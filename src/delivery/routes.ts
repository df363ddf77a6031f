import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { Moment } from '../base/moment.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import type { Addressed, Again } from '../base/route.ts';
import { SENDS_LOOKED_MAX } from './log_queries.ts';
import type { SendRow } from './log_queries.ts';
import { requeue, REQUEUE_DAYS_MAX, REQUEUE_SENDS_MAX, requeueAll } from './requeue.ts';
import { REJECTION_REASONS } from '../providers/providers.ts';
import { cancel, findSend, resolveOrRepeat, RESOLUTIONS } from './resolve.ts';
import { CANCELLED_SHOWN, REQUEUED_SHOWN, RESOLVED_SHOWN } from './shown.ts';
import { pageSends, Send, SendNow, SHOWN_STATUSES, toSend, toSendNow } from './send_log.ts';

export { retentionLimits, retentionRoutes } from './retention_routes.ts';
export { sendingLimitRoutes, sendingLimits } from './setting_routes.ts';

const SendParams = z.object({ id: z.uuid().meta({ description: "The send's id." }) });
const SendQuery = z.strictObject({
  ...pageQuery,
  profile_id: z.uuid().optional().meta({ description: 'Only sends to this profile.' }),
  automation_id: z.uuid().optional().meta({ description: 'Only sends of this automation.' }),
  email: z.string().min(1).optional().meta({ description: 'Only sends to this address.' }),
  status: z
    .enum(SHOWN_STATUSES)
    .optional()
    .meta({
      description:
        'Only sends that stand so now. A page looks at no more than ' +
        `${SENDS_LOOKED_MAX} sends for them: it may hold few, or none, and have a next.`,
    }),
  after: Moment.optional().meta({ description: 'Only what was queued later than this moment.' }),
});

const ResolveInput = z
  .strictObject({
    outcome: z.enum(RESOLUTIONS).meta({
      description: 'Whether the provider took it. Not sent: it is not tried again by itself.',
    }),
    send_again_after: z
      .int()
      .min(1)
      .optional()
      .meta({
        description:
          'Only with `not_sent`: hand it over once more. As many `attempts` as you have seen, so that the same ' +
          'request again does not send it again.',
      }),
  })
  .refine(
    ({ outcome, send_again_after }) => outcome === 'not_sent' || send_again_after === undefined,
    {
      path: ['send_again_after'],
      message: 'only with outcome not_sent',
    },
  )
  .meta({
    id: 'Resolution',
    examples: [{ outcome: 'accepted' }, { outcome: 'not_sent', send_again_after: 1 }],
  });

const RequeueInput = z
  .strictObject({
    reason: z.enum(REJECTION_REASONS).meta({ description: 'The `status_reason` of the sends.' }),
    provider_id: z.uuid().optional().meta({ description: 'Only sends of this provider.' }),
  })
  .meta({ id: 'Requeue', examples: [{ reason: 'message_refused' }] });

const Requeued = z
  .strictObject({
    queued: z.int().meta({ description: 'How many are queued again.' }),
    has_more: z.boolean().meta({ description: 'Whether more such sends are left.' }),
  })
  .meta({ id: 'Requeued' });

const findNamed = async ({ deps, caller, params }: Addressed): Promise<SendRow | null> => {
  const named = SendParams.safeParse(params);
  if (!named.success) return null;
  return inProject(deps, caller.projectId, (scope) => findSend(scope, named.data.id));
};

/** Without whom it was for, once they are erased. */
const again: Again = {
  idIn: (answer) => Send.parse(answer).id,
  find: async ({ deps, caller }, id) => {
    const send = await inProject(deps, caller.projectId, (scope) => findSend(scope, id));
    return send && toSend(send);
  },
};

export const deliveryRoutes = [
  route({
    method: 'GET',
    path: '/v1/sends',
    access: 'server',
    summary: 'The send log, newest first.',
    query: SendQuery,
    status: 200,
    answer: pageOf(Send),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageSends(scope, query)),
  }),
  route({
    method: 'GET',
    path: '/v1/sends/:id',
    access: 'server',
    summary: 'Read one send.',
    description:
      'With what a queued one waits for just now, and until when: its provider is parked, left alone, or paced; its ' +
      'next try; quiet hours or a frequency cap, which are asked when it is handed over. Of an unknown one also when ' +
      'it is sent again, where its automation wants that.',
    params: SendParams,
    status: 200,
    answer: SendNow,
    find: findNamed,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => toSendNow(scope, found)),
  }),
  route({
    method: 'POST',
    path: '/v1/sends/:id/resolve',
    example: RESOLVED_SHOWN,
    access: 'server',
    summary: 'Say what became of a send whose outcome is unknown.',
    description:
      'For a send that the provider may or may not have taken: look it up at the provider, then say so here. ' +
      'Feedback that arrives says it by itself. Saying the same again changes nothing. With `send_again_after` it is ' +
      'queued instead, handed over once more within the age of a new send, and held should its outcome be unknown ' +
      'again; suppressions and unsubscribes stop it as ever.',
    params: SendParams,
    find: findNamed,
    body: ResolveInput,
    status: 200,
    answer: Send,
    refusals: ['send_not_unknown'],
    again,
    handle: async ({ deps, caller, found, body }) =>
      toSend(await resolveOrRepeat(deps, caller.projectId, found.send_id, body)),
  }),
  route({
    method: 'POST',
    path: '/v1/sends/:id/requeue',
    example: REQUEUED_SHOWN,
    access: 'server',
    summary: 'Queue a rejected send again.',
    description:
      'After the cause is corrected at the provider. It is rendered again: with the template version that it was ' +
      'planned with, and the traits of today. A send that bounced stays ended. Suppressions and unsubscribes still ' +
      'stop it. Queuing it twice changes nothing.',
    params: SendParams,
    find: findNamed,
    status: 200,
    answer: Send,
    refusals: ['send_not_rejected'],
    again,
    handle: async ({ deps, caller, found }) =>
      toSend(await requeue(deps, caller.projectId, found.send_id)),
  }),
  route({
    method: 'POST',
    path: '/v1/rejected-sends/requeue',
    example: { queued: 1, has_more: false },
    access: 'server',
    summary: 'Queue the rejected sends of one reason again.',
    description:
      'Of every provider, or of `provider_id`. Each keeps its template version. ' +
      `At most ${REQUEUE_SENDS_MAX} at a time, the oldest first: repeat it while \`has_more\` is true. Bounces and ` +
      `sends older than ${REQUEUE_DAYS_MAX} days stay ended.`,
    body: RequeueInput,
    status: 200,
    answer: Requeued,
    handle: ({ deps, caller, body }) => requeueAll(deps, caller.projectId, body),
  }),
  route({
    method: 'POST',
    path: '/v1/sends/:id/cancel',
    example: CANCELLED_SHOWN,
    access: 'server',
    summary: 'Cancel a send that waits to be handed over.',
    description:
      'Also while it waits for a retry, and an unknown one that would be sent again by itself (`waits_for` says so): ' +
      'that stays `unknown`. Where an earlier hand-off may have been taken it is `unknown` again, with ' +
      '`cancelled` as its reason, and held. Cancelling again changes nothing.',
    params: SendParams,
    find: findNamed,
    status: 200,
    answer: Send,
    refusals: ['send_not_queued'],
    again,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, async (scope) =>
        toSend(await cancel(scope, found.send_id)),
      ),
  }),
];
