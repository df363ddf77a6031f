import { z } from 'zod';
import { jsonObject } from '../base/json_object.ts';
import { IDENTIFIER_CHARS_MAX } from '../ingest/ingest.ts';

/** The most that one request of these libraries holds; each of its calls is looked at by itself. */
export const BATCH_CALLS_MAX = 500;

/** What a call is called in a path and in `type`; by its first letter in the paths that browsers use. */
export const CALLS = ['track', 'identify', 'page', 'screen', 'alias', 'group'] as const;
export type CallType = (typeof CALLS)[number];
export const CallName = z.enum([...CALLS, 't', 'i', 'p', 's', 'a', 'g']);

/** The call that a path names, or null. */
export const findCall = (name: string): CallType | null =>
  CALLS.find((call) => call === name || call.charAt(0) === name) ?? null;

/** Libraries send null, or an empty text, for none. */
const Optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional());

/** How long the name of an event, a page or a category may be. A longer one is refused before it is looked through. */
export const NAME_CHARS_MAX = 8 * 1024;

const upTo = (charsMax: number) => z.string().max(charsMax, `at most ${charsMax} characters`);
const Id = Optional(z.union([upTo(IDENTIFIER_CHARS_MAX), z.number().transform(String)]));
/** Checks the members one by one: a copy of a large object would cost as much again. */
const Bag = Optional(jsonObject<z.core.util.JSONType>());
const Text = Optional(upTo(NAME_CHARS_MAX));

/** A call as those libraries send it, as far as it is read. Whatever else it holds is passed over. */
export const Call = z.object({
  type: Text,
  userId: Id,
  anonymousId: Id,
  previousId: Id,
  groupId: Id,
  event: Text,
  name: Text,
  category: Text,
  properties: Bag,
  traits: Bag,
  context: Bag,
  messageId: Text,
  timestamp: Text,
  originalTimestamp: Text,
  sentAt: Text,
});
export type Call = z.output<typeof Call>;

const CALL_MEMBERS = Object.keys(Call.shape);
const CONTEXT_MEMBERS = ['page', 'campaign', 'locale', 'timezone', 'traits'];

/** The members of these names. Whatever is no object stays as it is, for the schema to refuse. */
const pick = (given: unknown, names: readonly string[]): unknown => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const known = names.filter((name) => Object.hasOwn(given, name));
  return Object.fromEntries(known.map((name) => [name, (given as Record<string, unknown>)[name]]));
};

/** What is read of a call. The rest of its body must not stay in memory while the call waits for the database. */
const pickCall = (given: unknown): unknown => {
  const call = pick(given, CALL_MEMBERS) as { context?: unknown };
  return typeof call === 'object' && call !== null && 'context' in call
    ? { ...call, context: pick(call.context, CONTEXT_MEMBERS) }
    : call;
};

const described = {
  type: 'object' as const,
  properties: {
    type: { enum: [...CALLS], description: 'What it says; of a single call the path says it.' },
    userId: { type: ['string', 'number'] as const, description: 'Becomes `external_id`.' },
    anonymousId: { type: 'string' as const, description: 'Becomes `anonymous_id`.' },
    event: { type: 'string' as const, description: 'Of a track; becomes snake_case.' },
    properties: {
      type: 'object' as const,
      description: 'Flattened: `{"cart": {"total": 3}}` is kept as `cart_total`.',
    },
    traits: { type: 'object' as const, description: 'Of an identify or a group.' },
    context: {
      type: 'object' as const,
      description: 'Of which page, campaign, locale and timezone are kept.',
    },
    messageId: { type: 'string' as const, description: 'Becomes `message_id`.' },
    timestamp: { type: 'string' as const, description: 'Becomes `occurred_at`.' },
  },
};

/** One call, in the documents; each is read by itself, so that one that is wrong loses no other. */
export const CallBody = z
  .looseObject({})
  .overwrite((call) => pickCall(call) as typeof call)
  .meta({
    id: 'SegmentCall',
    description:
      "A call as Segment's and RudderStack's libraries send it. Members that are not named here are passed over.",
    properties: described.properties,
    examples: [
      {
        userId: 'ann',
        event: 'Order Completed',
        properties: { orderId: '7', shipping: { city: 'Bern' } },
        messageId: 'order-7',
      },
    ],
  });

export const BatchBody = z
  .looseObject({
    batch: z
      .array(z.unknown().meta({ description: 'A call, with its `type`.' }))
      .max(BATCH_CALLS_MAX, `a batch holds at most ${BATCH_CALLS_MAX} calls`),
    sentAt: z.unknown().optional().meta({
      type: 'string',
      description:
        "The client's clock when it sent the batch: what its timestamps are corrected by.",
    }),
  })
  .overwrite(({ batch, sentAt }) => ({ batch: batch.map(pickCall), sentAt }))
  .meta({
    id: 'SegmentBatch',
    examples: [
      {
        batch: [
          {
            type: 'identify',
            userId: 'ann',
            anonymousId: 'device-7',
            traits: { plan: 'pro' },
            messageId: 'identify-ann-1',
          },
          { type: 'track', userId: 'ann', event: 'Trial Started', messageId: 'trial-ann-1' },
        ],
      },
    ],
  });

const Note = z.strictObject({
  path: z.string().meta({ description: 'Where, as a JSON Pointer into the body.' }),
  message: z.string().meta({ description: 'What to do about it.' }),
});

export const DoneAnswer = z
  .strictObject({
    success: z.literal(true),
    refused: z.array(Note).optional().meta({
      description: 'Calls of a batch that were not taken, and why; the others were.',
    }),
    left_out: z.array(Note).optional().meta({
      description: 'What of calls that were taken could not be kept.',
    }),
  })
  .meta({ id: 'SegmentDone', examples: [{ success: true }] });
export type DoneAnswer = z.output<typeof DoneAnswer>;
