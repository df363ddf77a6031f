import { z } from 'zod';
import { Timestamp as TimestampInput } from '../base/moment.ts';
import {
  LINK_KEY_TYPES,
  LINK_SOURCES,
  LINK_STATUSES,
  REFUSED_LINK_REASONS,
} from '../identity/identity.ts';
import { Identifier, MessageId } from '../ingest/ingest.ts';
import { checkTraits, TRAIT_KEYS_MAX } from './traits.ts';

export { LINK_STATUSES };

const Timestamp = z.iso.datetime();

export const Profile = z.strictObject({
  id: z.uuid(),
  external_id: z.string().nullable(),
  identifiers: z.array(
    z.strictObject({
      kind: z.enum(['external', 'anonymous']),
      value: z.string(),
      first_seen_at: Timestamp,
    }),
  ),
  email: z.string().nullable(),
  traits: z.record(z.string(), z.json()),
  tags: z.array(z.string()),
  suppressed: z.boolean(),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  updated_at: Timestamp,
});
export type Profile = z.output<typeof Profile>;

export const TimelineEntry = z.strictObject({
  id: z.uuid(),
  event: z.string(),
  external_id: z.string().nullable(),
  anonymous_id: z.string().nullable(),
  properties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  occurred_at: Timestamp,
  received_at: Timestamp,
  source: z.enum(['browser', 'server', 'system']),
});
export type TimelineEntry = z.output<typeof TimelineEntry>;

const WAYS_TO_FIND = ['external_id', 'anonymous_id', 'email'] as const;

export const ProfileQuery = z
  .strictObject({
    external_id: z.string().min(1).optional(),
    anonymous_id: z.string().min(1).optional(),
    email: z.string().min(1).optional(),
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
  .meta({ type: 'object', maxProperties: TRAIT_KEYS_MAX }) as unknown as z.ZodType<
  Record<string, z.core.util.JSONType>
>;

export const IdentifyInput = z.strictObject({
  external_id: Identifier,
  anonymous_id: Identifier.optional(),
  /** null removes a trait. */
  traits: TraitsInput.optional(),
  occurred_at: TimestampInput.optional(),
  message_id: MessageId.optional(),
});
export type IdentifyInput = z.output<typeof IdentifyInput>;

export const AliasInput = z.strictObject({ anonymous_id: Identifier, external_id: Identifier });
export type AliasInput = z.output<typeof AliasInput>;

export const Link = z.strictObject({
  id: z.uuid(),
  anonymous_id: z.string(),
  external_id: z.string(),
  profile_id: z.uuid(),
  source: z.enum(LINK_SOURCES),
  key_type: z.enum(LINK_KEY_TYPES),
  status: z.enum(LINK_STATUSES),
  reason: z.enum(REFUSED_LINK_REASONS).optional(),
  created_at: Timestamp,
  undone_at: Timestamp.nullable(),
  undone_by: z.string().nullable(),
});
export type Link = z.output<typeof Link>;
