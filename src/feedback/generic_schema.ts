import { z } from 'zod';

export const NOTICES_MAX = 500;

const Text = z.string().nullish();
const Told = z.union([z.string(), z.number()]).nullish();

/** The generic schema: one object, an array, or `{ "events": [...] }`, with the names that relays use. */
const GenericEvent = z
  .looseObject({
    event: Text,
    type: Text,
    recipient: Text,
    email: Text,
    rcpt: Text,
    to: Text,
    bounce_type: Text,
    severity: Text,
    occurred_at: Told,
    timestamp: Told,
    time: Told,
    message_id: Told,
    'Message-ID': Told,
    send_id: Text,
    metadata: z.looseObject({ send_id: Text }).nullish(),
    code: Told,
    smtp_code: Told,
    enhanced_code: Text,
    status: Told,
    reason: Text,
    diagnostic: Text,
    response: Text,
    description: Text,
    event_id: Told,
    id: Told,
    uuid: Told,
  })
  .meta({
    id: 'Notice',
    description:
      'What a relay tells about one message. It has to say what happened (`event` or `type`) and to whom ' +
      '(`recipient`, `email`, `rcpt` or `to`). The other names are what relays call the rest. Of several names ' +
      'for one thing the first that can be read counts; unknown names are ignored, and so is what cannot be read ' +
      'of the rest.',
  });

/** What the documents say of it. `read` is more lenient: nothing but what happened, and to whom, can be wrong. */
export const GenericBody = z
  .union([
    GenericEvent,
    z.array(GenericEvent).min(1).max(NOTICES_MAX),
    z.looseObject({ events: z.array(GenericEvent).min(1).max(NOTICES_MAX) }),
  ])
  .meta({
    examples: [
      {
        event: 'bounce',
        bounce_type: 'hard',
        recipient: 'bob@example.com',
        reason: '550 5.1.1 user unknown',
        event_id: 'relay-4711',
      },
    ],
  });
