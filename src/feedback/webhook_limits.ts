import type { Limit } from '../base/route.ts';
import { EVENTS_MAX } from './dialects/dialect.ts';
import { STANDARD_MINUTES } from './dialects/freshness.ts';
import { SIGNATURE_HOURS_MAX } from './dialects/mailgun/mailgun_signature.ts';
import { NAME_CHARS_MAX } from './dialects/reading.ts';
import { EVENT_ID_CHARS_MAX, NOTICES_MAX } from './dialects/smtp/smtp.ts';

/** Vendors post up to 1,000 events or 768 KiB at a time, and drop what is refused for its size. */
export const WEBHOOK_BYTES_MAX = 2 * 1024 * 1024;
/** Anyone may post without a token: the signature stands in the body or over it. */
export const TOKENLESS_BYTES_MAX = 1024 * 1024;

export const feedbackLimits: readonly Limit[] = [
  { name: 'Events in a webhook', value: NOTICES_MAX, unit: 'items', where: 'body of `smtp`' },
  {
    name: 'Events in a webhook of a vendor',
    value: EVENTS_MAX,
    unit: 'items',
    where: 'body of `sendgrid`, `sparkpost`, `mailjet`, `brevo`, `postmark`, `resend`',
  },
  {
    name: 'Id of an event in a webhook',
    value: EVENT_ID_CHARS_MAX,
    unit: 'characters',
    where: '`event_id`, `id`, `uuid`',
  },
  {
    name: 'Any name or address in a webhook',
    value: NAME_CHARS_MAX,
    unit: 'characters',
    where: 'event',
  },
  {
    name: 'Age of a signed webhook',
    value: SIGNATURE_HOURS_MAX,
    unit: 'hours',
    where: '`mailgun`, `sendgrid`: `signature.timestamp`, `X-Twilio-Email-Event-Webhook-Timestamp`',
  },
  {
    name: 'Age of a webhook signed by Svix',
    value: STANDARD_MINUTES,
    unit: 'minutes',
    where: '`resend`: `svix-timestamp`',
  },
  { name: 'Body of a webhook', value: WEBHOOK_BYTES_MAX, unit: 'bytes', where: 'body' },
  {
    name: 'Body of a webhook without the webhook token',
    value: TOKENLESS_BYTES_MAX,
    unit: 'bytes',
    where: 'body',
  },
];
