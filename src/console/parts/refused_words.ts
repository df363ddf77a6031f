import type { Webhook } from '../api.ts';

type Vendor = Pick<Webhook, 'name' | 'verified_by' | 'signing_key' | 'signing_key_set_at'>;

/** What to do about posts that were refused, by the error that they were answered. */
const advice: Record<string, string> = {
  invalid_token:
    'They brought no webhook token of this project, or a revoked one. Check that your provider sends the token. ' +
    'If you do not have it any more, make a new one above, set it at the provider, then revoke the old one.',
  foreign_topic:
    'They came from an SNS topic that is not confirmed. If that topic is yours, create its ' +
    'subscription again with the webhook token in the URL.',
  topic_needs_approval:
    'An SNS topic asked for confirmation without the webhook token, and could not be listed for ' +
    'approval. If that topic is yours, create its subscription again with the webhook token in ' +
    'the URL.',
  too_many_topics:
    'The project has as many confirmed SNS topics as it may. Remove one that you do not need, ' +
    'then create the subscription again.',
  topic_not_confirmed:
    'Amazon SNS did not confirm a subscription. Create it again at Amazon SNS, without raw message delivery.',
  invalid_request:
    'No event in them could be read. Each answer says what is wrong, and where. See the log of ' +
    'your provider, and /docs for the events that Trunkline reads.',
  invalid_json: 'They were no JSON. Let your provider post JSON, in UTF-8.',
  unsupported_media_type: 'Their content type is not supported. Let your provider post JSON.',
  body_too_large: 'They were too large. Let your provider post fewer events at a time.',
  rate_limited:
    'Your provider sent more than UNIT_LIMIT_SERVER allows. It sends them again later. If this ' +
    'goes on, the operator of this installation can raise that setting.',
  request_timeout:
    'They broke off on their way. Your provider tries them again. If this goes on, check the ' +
    'proxies between it and this server.',
};

/** The same for Amazon SNS. */
const ofTopics: Record<string, string> = {
  invalid_signature:
    'Amazon’s signature was missing, wrong or too old. Only Amazon SNS may post to this address:' +
    ' subscribe it to your topic over HTTPS, and let no proxy change the posts.',
  invalid_request:
    'They were no messages of Amazon SNS that could be read. Subscribe the URL to your topic ' +
    'over HTTPS, without raw message delivery.',
};

const noKey = (name: string, key: string, verifiedBy: Vendor['verified_by']): string =>
  verifiedBy === 'token'
    ? `They brought no webhook token, and no ${key} of ${name} is set. Add the token to the URL at ${name}, or set ` +
      'the key here.'
    : `No ${key} is set, and only signed posts of ${name} count. Set the key here.`;

/** The same for a vendor that signs. */
const ofSigners: Record<string, (vendor: Vendor, key: string) => string> = {
  invalid_signature: ({ name, verified_by, signing_key_set_at }, key) =>
    signing_key_set_at === null
      ? noKey(name, key, verified_by)
      : `Their signature was missing, wrong or too old. Copy the ${key} from your account at ${name} once more, and ` +
        'set it here.',
  webhook_replayed: ({ name }, key) =>
    'A signature came a second time, with another body. It may be an attack: if it goes on, make a new ' +
    `${key} at ${name}, and set it here.`,
};

export const FALLBACK = 'Look at the answers in the log of your provider.';

/** Returns what to do about posts that were answered an error. */
export const adviceOn = (vendor: Vendor, error: string): string => {
  const ofTopic = vendor.verified_by === 'topic' ? ofTopics[error] : undefined;
  const ofSigner = ofSigners[error]?.(vendor, (vendor.signing_key?.name ?? 'key').toLowerCase());
  return ofTopic ?? ofSigner ?? advice[error] ?? FALLBACK;
};

/** Errors that any stranger's post gets, whatever the provider does: the URL of a webhook is no secret. */
const OF_STRANGERS = ['invalid_token', 'invalid_signature', 'foreign_topic'];

/** Whether refused posts may be those of strangers, while the provider posts as it should. */
export const mayBeStrangers = ({
  refused,
  last_notices: lastNotices,
}: Pick<Webhook, 'refused' | 'last_notices'>): boolean =>
  refused !== null && lastNotices.length > 0 && OF_STRANGERS.includes(refused.last_error);
