// The examples of webhooks in the reference: two of the vendors, with a confirmed topic and one that waits.
import { describeKey, describeSetUp, pathOf, verifiedBy } from './describe_webhooks.ts';
import { dialectOf, SOURCES } from './dialects/dialects.ts';
import type { Source } from './dialects/dialects.ts';
import { SOFT_BOUNCES_MAX_DEFAULT } from './soft_queries.ts';
import { NO_TOPICS } from './topics/describe_topics.ts';
import type { TopicChange } from './topics/topic_queries.ts';

const AT = '2026-01-31T12:00:00.000Z';
export const ARN_SHOWN = 'arn:aws:sns:eu-west-1:123456789012:ses-feedback';
export const PENDING_ARN_SHOWN = 'arn:aws:sns:us-east-1:123456789012:ses-complaints';
export const TOPIC_ID_SHOWN = '019a9f0c-6c00-7cc3-98c4-dc0c0c0739a1';
export const PENDING_TOPIC_ID_SHOWN = '019a9f0c-6c00-7cc3-98c4-dc0c0c0739a2';
const PROJECT_ID_SHOWN = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const PLACE = { arn: ARN_SHOWN, account: '123456789012', region: 'eu-west-1' };
const PENDING_PLACE = { arn: PENDING_ARN_SHOWN, account: '123456789012', region: 'us-east-1' };

const webhook = <V extends 'token' | 'signing_key' | 'topic'>(slug: Source, verified_by: V) => {
  const { name, verification } = dialectOf(slug);
  return {
    slug,
    name,
    path: pathOf(slug, PROJECT_ID_SHOWN),
    verified_by,
    signing_key: describeKey(verification),
    signing_key_set_at: null,
    ...NO_TOPICS,
    refused: null,
    last_notices: [],
  };
};
const change = <C extends TopicChange['change']>(what: C, arn = ARN_SHOWN) => ({
  arn,
  change: what,
  changed_at: AT,
});

const unused = (source: Source) =>
  webhook(source, verifiedBy(dialectOf(source).verification, null));
const MAILGUN = webhook('mailgun', 'signing_key');
const CONFIRMED = {
  id: TOPIC_ID_SHOWN,
  ...PLACE,
  confirmed_by: 'token' as const,
  confirmed_at: AT,
  unsubscribed_at: null,
};
const PENDING = {
  id: PENDING_TOPIC_ID_SHOWN,
  ...PENDING_PLACE,
  first_asked_at: AT,
  last_asked_at: AT,
  expires_at: '2026-02-02T12:00:00.000Z',
};
const APPROVED = {
  id: PENDING_TOPIC_ID_SHOWN,
  ...PENDING_PLACE,
  confirmed_by: 'approval' as const,
  confirmed_at: AT,
  unsubscribed_at: null,
};
const AMAZON_SES = {
  ...webhook('amazon-ses', 'topic'),
  topics: [CONFIRMED],
  pending_topics: [PENDING],
  topic_changes: [change('confirmed')],
};

const KNOWN: Partial<Record<Source, object>> = { mailgun: MAILGUN, 'amazon-ses': AMAZON_SES };

/** Every webhook: some as they are given, the others unused. */
const itemsOf = (given: Partial<Record<Source, object>>) =>
  SOURCES.map((source) => ({ ...unused(source), ...KNOWN[source], ...given[source] }));

/** The set-up that the reference shows. */
export const SET_UP_SHOWN = {
  path: pathOf('mailgun', PROJECT_ID_SHOWN),
  verified_by: 'signing_key' as const,
  ...describeSetUp('mailgun'),
};

export const WEBHOOKS_SHOWN = {
  soft_bounces_max: SOFT_BOUNCES_MAX_DEFAULT,
  items: itemsOf({}),
};

export const DECIDED_SHOWN = { ...WEBHOOKS_SHOWN, soft_bounces_max: 3 };

export const KEY_SET_SHOWN = {
  ...WEBHOOKS_SHOWN,
  items: itemsOf({ mailgun: { ...MAILGUN, signing_key_set_at: AT } }),
};

const withTopics = <T extends object>(given: T) => ({
  ...WEBHOOKS_SHOWN,
  items: itemsOf({ 'amazon-ses': { ...AMAZON_SES, ...given } }),
});

export const TOPIC_APPROVED_SHOWN = withTopics({
  topics: [CONFIRMED, APPROVED],
  pending_topics: [],
  topic_changes: [change('approved', PENDING_ARN_SHOWN), change('confirmed')],
});

export const TOPIC_REJECTED_SHOWN = withTopics({
  pending_topics: [],
  topic_changes: [change('rejected', PENDING_ARN_SHOWN), change('confirmed')],
});

export const TOPIC_REMOVED_SHOWN = withTopics({
  topics: [],
  topic_changes: [change('removed'), change('confirmed')],
});
