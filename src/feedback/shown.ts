// What the examples of the documents tell of webhooks: a project whose topic at Amazon SNS is confirmed.
import { SOFT_BOUNCES_MAX_DEFAULT } from './soft_queries.ts';

const AT = '2026-01-31T12:00:00.000Z';
export const ARN_SHOWN = 'arn:aws:sns:eu-west-1:123456789012:ses-feedback';

const webhook = <V extends 'token' | 'signing_key' | 'topic'>(slug: string, verified_by: V) => ({
  slug,
  path: `/v1/webhooks/${slug}/019a9f0c-6c00-7cc3-98c4-dc0c0c07398f`,
  verified_by,
  signing_key_set_at: null,
  topic: null,
  topic_changes: [],
  refused: null,
  last_notices: [],
});
const change = <C extends 'confirmed' | 'reset'>(what: C) => ({
  arn: ARN_SHOWN,
  change: what,
  changed_at: AT,
});

const SMTP = webhook('smtp', 'token');
const SMTP2GO = webhook('smtp2go', 'token');
const MAILGUN = webhook('mailgun', 'signing_key');
const AMAZON_SES = {
  ...webhook('amazon-ses', 'topic'),
  topic: { arn: ARN_SHOWN, confirmed_at: AT, unsubscribed_at: null },
  topic_changes: [change('confirmed')],
};

export const WEBHOOKS_SHOWN = {
  soft_bounces_max: SOFT_BOUNCES_MAX_DEFAULT,
  items: [SMTP, SMTP2GO, MAILGUN, AMAZON_SES],
};

export const DECIDED_SHOWN = { ...WEBHOOKS_SHOWN, soft_bounces_max: 3 };

export const KEY_SET_SHOWN = {
  ...WEBHOOKS_SHOWN,
  items: [SMTP, SMTP2GO, { ...MAILGUN, signing_key_set_at: AT }, AMAZON_SES],
};

export const TOPIC_RESET_SHOWN = {
  ...WEBHOOKS_SHOWN,
  items: [
    SMTP,
    SMTP2GO,
    MAILGUN,
    { ...AMAZON_SES, topic: null, topic_changes: [change('reset'), change('confirmed')] },
  ],
};
