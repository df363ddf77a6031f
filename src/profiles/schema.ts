import { z } from 'zod';

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
