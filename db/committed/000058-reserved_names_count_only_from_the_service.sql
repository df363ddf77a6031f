--! Previous: sha1:353862ed949046f5b1f197ac2a2a23b6b609cbf1
--! Hash: sha1:5689877d7e954b07d8a4c357fe44aa7e204d2d55
--! Message: reserved_names_count_only_from_the_service

-- Enter migration here
--! Included ingest/counts.sql
-- Says whether an event counts for conditions and triggers on its name: a reserved name counts only where the service
-- recorded the event itself.
--
-- The same rule as src/ingest/reserved_names.ts. Clients could send such names once, and those rows remain.
create or replace function ingest.counts(name text, source text)
returns boolean
language sql immutable
as $$
  select counts.source = 'system' or not starts_with(counts.name, 'email_')
$$;
--! EndIncluded ingest/counts.sql
--! Included analytics/events.sql
-- Every event as it was accepted, with the identifiers it came with.
--
-- Texts pass through nullif, here and in the other views, so that the planner knows no statistics
-- of them: its estimates are made from all projects' rows, and "explain" would tell them.
create or replace view analytics.events with (security_invoker = true) as
select
  event.event_id,
  nullif(event.name, '') as event,
  event.occurred_at,
  event.received_at,
  nullif(event.external_id, '') as external_id,
  nullif(event.anonymous_id, '') as anonymous_id,
  event.properties,
  event.source
from ingest.events as event;

comment on view analytics.events is 'Every event as it was accepted, with the identifiers it came with';
comment on column analytics.events.event_id is 'Id; sorts by arrival';
comment on column analytics.events.event is 'What happened, such as user_signed_up';
comment on column analytics.events.occurred_at is 'When, as the client says. A range of it reads only those months';
comment on column analytics.events.received_at is 'When it was accepted, by the clock of the database';
comment on column analytics.events.external_id is 'The customer''s own id of the person, if the event names one';
comment on column analytics.events.anonymous_id is 'The id of the browser or device, if the event names one';
comment on column analytics.events.properties is 'What else the event says: properties ->> ''plan''';
comment on column analytics.events.source is
  'browser, server or system. Trust an event whose name begins with email_ only where it is system';

grant select on analytics.events to trunkline_analyst;
--! EndIncluded analytics/events.sql
--! Included analytics/timeline.sql
-- Every event with the profile it is on the timeline of today.
--
-- An event belongs to its external_id, and to its anonymous_id where it has none: the rule of
-- profiles/queries.ts. Events never move; which profile that is follows from the identities.
create or replace view analytics.timeline with (security_invoker = true) as
select
  identity.profile_id,
  event.event_id,
  nullif(event.name, '') as event,
  event.occurred_at,
  event.received_at,
  nullif(event.external_id, '') as external_id,
  nullif(event.anonymous_id, '') as anonymous_id,
  event.properties,
  event.source
from ingest.events as event
left join identity.identities as identity
  on identity.project_id = event.project_id
  and identity.kind = case when event.external_id is null then 'anonymous' else 'external' end
  and identity.value = coalesce(event.external_id, event.anonymous_id);

comment on view analytics.timeline is 'Every event with the profile it is on the timeline of today';
comment on column analytics.timeline.profile_id is
  'The profile it belongs to today; null until the event is processed, seconds after it was accepted';
comment on column analytics.timeline.event_id is 'Id; sorts by arrival';
comment on column analytics.timeline.event is 'What happened, such as user_signed_up';
comment on column analytics.timeline.occurred_at is 'When, as the client says. A range of it reads only those months';
comment on column analytics.timeline.received_at is 'When it was accepted, by the clock of the database';
comment on column analytics.timeline.external_id is 'The customer''s own id of the person, if the event names one';
comment on column analytics.timeline.anonymous_id is 'The id of the browser or device, if the event names one';
comment on column analytics.timeline.properties is 'What else the event says: properties ->> ''plan''';
comment on column analytics.timeline.source is
  'browser, server or system. Trust an event whose name begins with email_ only where it is system';

grant select on analytics.timeline to trunkline_analyst;
--! EndIncluded analytics/timeline.sql
--! Included segments/count_events.sql
-- Counts the events of some flushes for the conditions that ask for them, and notes whom something was counted of.
-- Answers whether anybody has to be looked at.
--
-- Belongs into the transaction that processes the flushes. A condition whose past is still being counted takes
-- here only what fill_counters has passed already. Such conditions are held by one transaction at a time, which
-- is one of these or one that fills: so each event is counted by exactly one of the two, and nobody waits for
-- ever. The others are held only as strongly as keeps them from being deleted.
create or replace function segments.count_events(project_id uuid, flush_ids uuid[])
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_names       text[];
  v_kinds       text[];
  v_identifiers text[];
  v_conditions  uuid[];
  v_days        date[];
  v_counts      bigint[];
  v_firsts      timestamptz[];
  v_lasts       timestamptz[];
begin
  if not exists (select from segments.projects as known where known.project_id = count_events.project_id) then
    return false;
  end if;

  perform from segments.conditions as condition
  where condition.project_id = count_events.project_id and condition.status in ('new', 'filling')
  order by condition.condition_id
  for no key update;
  select array_agg(distinct held.event_name) into v_names
  from (
    select condition.event_name from segments.conditions as condition
    where condition.project_id = count_events.project_id and condition.status <> 'unused'
    order by condition.condition_id
    for key share
  ) as held;

  if v_names is not null then
    select array_agg(seen.kind), array_agg(seen.value), array_agg(seen.condition_id), array_agg(seen.day),
      array_agg(seen.count), array_agg(seen.first_at), array_agg(seen.last_at)
    into v_kinds, v_identifiers, v_conditions, v_days, v_counts, v_firsts, v_lasts
    from (
      select case when event.external_id is null then 'anonymous' else 'external' end as kind,
        coalesce(event.external_id, event.anonymous_id) as value, condition.condition_id,
        case when condition.is_daily then (event.occurred_at at time zone 'UTC')::date else 'epoch'::date end as day,
        count(*) as count, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at
      from ingest.pending_events(project_id => count_events.project_id, flush_ids => count_events.flush_ids) as event
      join segments.conditions as condition on condition.event_name = event.name
      where condition.project_id = count_events.project_id and event.name = any (v_names)
      and ingest.counts(event.name, event.source)
      and condition.status <> 'unused' and event.event_id <= condition.filled_to
      and (condition.filters = '[]' or segments.passes(event.properties, condition.filters))
      group by 1, 2, 3, 4
    ) as seen;
  end if;
  if v_kinds is not null then
    perform profiles.note_changes(count_events.project_id, segments.add_counters(count_events.project_id, v_kinds,
      v_identifiers, v_conditions, v_days, v_counts, v_firsts, v_lasts));
  end if;
  return exists (select from profiles.changes as change where change.project_id = count_events.project_id);
end;
$$;
--! EndIncluded segments/count_events.sql
--! Included segments/fill_counters.sql
-- Counts the next events of the past for the conditions that are furthest behind; answers whether there are more.
--
-- Events are read in the order of their ids. Those that wait to be processed are left out: they are counted when
-- they are, since the conditions have passed them by then (count_events). Nobody processes events of the project
-- between our look at them and our commit, because the conditions are ours alone.
create or replace function segments.fill_counters(project_id uuid, events_max integer)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_from uuid;
  v_to   uuid;
  v_ids  uuid[];
  v_told record;
begin
  select condition.filled_to into v_from from segments.conditions as condition
  where condition.project_id = fill_counters.project_id and condition.status = 'filling'
  order by condition.filled_to
  limit 1;
  select array_agg(held.condition_id) into v_ids
  from (
    select condition.condition_id from segments.conditions as condition
    where condition.project_id = fill_counters.project_id and condition.status = 'filling'
    and condition.filled_to = v_from
    order by condition.condition_id
    for no key update
  ) as held;
  if v_ids is null then
    return false;
  end if;

  select event.event_id into v_to from ingest.events as event
  where event.project_id = fill_counters.project_id and event.event_id > v_from
  order by event.event_id
  offset fill_counters.events_max - 1
  limit 1;
  v_to := coalesce(v_to, 'ffffffff-ffff-ffff-ffff-ffffffffffff');

  select array_agg(seen.kind) as kinds, array_agg(seen.value) as identifiers,
    array_agg(seen.condition_id) as conditions, array_agg(seen.day) as days,
    array_agg(seen.count) as counts, array_agg(seen.first_at) as firsts, array_agg(seen.last_at) as lasts
  into v_told
  from (
    select case when event.external_id is null then 'anonymous' else 'external' end as kind,
      coalesce(event.external_id, event.anonymous_id) as value, condition.condition_id,
      case when condition.is_daily then (event.occurred_at at time zone 'UTC')::date else 'epoch'::date end as day,
      count(*) as count, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at
    from ingest.events as event
    join segments.conditions as condition on condition.event_name = event.name
    where event.project_id = fill_counters.project_id and event.event_id > v_from and event.event_id <= v_to
    and condition.project_id = fill_counters.project_id and condition.condition_id = any (v_ids)
    and ingest.counts(event.name, event.source)
    and (condition.filters = '[]' or segments.passes(event.properties, condition.filters))
    and not exists (
      select from ingest.pending cross join lateral unnest(pending.event_ids) as noted (event_id)
      where pending.project_id = fill_counters.project_id and noted.event_id = event.event_id
    )
    group by 1, 2, 3, 4
  ) as seen;
  if v_told.kinds is not null then
    perform segments.add_counters(fill_counters.project_id, v_told.kinds, v_told.identifiers, v_told.conditions,
      v_told.days, v_told.counts, v_told.firsts, v_told.lasts);
  end if;

  update segments.conditions as condition
  set filled_to = v_to,
    status = case when v_to = 'ffffffff-ffff-ffff-ffff-ffffffffffff' then 'ready' else 'filling' end
  where condition.project_id = fill_counters.project_id and condition.condition_id = any (v_ids);
  return true;
end;
$$;
--! EndIncluded segments/fill_counters.sql
