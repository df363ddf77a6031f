import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { isNamed } from '../ingest/ingest.ts';
import type { Identifier } from './past_queries.ts';

const Refused = z.strictObject({
  reason: z.enum(['late', 're_entry']),
  event_id: z.uuid().nullable(),
  entry: z.int().nullable(),
  event_at: z.date(),
  refused_at: z.date(),
});
export type RefusedRow = z.output<typeof Refused>;

/** By which events somebody was not taken, under any of their identities, the last first. */
export const listRefusals = (
  { tx, projectId }: Scope,
  automationId: string,
  identityIds: readonly string[],
) =>
  tx.any(sql.type(Refused)`
    select reason, event_id, entry, event_at, refused_at from automations.refusals
    where project_id = ${projectId} and automation_id = ${automationId}
    and identity_id = any (${sql.array([...identityIds], 'uuid')})
    order by refused_at desc
  `);

const Sent = z.strictObject({
  send_id: z.uuid(),
  provider_id: z.uuid(),
  status: z.string(),
  status_reason: z.string().nullable(),
  accepted_at: z.date().nullable(),
  delivered_at: z.date().nullable(),
  bounced_at: z.date().nullable(),
  complained_at: z.date().nullable(),
});
export type SentRow = z.output<typeof Sent>;

/** What became of the sends of some runs. */
export const listSendsOf = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(Sent)`
    select send_id, provider_id, status, status_reason, accepted_at, delivered_at, bounced_at, complained_at
    from delivery.sends
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')})
  `);

const Newest = z.strictObject({
  event_id: z.uuid(),
  properties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  occurred_at: z.date(),
  received_at: z.date(),
  source: z.enum(['browser', 'server', 'system']),
});

type Sought = { name: string; source?: 'server' | undefined };

/** Returns the newest event of a name and a source by one identifier since a moment: one walk down an index. */
const findNewestEvent = (
  { tx, projectId }: Scope,
  { kind, value }: Identifier,
  { name, source, since }: Sought & { since: Date },
) => {
  const belongsTo =
    kind === 'external'
      ? sql.fragment`external_id = ${value}`
      : sql.fragment`external_id is null and anonymous_id = ${value}`;
  return tx.maybeOne(sql.type(Newest)`
    select event_id, properties, occurred_at, received_at, source from ingest.events as event
    where project_id = ${projectId} and ${belongsTo} and ${isNamed(name)}
    and (${source ?? null}::text is null or source = ${source ?? null})
    and occurred_at >= ${sql.timestamp(since)}
    order by occurred_at desc
    limit 1
  `);
};

/** How far back the last event of somebody's is looked for. */
const LOOK_BACK_DAYS = 400;
const DAY_MS = 86_400_000;

/**
 * Returns the newest event of a name that a person has under any of their identifiers. With a source, events of others
 * do not hide an older one.
 */
export const findNewestOf = async (
  scope: Scope,
  members: readonly Identifier[],
  { name, source, now }: Sought & { now: Date },
) => {
  const since = new Date(now.getTime() - LOOK_BACK_DAYS * DAY_MS);
  const found = [];
  for (const member of members) {
    const event = await findNewestEvent(scope, member, { name, source, since });
    if (event) found.push(event);
  }
  return found.toSorted((a, b) => b.occurred_at.getTime() - a.occurred_at.getTime())[0] ?? null;
};
