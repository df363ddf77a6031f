import type { FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';
import { isNamed } from '../ingest/ingest.ts';
import { firstIdAt } from '../base/ids.ts';

const PastEvent = z.strictObject({
  event_id: z.uuid(),
  name: z.string(),
  properties: jsonObject<string | number | boolean>(),
  occurred_at: z.date(),
  received_at: z.date(),
  source: z.enum(['browser', 'server', 'system']),
});
export type PastEvent = z.output<typeof PastEvent>;

export type Identifier = { kind: 'external' | 'anonymous'; value: string };

/** An event belongs to its external id, and to its anonymous id where it has none. */
const belongsTo = ({ kind, value }: Identifier) =>
  kind === 'external'
    ? sql.fragment`external_id = ${value}`
    : sql.fragment`external_id is null and anonymous_id = ${value}`;

/** How far a client's clock may be ahead. */
const AHEAD_MS = 24 * 3_600_000;

/**
 * Somebody's events of one name within a time, oldest first, and all of the moment of the last: one walk down
 * one index per month. What was received by the end has occurred by then, whatever a clock that is ahead says.
 */
export const listEventsOf = (
  { tx, projectId }: Scope,
  identifier: Identifier,
  { name, from, until, limit }: { name: string; from: Date; until: Date; limit: number },
) =>
  tx.any(sql.type(PastEvent)`
    select event_id, name, properties, occurred_at, received_at, source from ingest.events as event
    where project_id = ${projectId} and ${belongsTo(identifier)} and ${isNamed(name)}
    and occurred_at >= ${sql.timestamp(from)}
    and occurred_at <= ${sql.timestamp(new Date(until.getTime() + AHEAD_MS))}
    and (occurred_at <= ${sql.timestamp(until)} or received_at <= ${sql.timestamp(until)})
    order by occurred_at
    fetch first (${limit}) rows with ties
  `);

const EventOf = PastEvent.extend({ identity_id: z.uuid() });
type Since = Identifier & { id: string; since: Date };

/** The first events of one name of many people, each since their own moment, by when they have come by the end. */
export const listFirstEventsOf = (
  { tx, projectId }: Scope,
  people: readonly Since[],
  { name, until, limit }: { name: string; until: Date; limit: number },
) => {
  const column = (read: (one: Since) => string, type: string) => sql.array(people.map(read), type);
  const eventsOf = (kind: Identifier['kind'], isTheirs: FragmentSqlToken) => sql.fragment`(
    select event_id, name, properties, occurred_at, received_at, source from ingest.events as event
    where project_id = ${projectId} and known.kind = ${kind} and ${isTheirs} and ${isNamed(name)}
    and occurred_at >= known.since
    and occurred_at <= ${sql.timestamp(new Date(until.getTime() + AHEAD_MS))}
    and (occurred_at <= ${sql.timestamp(until)} or received_at <= ${sql.timestamp(until)})
    order by occurred_at
    limit ${limit}
  )`;
  return tx.any(sql.type(EventOf)`
    select known.identity_id, event.*
    from unnest(
      ${column(({ id }) => id, 'uuid')}, ${column(({ kind }) => kind, 'text')},
      ${column(({ value }) => value, 'text')}, ${column(({ since }) => since.toISOString(), 'timestamptz')}
    ) as known (identity_id, kind, value, since)
    cross join lateral (
      ${eventsOf('external', sql.fragment`external_id = known.value`)}
      union all
      ${eventsOf('anonymous', sql.fragment`external_id is null and anonymous_id = known.value`)}
    ) as event
  `);
};

/** The statuses of a send that no email went out for, and none will. */
export const STOPPED = [
  'suppressed',
  'cancelled',
  'expired',
  'failed_render',
  'rejected',
  'not_sent',
];

const OwnSend = z.strictObject({
  step_id: z.string(),
  status: z.string(),
  delivered_at: z.date().nullable(),
  bounced_at: z.date().nullable(),
  complained_at: z.date().nullable(),
});
export type OwnSendRow = z.output<typeof OwnSend>;

/** What a run has sent. */
export const listOwnSends = ({ tx, projectId }: Scope, runId: string) =>
  tx.any(sql.type(OwnSend)`
    select step_id, status, delivered_at, bounced_at, complained_at from delivery.sends
    where project_id = ${projectId} and run_id = ${runId} and step_id is not null
  `);

const SentAt = z.strictObject({ queued_at: z.date() });

/**
 * Lists when a person was to be sent emails after a moment, oldest first, without stopped ones and tests. Of servers
 * only: without those of browser-triggered runs, too.
 */
export const listSentTo = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  {
    since,
    automationId,
    isServerOnly,
  }: { since: Date; automationId: string | null; isServerOnly: boolean },
) =>
  tx.any(sql.type(SentAt)`
    select queued_at from delivery.sends
    where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
    and send_id >= ${firstIdAt(since)}::uuid and queued_at > ${sql.timestamp(since)}
    and status not in ('suppressed', 'cancelled', 'expired', 'failed_render', 'rejected', 'not_sent')
    and (${automationId}::uuid is null or automation_id = ${automationId}::uuid)
    and not is_test and not (${isServerOnly} and coalesce(limits ? 'browser_triggered', false))
    order by queued_at
  `);

const SentBeside = z.strictObject({
  identity_id: z.uuid(),
  queued_at: z.date(),
  is_browser_triggered: z.boolean(),
});

/** When some people were to be sent mails by anybody but one automation; not those that were stopped, nor tests. */
export const listSentBeside = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  automationId: string,
) =>
  tx.any(sql.type(SentBeside)`
    select identity_id, queued_at, coalesce(limits ? 'browser_triggered', false) as is_browser_triggered
    from delivery.sends
    where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
    and automation_id is distinct from ${automationId}::uuid
    and status not in ('suppressed', 'cancelled', 'expired', 'failed_render', 'rejected', 'not_sent')
    and not is_test
  `);
