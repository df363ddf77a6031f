import { z } from 'zod';
import { Moment, Timestamp } from '../base/moment.ts';
import { isStorable, isUnseen, NOT_STORABLE } from '../base/text.ts';
import { UNITS } from '../base/work_units.ts';
import type { Work } from '../base/work_units.ts';
import { checkProperties, PROPERTY_KEY_CHARS_MAX, PROPERTY_KEYS_MAX } from './properties.ts';
import type { Properties } from './properties.ts';
import { isReserved, RESERVED_PREFIX, toUnreserved } from './reserved_names.ts';

export const BATCH_EVENTS_MAX = 50;
export const EVENT_NAME_CHARS_MAX = 100;
export const IDENTIFIER_CHARS_MAX = 255;
export const MESSAGE_ID_CHARS_MAX = 255;
export const EVENT_BYTES_MAX = 32 * 1024;

const EVENT_NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** Values that never name a person; they are what a missing value looks like. Compared in lower case. */
export const NOBODY: ReadonlySet<string> = new Set([
  ...'null undefined none nil anonymous guest unknown 0 -1 nan true false'.split(' '),
  ...'email@example.com user@example.com test@test.com you@example.com name@example.com'.split(' '),
  '[object object]',
  '00000000-0000-0000-0000-000000000000',
]);

/** Whether a value that is not blank never names a person. */
const isNobody = (value: string): boolean =>
  NOBODY.has(value.trim().toLowerCase()) || (value.trim() !== '' && isUnseen(value));

/** What storing an event costs. */
export const workOf = ({ anonymous_id }: { anonymous_id?: string | undefined }): Work => ({
  units: UNITS.event,
  device: anonymous_id,
});

/** A name with its letters, and without what stands above and below them. */
export const withoutAccents = (name: string): string =>
  name.normalize('NFKD').replaceAll(/\p{M}+/gu, '');

/** The snake_case spelling of a name, to propose: `Signed Up` and `signedUp` give `signed_up`, `Été` gives `ete`. */
export const toSnakeCase = (name: string): string =>
  withoutAccents(name)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
    .toLowerCase();

const proposal = (name: string): string => {
  const proposed = toUnreserved(toSnakeCase(name.slice(0, EVENT_NAME_CHARS_MAX)))
    .slice(0, EVENT_NAME_CHARS_MAX)
    .replace(/_$/, '');
  return proposed === ''
    ? 'must be snake_case, such as signed_up'
    : `must be snake_case: try "${proposed}"`;
};

/** The name of an event; of anything else nothing can ever have happened. */
export const EventName = z
  .string()
  // A text of another length is not looked through: of unbounded texts even that is work.
  .max(EVENT_NAME_CHARS_MAX, { abort: true, error: `at most ${EVENT_NAME_CHARS_MAX} characters` })
  .regex(EVENT_NAME, { error: ({ input }) => proposal(String(input)) })
  .meta({ description: 'What happened, in the past tense and snake_case.' });

const refusal = (name: string): string => {
  const proposed = toUnreserved(name).slice(0, EVENT_NAME_CHARS_MAX).replace(/_$/, '');
  return `"${name}" is reserved for events that Trunkline records itself: use another name, such as "${proposed}"`;
};

/** The name of an event that a client sends: any but those that the service records itself. */
const SentName = EventName.refine((name) => !isReserved(name), {
  error: ({ input }) => refusal(String(input)),
  // A name that is no name of an event is refused for that, in one sentence.
  when: ({ issues }) => issues.length === 0,
}).meta({
  description:
    'What happened, in the past tense and snake_case. ' +
    `Names that begin with \`${RESERVED_PREFIX}\` are reserved for events that the service records itself.`,
  not: { pattern: `^${RESERVED_PREFIX}` },
});

/** A person's id as a client gives it. */
export const Identifier = z
  .string()
  .min(1, 'must not be empty')
  .max(IDENTIFIER_CHARS_MAX, { abort: true, error: `at most ${IDENTIFIER_CHARS_MAX} characters` })
  .refine(isStorable, NOT_STORABLE)
  .refine((value) => value === '' || value.trim() !== '', 'must not be blank')
  .refine((value) => !isNobody(value), 'never names a person: leave it out, or send the real id');

const ExternalId = Identifier.meta({
  description:
    'The person by your own id. This or `anonymous_id` is required. Values that never name a person are refused.',
});
const AnonymousId = Identifier.meta({
  description:
    'The device or session of somebody who is not known yet. Next to `external_id` it is remembered, not linked.',
});

const OccurredAt = Timestamp.meta({
  description: 'When it happened, RFC 3339 with offset; the moment of receipt if left out.',
});

/** What makes a repeated request harmless. */
export const MessageId = z
  .string()
  .min(1, 'must not be empty')
  .max(MESSAGE_ID_CHARS_MAX, { abort: true, error: `at most ${MESSAGE_ID_CHARS_MAX} characters` })
  .refine(isStorable, NOT_STORABLE)
  .meta({
    description:
      'Your own id of this event. A repeat by the same kind of key is not stored again, it counts as a duplicate: ' +
      'for as long as the event is kept. Server and publishable keys, and events and identifies, each have ids of ' +
      'their own.',
  });

const PropertiesInput = z
  .unknown()
  .superRefine((value, context) => {
    for (const { path, message } of checkProperties(value))
      context.addIssue({ code: 'custom', path, message });
  })
  .meta({
    description: 'Strings, finite numbers and booleans by name; nothing nested, no null.',
    type: 'object',
    maxProperties: PROPERTY_KEYS_MAX,
    propertyNames: { minLength: 1, maxLength: PROPERTY_KEY_CHARS_MAX },
    additionalProperties: { type: ['string', 'number', 'boolean'] },
  }) as unknown as z.ZodType<Properties>;

export const EventInput = z
  .strictObject({
    event: SentName,
    external_id: ExternalId.optional(),
    anonymous_id: AnonymousId.optional(),
    properties: PropertiesInput.optional(),
    occurred_at: OccurredAt.optional(),
    message_id: MessageId.optional(),
  })
  .refine((event) => event.external_id !== undefined || event.anonymous_id !== undefined, {
    message: 'external_id or anonymous_id is required',
  })
  .refine((event) => Buffer.byteLength(JSON.stringify(event)) <= EVENT_BYTES_MAX, {
    message: `an event is at most ${EVENT_BYTES_MAX} bytes of JSON`,
    // The built-in serialiser overflows its stack on deep input, so it only sees what is valid so far.
    when: ({ issues }) => issues.length === 0,
  })
  .meta({
    id: 'Event',
    description: `Something that a person did. At most ${EVENT_BYTES_MAX / 1024} KiB of JSON.`,
    anyOf: [{ required: ['external_id'] }, { required: ['anonymous_id'] }],
    examples: [
      {
        event: 'user_signed_up',
        external_id: 'ann',
        properties: { email: 'ann@example.com', first_name: 'Ann', plan: 'pro', seats: 3 },
        message_id: 'sign-up-ann-1',
      },
    ],
  });
export type EventInput = z.output<typeof EventInput>;

export const BatchInput = z
  .strictObject({
    sent_at: Moment.optional().meta({
      description:
        "The client's clock when it sent the batch: what its occurred_at are corrected by.",
    }),
    events: z
      .array(EventInput)
      .min(1, `a batch holds between 1 and ${BATCH_EVENTS_MAX} events`)
      .max(BATCH_EVENTS_MAX, `a batch holds between 1 and ${BATCH_EVENTS_MAX} events`),
  })
  .meta({
    id: 'Batch',
    examples: [
      {
        events: [
          { event: 'trial_started', external_id: 'ann', properties: { plan: 'pro' } },
          { event: 'page_viewed', anonymous_id: 'device-7', properties: { path: '/pricing' } },
        ],
      },
    ],
  });
export type BatchInput = z.output<typeof BatchInput>;

export const AcceptedAnswer = z
  .strictObject({
    accepted: z.int().nonnegative().meta({ description: 'Events stored by this request.' }),
    duplicates: z.int().nonnegative().meta({ description: 'Events that were stored before.' }),
    event_ids: z.array(z.uuid()).meta({
      description:
        "Ids in the order of the request; a duplicate's is that of the first event, by the same kind of key.",
    }),
  })
  .meta({
    id: 'Accepted',
    examples: [{ accepted: 1, duplicates: 0, event_ids: ['019a9f0c-6c00-7cc3-98c4-dc0c0c07398f'] }],
  });
export type AcceptedAnswer = z.output<typeof AcceptedAnswer>;
