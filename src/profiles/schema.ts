import { z } from 'zod';
import { Timestamp as TimestampInput } from '../base/moment.ts';
import { pageQuery } from '../base/page.ts';
import { TRAITS_PER_UNIT, UNITS } from '../base/work_units.ts';
import type { Work } from '../base/work_units.ts';
import {
  LINK_KEY_TYPES,
  LINK_SOURCES,
  LINK_STATUSES,
  REFUSED_LINK_REASONS,
} from '../identity/identity.ts';
import { Identifier, MessageId } from '../ingest/ingest.ts';
import { LINK_SHOWN, PROFILE_SHOWN } from './shown.ts';
import { checkTraits, TRAIT_KEY_CHARS_MAX, TRAIT_KEYS_MAX } from './traits.ts';

export { LINK_STATUSES };

const Timestamp = z.iso.datetime();
export const Json = z
  .json()
  .register(z.globalRegistry, { id: 'Json', description: 'Any JSON value.' });

/** How many ids of a person are shown, which is all of nearly everybody's. */
export const IDENTIFIERS_SHOWN_MAX = 1_000;

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
      .meta({
        description:
          'Every id that belongs to the person, yours first. Of somebody with more than ' +
          `${IDENTIFIERS_SHOWN_MAX} the first; the export of the person has all.`,
      }),
    email: z.string().nullable().meta({ description: 'Where mail to the person goes.' }),
    traits: z.record(z.string(), Json).meta({ description: 'What is known of the person.' }),
    tags: z
      .array(z.string())
      .meta({ description: 'Marks by name, such as `hard_bounced` and `complained`.' }),
    suppressed: z.boolean().meta({ description: 'Whether mail to `email` is held back.' }),
    first_seen_at: Timestamp,
    last_seen_at: Timestamp.meta({
      description: 'When they last did something: mail to them does not count.',
    }),
    updated_at: Timestamp,
  })
  .meta({
    id: 'Profile',
    description: 'One person: identifiers, traits and tags.',
    examples: [PROFILE_SHOWN],
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
      description:
        'The key it came with: `browser` is a publishable key, `server` a server key; `system` is what the ' +
        'service itself observed.',
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

const REF_WANTED = `a profile's id, or ${EXTERNAL_ID_PREFIX}<your id>`;

/** How a path names a profile; anything else names nobody. */
export const ProfileRef = z
  .union([z.uuid(REF_WANTED), z.templateLiteral([EXTERNAL_ID_PREFIX, z.string()])], {
    error: ({ input }) => (input === undefined ? 'is required' : REF_WANTED),
  })
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
    ...pageQuery,
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

const TraitsInput = z
  .unknown()
  .superRefine((value, context) => {
    for (const { path, message } of checkTraits(value)) {
      context.addIssue({ code: 'custom', path, message });
    }
  })
  .meta({
    description:
      'What is known of the person, by name. The newest word counts; null removes a trait.',
    type: 'object',
    maxProperties: TRAIT_KEYS_MAX,
    propertyNames: { minLength: 1, maxLength: TRAIT_KEY_CHARS_MAX },
  }) as unknown as z.ZodType<Record<string, z.core.util.JSONType>>;

/** Returns what an identify or an alias costs: traits cost more, and with an anonymous id it links two profiles. */
export const workOf = ({
  anonymous_id,
  traits = {},
}: {
  anonymous_id?: string | undefined;
  traits?: object | undefined;
}): Work => ({
  units:
    UNITS.identify +
    (anonymous_id === undefined ? 0 : UNITS.link) +
    Math.floor(Object.keys(traits).length / TRAITS_PER_UNIT),
  device: anonymous_id,
});

const ExternalId = Identifier.meta({ description: 'The person by your own id.' });
const AnonymousId = Identifier.meta({
  description: 'A device or session of the person, from before they were known.',
});

export const IdentifyInput = z
  .strictObject({
    external_id: ExternalId,
    anonymous_id: AnonymousId.optional(),
    traits: TraitsInput.optional(),
    occurred_at: TimestampInput.optional().meta({
      description: 'When it became true, RFC 3339 with offset; the moment of receipt if left out.',
    }),
    message_id: MessageId.optional(),
  })
  .meta({
    id: 'Identify',
    examples: [
      {
        external_id: 'ann',
        anonymous_id: 'device-7',
        traits: { email: 'ann@example.com', first_name: 'Ann' },
      },
    ],
  });
export type IdentifyInput = z.output<typeof IdentifyInput>;

export const AliasInput = z
  .strictObject({ anonymous_id: AnonymousId, external_id: ExternalId })
  .meta({ id: 'Alias', examples: [{ anonymous_id: 'device-8', external_id: 'ann' }] });
export type AliasInput = z.output<typeof AliasInput>;

export const Link = z
  .strictObject({
    id: z.uuid(),
    anonymous_id: z.string(),
    external_id: z.string(),
    profile_id: z.uuid().meta({ description: 'The profile of `external_id`.' }),
    source: z.enum(LINK_SOURCES).meta({ description: 'Who asked for it.' }),
    key_type: z.enum(LINK_KEY_TYPES),
    status: z.enum(LINK_STATUSES),
    reason: z
      .enum(REFUSED_LINK_REASONS)
      .optional()
      .meta({
        description:
          'Why it was refused. `linked_to_another`: the anonymous id belongs to another person. `undone_before`: ' +
          'this link was undone, so only a server makes it again. `too_many_links_today`, `too_many_links`: ' +
          'browsers reached a limit of anonymous ids that they may link to this person.',
      }),
    created_at: Timestamp,
    undone_at: Timestamp.nullable(),
    undone_by: z
      .string()
      .nullable()
      .meta({
        description:
          '`console`, `server_key`, `ledger` (the replay of erasures), or `server_link`: a server linked the ' +
          'anonymous id to another person.',
      }),
    confirmed_at: Timestamp.nullable().meta({
      description: 'When a server said the same as the browser that made the link.',
    }),
    replaces: z
      .uuid()
      .nullable()
      .meta({ description: "The browser's link that this one replaced." }),
    replaced_by: z.uuid().nullable().meta({
      description:
        "The server's link that replaced this one. Undoing that one makes this one active again.",
    }),
  })
  .meta({
    id: 'Link',
    description: 'What made an anonymous id part of a person, or was refused.',
    examples: [LINK_SHOWN],
  });
export type Link = z.output<typeof Link>;
