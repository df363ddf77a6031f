// The examples of webhooks in the reference: two of the vendors, with a confirmed topic and one that waits.
import { dialectOf } from './dialects/dialects.ts';
import type { Source } from './dialects/dialects.ts';
import { SOFT_BOUNCES_MAX_DEFAULT } from './soft_queries.ts';
import type { TopicChange } from './topics/topic_queries.ts';

const AT = '2026-01-31T12:00:00.000Z';
export const ARN_SHOWN = 'arn:aws:sns:eu-west-1:123456789012:ses-feedback';
export const PENDING_ARN_SHOWN = 'arn:aws:sns:us-east-1:123456789012:ses-complaints';
export const TOPIC_ID_SHOWN = '019a9f0c-6c00-7cc3-98c4-dc0c0c0739a1';
export const PENDING_TOPIC_ID_SHOWN = '019a9f0c-6c00-7cc3-98c4-dc0c0c0739a2';
const PLACE = { arn: ARN_SHOWN, account: '123456789012', region: 'eu-west-1' };
const PENDING_PLACE = { arn: PENDING_ARN_SHOWN, account: '123456789012', region: 'us-east-1' };

const webhook = <V extends 'token' | 'signing_key' | 'topic'>(slug: Source, verified_by: V) => {
  const { name, verification, setUp } = dialectOf(slug);
  return {
    slug,
    name,
    path: `/v1/webhooks/${slug}/019a9f0c-6c00-7cc3-98c4-dc0c0c07398f`,
    verified_by,
    signing_key:
      verification.kind === 'signature'
        ? { name: verification.keyName, is_required: verification.isRequired }
        : null,
    signing_key_set_at: null,
    set_up: {
      steps: [...setUp.steps],
      subscribe_to: [...setUp.subscribeTo],
      is_token_in_url: setUp.isTokenInUrl,
    },
    topics: [],
    pending_topics: [],
    refused_topics: [],
    topic_changes: [],
    refused: null,
    last_notices: [],
  };
};
const change = <C extends TopicChange['change']>(what: C, arn = ARN_SHOWN) => ({
  arn,
  change: what,
  changed_at: AT,
});

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

export const WEBHOOKS_SHOWN = {
  soft_bounces_max: SOFT_BOUNCES_MAX_DEFAULT,
  items: [MAILGUN, AMAZON_SES],
};

export const DECIDED_SHOWN = { ...WEBHOOKS_SHOWN, soft_bounces_max: 3 };

export const KEY_SET_SHOWN = {
  ...WEBHOOKS_SHOWN,
  items: [{ ...MAILGUN, signing_key_set_at: AT }, AMAZON_SES],
};

const withTopics = <T extends object>(given: T) => ({
  ...WEBHOOKS_SHOWN,
  items: [MAILGUN, { ...AMAZON_SES, ...given }],
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
