import { z } from 'zod';
import { BOUNCE_TYPE_DESCRIPTION, CODES_DESCRIPTION, EVENT_DESCRIPTION } from './described.ts';
import {
  CODE_NAMES,
  ID_NAMES,
  MESSAGE_ID_NAMES,
  REASON_NAMES,
  RECIPIENT_NAMES,
  TIME_NAMES,
} from './words.ts';
import { REASON_CHARS_MAX } from '../reading.ts';

export const NOTICES_MAX = 500;

const Text = z.string().nullish();
const Told = z.union([z.string(), z.number()]).nullish();
const SendId = Text.meta({ description: 'The id of the send that it is about.' });

/** Names for one thing, of which the same is to be said. */
const all = <Name extends string, Value extends z.ZodType>(
  names: readonly Name[],
  value: Value,
  description: string,
) =>
  Object.fromEntries(names.map((name) => [name, value.meta({ description })])) as Record<
    Name,
    Value
  >;

/**
 * The generic schema: one object, an array, or `{ "events": [...] }`, with the names that relays
 * use.
 */
const GenericEvent = z
  .looseObject({
    event: Text.meta({ description: EVENT_DESCRIPTION }),
    type: Text.meta({
      description:
        'What happened, where there is no `event`; beside one the same as `bounce_type`.',
    }),
    ...all(RECIPIENT_NAMES, Text, 'To whom: one e-mail address, with or without a name.'),
    ...all(['bounce_type', 'severity'], Text, BOUNCE_TYPE_DESCRIPTION),
    ...all(CODE_NAMES, Told, CODES_DESCRIPTION),
    ...all(
      REASON_NAMES,
      Text,
      `Why, in the receiver’s words: ${REASON_CHARS_MAX} characters are kept. Codes are looked for here, too.`,
    ),
    ...all(
      TIME_NAMES,
      Told,
      'When: ISO 8601, or seconds or milliseconds since 1970. A time that cannot be read is the ' +
        'time of receipt. Events of one body without a time happened in their order.',
    ),
    ...all(MESSAGE_ID_NAMES, Told, 'The `Message-ID` of the mail, or the relay’s own id of it.'),
    send_id: SendId,
    metadata: z.looseObject({ send_id: SendId }).nullish(),
    ...all(ID_NAMES, Told, 'The relay’s id of the event: one that comes again changes nothing.'),
  })
  .meta({
    id: 'Notice',
    description:
      'What a relay reports about one email. It needs what happened (`event` or `type`) and the ' +
      'recipient (`recipient`, `email`, `rcpt` or `to`). The other names are what relays call the' +
      ' rest. Of several names for one thing the first that can be read counts. Unknown names are' +
      ' ignored, and so are other values that cannot be read.',
  });

/**
 * What the documents say of it. `read` is more lenient: only what happened and the recipient can be
 * wrong.
 */
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
