import { partsOfTopic } from '../sns.ts';

/** How many confirmed topics a project may have: two regions with separate bounce and complaint topics are four. */
export const CONFIRMED_TOPICS_MAX = 10;
/** How many topics of a project may wait for approval at a time. Those already waiting are never displaced. */
export const PENDING_TOPICS_MAX = 50;
/** How many of them may belong to one AWS account. Rejected topics count as well. */
export const PENDING_TOPICS_PER_ACCOUNT_MAX = 5;
/** How many topics one request rejects: as many as can wait, with those that the token is confirming. */
export const TOPICS_REJECTED_AT_ONCE_MAX = PENDING_TOPICS_MAX + CONFIRMED_TOPICS_MAX;
/** How many rejected topics of a project are kept, the newest. */
export const REJECTED_TOPICS_MAX = 100;
/**
 * How long a topic can wait for approval. Amazon's confirmation tokens are valid for two days:
 * https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
 */
export const PENDING_TOPIC_HOURS_MAX = 48;
/** Of how many topics refused posts are counted apart, in all and of one AWS account. The total counts every post. */
export const REFUSED_TOPICS_MAX = 20;
export const REFUSED_TOPICS_PER_ACCOUNT_MAX = 3;
/** A refused topic that did not post again for so long is deleted. */
export const REFUSED_TOPIC_DAYS_MAX = 30;

/** Whether a list has room for one more topic, in all and of the topic's AWS account. */
export const hasRoom = (
  topicArns: readonly string[],
  topicArn: string,
  { max, perAccountMax }: { max: number; perAccountMax: number },
): boolean => {
  const { account } = partsOfTopic(topicArn);
  const ofAccount = topicArns.filter((arn) => partsOfTopic(arn).account === account);
  return topicArns.length < max && ofAccount.length < perAccountMax;
};
