import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';
import { MERGED } from './merges/rule.ts';

const EventTrigger = z.strictObject({
  automation_id: z.uuid(),
  version: z.int(),
  event_name: z.string(),
});
export type EventTrigger = z.output<typeof EventTrigger>;

/** An endpoint, and what it subscribes to. */
export type Subscription = { endpoint_id: string; event_types: readonly string[] };

/** Who waits for events of the project: active automations, and active endpoints that subscribe to some. */
export type EventReaders = {
  triggers: readonly EventTrigger[];
  subscriptions: readonly Subscription[];
};

const EventReader = z.strictObject({
  automation_id: z.uuid().nullable(),
  version: z.int().nullable(),
  event_name: z.string().nullable(),
  endpoint_id: z.uuid().nullable(),
  event_types: z.array(z.string()).nullable(),
});

/** Lists who waits for events of the project. In one statement: every flush of every project asks. */
export const listEventReaders = async ({ tx, projectId }: Scope): Promise<EventReaders> => {
  const rows = await tx.any(sql.type(EventReader)`
    select automation_id, version, event_name, null::uuid as endpoint_id, null::text[] as event_types
    from automations.triggers where project_id = ${projectId}
    union all
    select null, null, null, endpoint_id, event_types from automations.endpoints
    where project_id = ${projectId} and status = 'active' and event_types <> '{}'
  `);
  return {
    triggers: rows.flatMap(({ automation_id, version, event_name }) =>
      automation_id !== null && version !== null && event_name !== null
        ? [{ automation_id, version, event_name }]
        : [],
    ),
    subscriptions: rows.flatMap(({ endpoint_id, event_types }) =>
      endpoint_id !== null && event_types !== null ? [{ endpoint_id, event_types }] : [],
    ),
  };
};

const TriggerEvent = z.strictObject({
  event_id: z.uuid(),
  name: z.string(),
  occurred_at: z.date(),
  received_at: z.date(),
  external_id: z.string().nullable(),
  anonymous_id: z.string().nullable(),
  properties: jsonObject<string | number | boolean>(),
  source: z.enum(['browser', 'server', 'system']),
  traceparent: z.string().nullable(),
});
export type TriggerEvent = z.output<typeof TriggerEvent>;

/**
 * The events of some flushes that have one of some names, oldest first. Most events have none of them. The traces of
 * the flushes are put together once for all of their events.
 */
export const listTriggerEvents = (
  { tx, projectId }: Scope,
  flushIds: readonly string[],
  names: readonly string[],
) =>
  tx.any(sql.type(TriggerEvent)`
    select event.event_id, event.name, event.occurred_at, event.received_at, event.external_id, event.anonymous_id,
      event.properties, event.source,
      (
        select jsonb_object_agg(traced.event_id, traced.traceparent)
        from ingest.pending
        cross join lateral jsonb_each_text(pending.traces) as traced (event_id, traceparent)
        where pending.project_id = ${projectId} and pending.flush_id = any (${sql.array([...flushIds], 'uuid')})
      ) ->> event.event_id::text as traceparent
    from ingest.pending_events(project_id => ${projectId}, flush_ids => ${sql.array([...flushIds], 'uuid')}) as event
    where event.name = any (${sql.array([...names], 'text')}) and ingest.counts(event.name, event.source)
    order by event.occurred_at, event.event_id
  `);

const Entered = z.strictObject({
  automation_id: z.uuid(),
  identity_id: z.uuid(),
  run_id: z.uuid(),
  started_at: z.date(),
  trigger_event_id: z.uuid().nullable(),
  trigger_entry: z.int().nullable(),
});
export type Entered = z.output<typeof Entered>;

/**
 * Holds people until the transaction ends, against whoever decides the same of them at once: whether they may enter
 * again, or be sent one more mail. In the order of all locks.
 */
export const holdPeople = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.query(sql.unsafe`
    select from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    order by profile_id
    for no key update
  `);

/**
 * The last run of each of some identities in each of some automations, tests apart, also one that retention removed. A
 * run that ended as merged does not count: its person has another one.
 */
export const listLatestRuns = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  automationIds: readonly string[],
) =>
  tx.any(sql.type(Entered)`
    select latest.automation_id, latest.identity_id, latest.run_id, latest.started_at, latest.trigger_event_id,
      latest.trigger_entry
    from unnest(${sql.array([...identityIds], 'uuid')}) as known (identity_id)
    cross join unnest(${sql.array([...automationIds], 'uuid')}) as asked (automation_id)
    cross join lateral (
      (
        select automation_id, identity_id, run_id, started_at, trigger_event_id, trigger_entry
        from automations.runs
        where project_id = ${projectId} and identity_id = known.identity_id
        and automation_id = asked.automation_id and not is_test and outcome is distinct from ${MERGED}
        order by run_id desc
        limit 1
      )
      union all
      select automation_id, identity_id, run_id, started_at, null, null
      from automations.enrollments
      where project_id = ${projectId} and automation_id = asked.automation_id
      and identity_id = known.identity_id and digest = ''
    ) as latest
  `);

const EntryKey = z.strictObject({ automation_id: z.uuid(), entry_key: z.string() });

/**
 * Lists those of some entry keys of property values that have a run, also one that retention removed. A run that ended
 * as merged does not count.
 */
export const listUsedKeys = (
  { tx, projectId }: Scope,
  keys: readonly z.output<typeof EntryKey>[],
) =>
  tx.any(sql.type(EntryKey)`
    select used.automation_id, used.entry_key
    from unnest(
      ${sql.array(
        keys.map(({ automation_id }) => automation_id),
        'uuid',
      )},
      ${sql.array(
        keys.map(({ entry_key }) => entry_key),
        'text',
      )}
    ) as asked (automation_id, entry_key)
    cross join lateral (
      select automation_id, entry_key from automations.runs
      where project_id = ${projectId} and automation_id = asked.automation_id and entry_key = asked.entry_key
      and outcome is distinct from ${MERGED}
      union all
      select automation_id, asked.entry_key from automations.enrollments
      where project_id = ${projectId} and automation_id = asked.automation_id
      and identity_id = split_part(asked.entry_key, '/', 2)::uuid and digest = split_part(asked.entry_key, '/', 3)
      limit 1
    ) as used
  `);

export type NewRefusal = {
  automation_id: string;
  identity_id: string;
  reason: 'late' | 're_entry';
  /** What came: an event, or an entry of the history of segments. */
  event_id: string | null;
  entry: number | null;
  event_at: Date;
};

/** The last one counts for each reason, so that a page that is viewed a thousand times is one row. */
const lastOfEach = (refusals: readonly NewRefusal[]): NewRefusal[] => [
  ...new Map(
    refusals.map((one) => [`${one.automation_id}/${one.identity_id}/${one.reason}`, one]),
  ).values(),
];

/** Notes whom an automation did not take, and by which event they came last. */
export const insertRefusals = async (
  { tx, projectId }: Scope,
  refusals: readonly NewRefusal[],
): Promise<void> => {
  const last = lastOfEach(refusals).toSorted((a, b) =>
    `${a.automation_id}${a.identity_id}${a.reason}` <
    `${b.automation_id}${b.identity_id}${b.reason}`
      ? -1
      : 1,
  );
  if (last.length === 0) return;
  const column = (read: (one: NewRefusal) => string | number | null, type: string) =>
    sql.array(last.map(read), type);
  await tx.query(sql.unsafe`
    insert into automations.refusals (project_id, automation_id, identity_id, reason, event_id, entry, event_at,
      refused_at)
    select ${projectId}, told.automation_id, told.identity_id, told.reason, told.event_id, told.entry,
      told.event_at, statement_timestamp()
    from unnest(
      ${column((one) => one.automation_id, 'uuid')}, ${column((one) => one.identity_id, 'uuid')},
      ${column((one) => one.reason, 'text')}, ${column((one) => one.event_id, 'uuid')},
      ${column((one) => one.entry, 'int8')}, ${column((one) => one.event_at.toISOString(), 'timestamptz')}
    ) as told (automation_id, identity_id, reason, event_id, entry, event_at)
    on conflict (project_id, automation_id, identity_id, reason) do update
    set event_id = excluded.event_id, entry = excluded.entry, event_at = excluded.event_at,
      refused_at = excluded.refused_at
  `);
};
