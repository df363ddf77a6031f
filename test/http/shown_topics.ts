// The Amazon SNS topics of the documents' examples: a confirmed one, and one that waits for approval.
import { newId } from '../../src/base/ids.ts';
import { ARN_SHOWN, PENDING_ARN_SHOWN } from '../../src/feedback/shown.ts';
import type { TestDatabase } from '../support/database.ts';

/** Inserts both; `shownId` is the one that the endpoint under test finds. */
export const keepShownTopics = async (
  { owner }: TestDatabase,
  projectId: string,
  { shownId, isConfirmed }: { shownId: string; isConfirmed: boolean },
): Promise<void> => {
  const [confirmed, pending] = isConfirmed ? [shownId, newId()] : [newId(), shownId];
  await owner.query(
    `insert into feedback.topics (project_id, topic_arn, topic_id, status, first_asked_at, last_asked_at,
       subscription_arn, confirmed_by, confirmed_at)
     values ($1, $2, $3, 'confirmed', now() - interval '1 hour', now(), 'arn', 'token', now())`,
    [projectId, ARN_SHOWN, confirmed],
  );
  await owner.query(
    `insert into feedback.topics (project_id, topic_arn, topic_id, status, first_asked_at, last_asked_at, confirm_token)
     values ($1, $2, $3, 'pending', now(), now(), 'a-token-of-theirs')`,
    [projectId, PENDING_ARN_SHOWN, pending],
  );
  await owner.query(
    `insert into feedback.topic_changes (project_id, change_id, topic_arn, change, changed_at)
     values ($1, $2, $3, 'confirmed', now())`,
    [projectId, newId(), ARN_SHOWN],
  );
};
