import type { Webhook } from '../api.ts';

type Proof = Webhook['verified_by'];

/** What to do about posts that were refused, by the error that they were answered. */
const advice: Record<string, string> = {
  invalid_token:
    'They brought no token of this project, or one that was revoked. Make a new token above, and set it where ' +
    'your provider posts from.',
  invalid_signature:
    'Their signature was missing, wrong or too old. Copy the signing key from your account at Mailgun once more, ' +
    'and set it here.',
  foreign_topic:
    'They came from an SNS topic that is not confirmed. If that topic is yours, create its subscription again with ' +
    'the webhook token in the URL.',
  topic_needs_approval:
    'An SNS topic asked for confirmation without the webhook token, and could not be listed for approval. If that ' +
    'topic is yours, create its subscription again with the webhook token in the URL.',
  too_many_topics:
    'The project has as many confirmed SNS topics as it may. Remove one that you do not need, then create the ' +
    'subscription again.',
  topic_not_confirmed:
    'Amazon SNS did not confirm a subscription. Create it again at Amazon SNS, without raw message delivery.',
  webhook_replayed:
    'A signature came a second time, with another body: somebody may be posting what they have seen. If it goes on, ' +
    'make a new signing key at Mailgun, and set it here.',
  invalid_request:
    'Nothing in them could be read. Each was answered what is wrong, and where: look at the answers in the log of ' +
    'your provider, and at /docs for what is taken.',
  invalid_json: 'They were no JSON. Let your provider post JSON, in UTF-8.',
  unsupported_media_type: 'They were of a type that is not read here. Let your provider post JSON.',
  body_too_large: 'They were too large. Let your provider post fewer events at a time.',
  rate_limited:
    'Your provider sent more than UNIT_LIMIT_SERVER allows. It sends them again later. If this goes on, the operator ' +
    'of this installation can raise that setting.',
  request_timeout:
    'They broke off on their way. Your provider tries them again; if it goes on, look at what stands between it ' +
    'and this server.',
};

/** The same, where it is another thing to do for whoever proves themselves in this way. */
const adviceTo: Partial<Record<Proof, Record<string, string>>> = {
  topic: {
    invalid_signature:
      'Amazon’s signature was missing, wrong or too old. Only Amazon SNS may post to this address: subscribe it to ' +
      'your topic over HTTPS, and let nothing in between change what is posted.',
    invalid_request:
      'They were no messages of Amazon SNS that could be read. Subscribe the address above to your topic over HTTPS, ' +
      'without raw delivery.',
  },
};

/** What to do about posts that were answered an error. */
export const adviceOn = (proof: Proof, error: string): string =>
  adviceTo[proof]?.[error] ?? advice[error] ?? FALLBACK;

export const FALLBACK = 'Look at the answers in the log of your provider.';
