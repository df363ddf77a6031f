// Who calls us back.
import type { Area } from './promised.ts';

export const webhooks: Area = {
  area: 'Webhooks',
  promises: [
    {
      says: 'they are verified before what they say is read, over the raw bytes',
      shown: {
        'http/authentication.test.ts': ['401 before 403, 404, 413, 415 and 400'],
        'feedback/post_webhooks.test.ts': [
          '401 invalid_token: a wrong token has no effect, wherever it stands',
          '400 invalid_json: bytes that are no UTF-8 are not guessed at',
        ],
        'feedback/mailgun.test.ts': ['does not lend its members to one that has none'],
      },
    },
    {
      says: 'secrets are compared in constant time, or looked up by their hash',
      shown: {
        'hardening/source.test.ts': [
          'whoever makes a digest of a secret compares it in constant time',
        ],
      },
    },
    {
      says: 'the size of a body is limited',
      shown: {
        'http/every_limit.test.ts': ['every limit in the documents is tried here, and no other'],
        'feedback/hostile_bodies.test.ts': ['refuses %s below 500 and at once'],
      },
    },
    {
      says: 'only known types of content are taken',
      shown: {
        'feedback/post_mailgun.test.ts': [
          '415 unsupported_media_type: the form of their old webhooks is not taken',
        ],
        'hardening/webhooks.test.ts': [
          '415: no dialect takes a type of content that it does not speak',
        ],
      },
    },
    {
      says: 'the shared token may come in a header; one in the address is in no log',
      shown: {
        'feedback/tokens.test.ts': [
          'the authorization header counts more than the other places, the query least',
        ],
        'feedback/hostile_bodies.test.ts': [
          'a token in the address is in no line of the log, whatever becomes of the post',
        ],
      },
    },
    {
      says: 'of signed posts signature and freshness are checked, and replays refused',
      shown: {
        'feedback/post_mailgun.test.ts': [
          '401 invalid_signature: a signature that is wrong, old or missing has no effect',
          '401 invalid_signature: whoever signed at another time is told of clocks, nobody else is',
          '406 webhook_replayed: a signature is good for one body',
        ],
        'feedback/vendors/post_signed.test.ts': [
          '401 invalid_signature: of another key, over another body, or none',
          '401 invalid_signature: at the bound of its age it counts, one second past it not',
          '200: the same post again is a duplicate, also ten times at once',
          'SendGrid: the second signature that is as good as the first brings no second effect',
        ],
      },
    },
    {
      says: 'once a project has set the key of a vendor, the token does not replace the signature',
      shown: {
        'feedback/vendors/post_signed.test.ts': [
          '401 invalid_signature: of another key, over another body, or none',
          'without a key: 200 with the token, 401 with a signature alone',
          '400 invalid_request: what is no key of this vendor is not stored',
        ],
      },
    },
    {
      says: 'events of Amazon EventBridge bear no signature, so only the token proves them',
      shown: {
        'feedback/post_event_bridge.test.ts': [
          '401 invalid_token: without the token, or with a wrong one, it has no effect',
          '200: only about emails that this project handed to Amazon SES',
        ],
      },
    },
    {
      says: 'an address and a time resolve no send whose outcome is unknown',
      shown: {
        'feedback/before_outcome.test.ts': [
          'does not resolve an unknown outcome, and is not of an older send',
          'leaves a hand-off unknown that is lost later',
        ],
      },
    },
    {
      says: 'one event that cannot be read loses no other of its post',
      shown: {
        'feedback/vendors/post_vendors.test.ts': [
          '200: of a batch the good events count, and the others are named',
          '200: a batch of more events than one transaction stores is stored in parts',
        ],
      },
    },
    {
      says: 'cloud notifications are taken in both versions of the signature',
      shown: {
        'feedback/sns.test.ts': [
          'of version %s is proven, as others find it',
          'is not proven once anything signed is changed, as others find it',
        ],
      },
    },
    {
      says: 'their certificate comes over HTTPS from the vendor’s own host, with a valid chain',
      shown: {
        'feedback/sns.test.ts': [
          'is not %s, as others find it',
          'signs in its time, with a long key of the kind they use, and for nobody else',
        ],
        'base/get_text.test.ts': [
          'who has no certificate of that name, or one that nobody vouches for',
        ],
      },
    },
    {
      says: 'a signature proves the vendor, not the customer: only the token or an owner confirms a topic',
      shown: {
        'feedback/post_sns.test.ts': [
          '403 foreign_topic: a signature proves the service, not whose topic it is',
          'a topic that was removed does not come back by a confirmation that somebody kept',
        ],
        'feedback/topics.test.ts': [
          'is never confirmed in a project without an SES provider: it waits, and suppresses nothing',
          'that asks first does not keep out the owner’s, which comes with the token',
          'neither unsubscribes nor confirms with the token of another project or one that was revoked',
          'in two regions both work; one that is unsubscribed closes only itself',
          'confirms a pending topic at Amazon with the token of its newest request, and it counts',
          'beside a rejection at once: one of the two decides, and the other learns it',
        ],
      },
    },
    {
      says: 'strangers neither fill nor flush the list of topics that wait for approval',
      shown: {
        'feedback/topics.test.ts': [
          'holds five of one AWS account; rejected ones keep their place',
          'holds fifty: strangers neither flush it nor keep the token out',
          'holds so many and no more of those that ask at once',
          'forgets a topic ${PENDING_TOPIC_HOURS_MAX} hours after it asked last, as Amazon does its token',
        ],
      },
    },
    {
      says: 'Amazon SES has effects only for messages that the project itself handed to it',
      shown: {
        'feedback/ses_messages.test.ts': [
          'an address that this project never emailed is not suppressed by a confirmed topic',
          'an address alone proves nothing, though a send to it went through Amazon SES',
          'a send id or message id of another project proves nothing',
          'the send of one address does not suppress another one',
          'a send that went through %s is none of Amazon SES',
          'for a send of an erased person: the hash of the address is suppressed, and no other address',
        ],
      },
    },
    {
      says: 'an account at a provider that several projects share does not carry feedback between them',
      shown: {
        'feedback/ses_messages.test.ts': [
          'Mailgun: a message of another project here has no effect; one of the account’s own has',
          'SMTP2GO: a message of another project here has no effect',
        ],
      },
    },
    {
      says: 'what confirms a topic is audited, visible and can be taken back',
      shown: {
        'admin/audit.test.ts': ['the service itself is named where it acts by itself'],
        'http/audited.test.ts': [
          'one entry says which key did what, on what, by which request; a refused one none',
        ],
        'feedback/post_sns.test.ts': [
          'a topic with the webhook token in its URL is confirmed, at Amazon, and its notices count',
          'a topic that was removed does not come back by a confirmation that somebody kept',
          'a topic that is unsubscribed is shown so and never subscribed again by us',
        ],
      },
    },
    {
      says: 'the id of a post is stored with its effect in one transaction',
      shown: {
        'feedback/post_mailgun.test.ts': [
          'a post whose effect failed is not remembered: it comes again and takes effect',
        ],
        'feedback/feedback.test.ts': ['one notice told ten times at once takes effect once'],
      },
    },
    {
      says: 'what a stolen token suppressed is listed by its source, and can be taken back',
      shown: {
        'hardening/webhooks.test.ts': [
          'what a stolen token said is listed by its source, taken back, and touches nobody else',
        ],
      },
    },
  ],
};
