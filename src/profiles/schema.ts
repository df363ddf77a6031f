import { z } from 'zod';

const Timestamp = z.iso.datetime();
const Json = z.json().register(z.globalRegistry, { id: 'Json', description: 'Any JSON value.' });

export const Profile = z
  .strictObject({
    id: z.uuid(),
    external_id: z.string().nullable().meta({ description: 'Your own id of the person.' }),
    identifiers: z
      .array(
        z.strictObject({
          kind: z.enum(['external', 'anonymous']),
          value: z.string(),
          first_seen_at: Timestamp,
        }),
      )
      .meta({ description: 'Every id that belongs to the person.' }),
    email: z.string().nullable().meta({ description: 'Where mail to the person goes.' }),
    traits: z.record(z.string(), Json).meta({ description: 'What is known of the person.' }),
    tags: z
      .array(z.string())
      .meta({ description: 'Marks by name, such as `hard_bounced` and `complained`.' }),
    suppressed: z.boolean().meta({ description: 'Whether mail to `email` is held back.' }),
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({
    id: 'Profile',
    description: 'One person: identifiers, traits and tags.',
    examples: [
      {
        id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
        external_id: 'ann',
        identifiers: [
          { kind: 'external', value: 'ann', first_seen_at: '2026-01-31T12:00:00.000Z' },
        ],
        email: 'ann@example.com',
        traits: { email: 'ann@example.com', first_name: 'Ann' },
        tags: [],
        suppressed: false,
        first_seen_at: '2026-01-31T12:00:00.000Z',
        last_seen_at: '2026-02-01T09:30:00.000Z',
        updated_at: '2026-01-31T12:00:00.000Z',
      },
    ],
  });
export type Profile = z.output<typeof Profile>;

export const TimelineEntry = z
  .strictObject({
    id: z.uuid(),
    event: z.string(),
    external_id: z.string().nullable(),
    anonymous_id: z.string().nullable(),
    properties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    occurred_at: Timestamp,
    received_at: Timestamp,
    source: z.enum(['browser', 'server', 'system']).meta({
      description: 'The kind of key it came with; `system` is what the service itself observed.',
    }),
  })
  .meta({
    id: 'TimelineEntry',
    description: 'An event on the timeline of a person.',
    examples: [
      {
        id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
        event: 'user_signed_up',
        external_id: 'ann',
        anonymous_id: null,
        properties: { plan: 'pro', seats: 3 },
        occurred_at: '2026-01-31T12:00:00.000Z',
        received_at: '2026-01-31T12:00:00.020Z',
        source: 'server',
      },
    ],
  });
export type TimelineEntry = z.output<typeof TimelineEntry>;

const EXTERNAL_ID_PREFIX = 'external_id:';

/** How a path names a profile; anything else names nobody. */
export const ProfileRef = z
  .union([z.uuid(), z.templateLiteral([EXTERNAL_ID_PREFIX, z.string()])])
  .meta({
    description: `The profile's id, or \`${EXTERNAL_ID_PREFIX}<your id>\`, percent-encoded.`,
    examples: ['external_id:ann'],
  });

/** Your own id of a person, where a path names them by it. */
export const readExternalId = (id: string): string | null =>
  id.startsWith(EXTERNAL_ID_PREFIX) ? id.slice(EXTERNAL_ID_PREFIX.length) : null;

const WAYS_TO_FIND = ['external_id', 'anonymous_id', 'email'] as const;

export const ProfileQuery = z
  .strictObject({
    external_id: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Give exactly one of the three.', examples: ['ann'] }),
    anonymous_id: z.string().min(1).optional(),
    email: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'The only one that may find several.' }),
  })
  .refine((query) => WAYS_TO_FIND.filter((way) => query[way] !== undefined).length === 1, {
    message: `give exactly one of ${WAYS_TO_FIND.join(', ')}`,
  });
