import type { Dialect } from '../dialect.ts';
import { readSesMessage } from './events.ts';

/**
 * Amazon SES reports through topics of Amazon SNS, which posts its JSON as text; or through Amazon
 * EventBridge.
 */
export const amazonSes = {
  name: 'Amazon SES',
  aliases: ['aws-ses'],
  about: 'amazon_ses',
  verification: { kind: 'topic' },
  mediaTypes: null,
  setUp: {
    steps: [
      'Create a configuration set at Amazon SES with an SNS topic as its event destination.',
      'Create an HTTPS subscription for the topic with this URL and the webhook token at its end.',
      'Leave raw message delivery off.',
      'Instead of a topic, an EventBridge API destination can post with the token in X-Webhook-Token.',
    ],
    subscribeTo: [
      'Bounce',
      'Complaint',
      'Delivery',
      'DeliveryDelay',
      'Reject',
      'Rendering Failure',
      'Subscription',
      'Open',
      'Click',
    ],
    isTokenInUrl: true,
  },
  read: ({ raw, receivedAt }) => readSesMessage(raw.toString('utf8'), receivedAt),
} as const satisfies Dialect;
