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
type Between = Identifier & { id: string; since: Date; until: Date };

/** Lists the first events of one name of many people, each between two moments of their own: received by the second. */
export const listFirstEventsOf = (
  { tx, projectId }: Scope,
  people: readonly Between[],
  { name, limit }: { name: string; limit: number },
) => {
  const column = (read: (one: Between) => string, type: string) =>
    sql.array(people.map(read), type);
  const time = (read: (one: Between) => Date) =>
    column((one) => read(one).toISOString(), 'timestamptz');
  const eventsOf = (kind: Identifier['kind'], isTheirs: FragmentSqlToken) => sql.fragment`(
    select event_id, name, properties, occurred_at, received_at, source from ingest.events as event
    where project_id = ${projectId} and known.kind = ${kind} and ${isTheirs} and ${isNamed(name)}
    and occurred_at >= known.since and occurred_at <= known.until_ahead
    and (occurred_at <= known.until or received_at <= known.until)
    order by occurred_at
    limit ${limit}
  )`;
  return tx.any(sql.type(EventOf)`
    select known.identity_id, event.*
    from unnest(
      ${column(({ id }) => id, 'uuid')}, ${column(({ kind }) => kind, 'text')},
      ${column(({ value }) => value, 'text')}, ${time(({ since }) => since)}, ${time(({ until }) => until)},
      ${time(({ until }) => new Date(until.getTime() + AHEAD_MS))}
    ) as known (identity_id, kind, value, since, until, until_ahead)
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
  run_id: z.uuid(),
  step_id: z.string(),
  status: z.string(),
  delivered_at: z.date().nullable(),
  bounced_at: z.date().nullable(),
  complained_at: z.date().nullable(),
  opened_at: z.date().nullable(),
  clicked_at: z.date().nullable(),
});
export type OwnSendRow = z.output<typeof OwnSend>;

/** Lists what some runs have sent. */
export const listOwnSends = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(OwnSend)`
    select asked.run_id, own.step_id, own.status, own.delivered_at, own.bounced_at, own.complained_at, own.opened_at,
      own.clicked_at
    from unnest(${sql.array([...runIds], 'uuid')}) as asked (run_id)
    cross join lateral (
      select sent.step_id, sent.status, sent.delivered_at, sent.bounced_at, sent.complained_at, sent.opened_at,
        sent.clicked_at
      from delivery.sends as sent
      where sent.project_id = ${projectId} and sent.run_id = asked.run_id and sent.step_id is not null
      offset 0
    ) as own
  `);

/** A person by their identities, and which emails to them count. */
export type SentQuery = {
  identityIds: readonly string[];
  since: Date;
  /** Null where the emails of all automations count. */
  automationId: string | null;
  /** Whether emails of browser-triggered runs do not count. */
  isServerOnly: boolean;
};

const SentAt = z.strictObject({ place: z.int(), queued_at: z.date() });

/** Lists when each person was to be sent emails after a moment, oldest first, but for stopped ones and tests. */
export const listSentTo = async (
  { tx, projectId }: Scope,
  people: readonly SentQuery[],
): Promise<Date[][]> => {
  const asked = people.flatMap(({ identityIds, ...query }, place) =>
    identityIds.map((identityId) => ({ ...query, identityId, place })),
  );
  type Asked = (typeof asked)[number];
  const column = (read: (one: Asked) => string | number | boolean | null, type: string) =>
    sql.array(asked.map(read), type);
  const rows = await tx.any(sql.type(SentAt)`
    select asked.place, sent.queued_at
    from unnest(
      ${column(({ place }) => place, 'int4')}, ${column(({ identityId }) => identityId, 'uuid')},
      ${column(({ since }) => since.toISOString(), 'timestamptz')},
      ${column(({ since }) => firstIdAt(since), 'uuid')},
      ${column(({ automationId }) => automationId, 'uuid')},
      ${column(({ isServerOnly }) => isServerOnly, 'bool')}
    ) as asked (place, identity_id, since, first_id, automation_id, is_server_only)
    cross join lateral (
      select found.queued_at from delivery.sends as found
      where found.project_id = ${projectId} and found.identity_id = asked.identity_id
      and found.send_id >= asked.first_id and found.queued_at > asked.since
      and found.status not in ('suppressed', 'cancelled', 'expired', 'failed_render', 'rejected', 'not_sent')
      and (asked.automation_id is null or found.automation_id = asked.automation_id)
      and not found.is_test
      and not (asked.is_server_only and coalesce(found.limits ? 'browser_triggered', false))
      offset 0
    ) as sent
    order by sent.queued_at
  `);
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return people.map((_, place) => (byPlace.get(place) ?? []).map(({ queued_at }) => queued_at));
};

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
