import { z } from 'zod';
import type { Addressed, Limit } from '../../base/route.ts';
import { route } from '../../base/route.ts';
import { approve, findTopic, reject, rejectSeveral, remove } from '../settings.ts';
import {
  PENDING_TOPIC_ID_SHOWN,
  TOPIC_APPROVED_SHOWN,
  TOPIC_REJECTED_SHOWN,
  TOPIC_REMOVED_SHOWN,
} from '../shown.ts';
import { shared } from '../webhooks_answer.ts';
import {
  CONFIRMED_TOPICS_MAX,
  PENDING_TOPIC_HOURS_MAX,
  PENDING_TOPICS_MAX,
  PENDING_TOPICS_PER_ACCOUNT_MAX,
  TOPICS_REJECTED_AT_ONCE_MAX,
} from './topic_limits.ts';

const ofTopic = {
  ...shared,
  params: shared.params.extend({
    id: z.uuid().meta({ description: "The topic's `id` in the list of webhooks." }),
  }),
  find: ({ deps, caller, params }: Addressed) => findTopic({ deps, ...caller }, params['id'] ?? ''),
};
const all = '/v1/projects/:project_id/webhooks/amazon-ses';
const path = `${all}/topics/:id`;

/** Which topics to reject: those that the owner has seen, so that a topic that came since still waits. */
export const RejectedTopics = z.strictObject({
  topic_ids: z
    .array(z.uuid())
    .min(1)
    .max(TOPICS_REJECTED_AT_ONCE_MAX)
    .meta({ description: 'The `id` of each in `pending_topics` of the list of webhooks.' }),
});

/** What owners of a server key decide about Amazon SNS topics. */
export const topicRoutes = [
  route({
    ...ofTopic,
    method: 'POST',
    path: `${path}/approve`,
    example: TOPIC_APPROVED_SHOWN,
    summary: 'Approve a pending Amazon SNS topic.',
    description:
      'Approve only a topic of your own AWS account. Trunkline confirms the subscription at Amazon SNS; from then on ' +
      'notifications of the topic count. Repeating the request changes nothing.',
    refusals: ['too_many_topics', 'topic_not_confirmed'],
    handle: ({ deps, caller, found }) => approve({ deps, ...caller }, found.topic_id),
  }),
  route({
    ...ofTopic,
    method: 'POST',
    path: `${path}/reject`,
    example: TOPIC_REJECTED_SHOWN,
    summary: 'Reject a pending Amazon SNS topic.',
    description:
      'The topic is not listed again when it asks. A subscription URL with the webhook token still confirms it.',
    handle: ({ deps, caller, found }) => reject({ deps, ...caller }, found.topic_id),
  }),
  route({
    ...shared,
    method: 'POST',
    path: `${all}/reject-topics`,
    example: TOPIC_REJECTED_SHOWN,
    summary: 'Reject several pending Amazon SNS topics.',
    description:
      'Rejects all named topics that still wait, and skips the others. Use it when strangers fill the list of ' +
      'pending topics. 404: the project has none of the topics.',
    body: RejectedTopics.meta({ examples: [{ topic_ids: [PENDING_TOPIC_ID_SHOWN] }] }),
    handle: ({ deps, caller, body }) => rejectSeveral({ deps, ...caller }, body.topic_ids),
  }),
  route({
    ...ofTopic,
    method: 'DELETE',
    path,
    example: TOPIC_REMOVED_SHOWN,
    summary: 'Remove a confirmed Amazon SNS topic.',
    description:
      'Its notifications are refused with 403 from now on. Delete the subscription at Amazon SNS as well. The other ' +
      'topics of the project stay.',
    handle: ({ deps, caller, found }) => remove({ deps, ...caller }, found.topic_id),
  }),
];

export const topicLimits: readonly Limit[] = [
  {
    name: 'Confirmed Amazon SNS topics',
    value: CONFIRMED_TOPICS_MAX,
    unit: 'items',
    where: 'project',
  },
  {
    name: 'Amazon SNS topics waiting for approval',
    value: PENDING_TOPICS_MAX,
    unit: 'items',
    where: 'project; a subscription URL with the webhook token is not bound by it',
  },
  {
    name: 'Amazon SNS topics of one AWS account, waiting or rejected',
    value: PENDING_TOPICS_PER_ACCOUNT_MAX,
    unit: 'items',
    where: 'project; a subscription URL with the webhook token is not bound by it',
  },
  {
    name: 'Amazon SNS topics that one request rejects',
    value: TOPICS_REJECTED_AT_ONCE_MAX,
    unit: 'items',
    where: '`topic_ids`',
  },
  {
    name: 'Time to approve an Amazon SNS topic',
    value: PENDING_TOPIC_HOURS_MAX,
    unit: 'hours',
    where: 'pending topic',
  },
];
