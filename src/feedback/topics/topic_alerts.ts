import * as alerts from '../../alerts/alerts.ts';
import type { Scope } from '../../base/db.ts';
import { partsOfTopic } from '../sns.ts';
import { PENDING_TOPIC_HOURS_MAX } from './topic_limits.ts';
import { listTopics } from './topic_queries.ts';

/** One alert for all topics of a project: strangers can make topics wait, and must not fill the list of alerts. */
const SUBJECT = 'amazon-ses';

const FIX =
  'Open Webhooks. Approve a topic if its account is yours, else reject it. ' +
  `A request of Amazon expires after ${PENDING_TOPIC_HOURS_MAX} hours.`;

const summaryOf = ([first, ...others]: readonly string[]): string => {
  if (others.length > 0) return `${others.length + 1} Amazon SNS topics wait for your approval.`;
  const { account, region } = partsOfTopic(first ?? '');
  return `An Amazon SNS topic of account ${account} in ${region} waits for your approval. Its reports are refused.`;
};

/**
 * Opens the alert that topics wait for approval, or resolves it when none waits any more. Call it when that may have
 * changed, under the lock of the project's list of topics.
 */
export const settlePending = async (scope: Scope): Promise<void> => {
  const topics = await listTopics(scope);
  const waiting = topics
    .filter(({ status, is_confirming }) => status === 'pending' && !is_confirming)
    .map(({ topic_arn }) => topic_arn);
  if (waiting.length === 0) {
    await alerts.resolveAlert(scope, SUBJECT, 'topic_pending');
    return;
  }
  await alerts.openAlert(scope, {
    kind: 'topic_pending',
    subject: SUBJECT,
    subjectName: 'Amazon SES',
    summary: summaryOf(waiting),
    fix: FIX,
    details: { topics: waiting.length },
  });
};

/** Whether the owner is alerted to topics that wait. */
export const isAlerted = async (scope: Scope): Promise<boolean> =>
  (await alerts.listOpenSubjects(scope, 'topic_pending')).length > 0;
