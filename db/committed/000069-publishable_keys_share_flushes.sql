--! Previous: sha1:2eeda27f73323b115c98aa843f8ce697eee2a413
--! Hash: sha1:c5723ca27192282e16f4c9c150c2073777e28027
--! Message: publishable_keys_share_flushes

-- Enter migration here
-- Events of several publishable keys share a flush: its note names the key of each event of a browser.
alter table ingest.pending add column if not exists key_ids uuid[];
select base.declare_columns('ingest.pending', '{}', '{}', '{key_ids}');

drop function if exists ingest.accept_events(uuid, uuid, uuid[], uuid[], text[], text[], text[], jsonb[], timestamptz[],
  text[], text[], jsonb, uuid);
--! Included ingest/accept_events.sql
-- Stores a flush of one project and notes the work it needs, or does neither.
--
-- No worker is woken here: a NOTIFY inside this transaction would make every commit of the
-- server queue up behind this one. The caller wakes a worker after the commit; the sweeper
-- finds what a lost wake-up left behind.
--
-- Returns ids in request order; a repeated message id returns the first event's id. `traces`, by event, and `key_ids`,
-- the publishable key of each event of a browser, are kept with the note. An older version passes one `key_id` for all.
create or replace function ingest.accept_events(
  project_id    uuid,
  flush_id      uuid,
  event_ids     uuid[],
  message_keys  uuid[],
  names         text[],
  external_ids  text[],
  anonymous_ids text[],
  properties    jsonb[],
  occurred_ats  timestamptz[],
  key_kinds     text[],
  sources       text[],
  traces        jsonb default null,
  key_id        uuid default null,
  key_ids       uuid[] default null
)
returns table (stored_ids uuid[], duplicates boolean[])
language plpgsql volatile
set search_path = ''
as $$
declare
  v_received_at timestamptz := clock_timestamp();
  v_claimed     integer;
begin
  perform set_config('trunkline.project_id', accept_events.project_id::text, true);

  -- 1. Claim the message ids, in one order everywhere so that two flushes cannot deadlock.
  insert into ingest.message_ids (project_id, message_key, event_id, occurred_at)
  select accept_events.project_id, item.message_key, item.event_id, coalesce(item.occurred_at, v_received_at)
  from unnest(accept_events.message_keys, accept_events.event_ids, accept_events.occurred_ats)
    as item (message_key, event_id, occurred_at)
  where item.message_key is not null
  order by item.message_key, item.event_id
  on conflict do nothing;
  get diagnostics v_claimed = row_count;

  -- 2. Which event each item became: its own, unless a message id was taken.
  stored_ids := accept_events.event_ids;
  duplicates := array_fill(false, array[cardinality(accept_events.event_ids)]);
  if v_claimed < cardinality(array_remove(accept_events.message_keys, null)) then
    select ingest.first_events(accept_events.project_id, accept_events.event_ids, accept_events.message_keys)
    into stored_ids;
    if array_position(stored_ids, null) is not null then
      raise exception 'a message id was forgotten meanwhile' using errcode = 'serialization_failure';
    end if;
    select array_agg(item.stored_id <> item.event_id order by item.ordinal) into duplicates
    from unnest(stored_ids, accept_events.event_ids) with ordinality as item (stored_id, event_id, ordinal);
  end if;

  -- 3. Store the events that won.
  insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
    properties, source, key_kind)
  select accept_events.project_id, item.event_id, coalesce(item.occurred_at, v_received_at), v_received_at, item.name,
    item.external_id, item.anonymous_id, item.properties, item.source, item.key_kind
  from unnest(stored_ids, accept_events.event_ids, accept_events.names, accept_events.external_ids,
    accept_events.anonymous_ids, accept_events.properties, accept_events.occurred_ats, accept_events.key_kinds,
    accept_events.sources)
    as item (stored_id, event_id, name, external_id, anonymous_id, properties, occurred_at, key_kind, source)
  where item.event_id = item.stored_id;

  -- 4. Note the work.
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at,
    traces, key_id, key_ids)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at,
    accept_events.traces, accept_events.key_id, array_agg(item.key_id) filter (where accept_events.key_ids is not null)
  from unnest(stored_ids, accept_events.event_ids, accept_events.occurred_ats, accept_events.key_ids)
    as item (stored_id, event_id, occurred_at, key_id)
  where item.event_id = item.stored_id
  having count(*) > 0;

  -- 5. A message id that came again should have brought the same event.
  if array_position(duplicates, true) is not null then
    perform ingest.note_conflicts(accept_events.project_id, v_received_at, accept_events.event_ids,
      accept_events.message_keys, accept_events.names, accept_events.external_ids, accept_events.anonymous_ids,
      accept_events.properties);
  end if;
  return next;
end;
$$;
--! EndIncluded ingest/accept_events.sql
--! Included ingest/split_flush.sql
-- Puts two flushes of half the events each in the place of one that holds several; answers whether it did.
--
-- A flush of one event stays as it is. Both halves are due at once, and their ids come after those of all
-- waiting flushes. They keep the time range of the whole: it only says in which months their events are. Each
-- takes along the traces and the publishable keys of its own events.
create or replace function ingest.split_flush(project_id uuid, flush_id uuid, first_id uuid, second_id uuid)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_flush ingest.pending;
  v_half  integer;
begin
  delete from ingest.pending as pending
  where pending.project_id = split_flush.project_id
  and pending.flush_id = split_flush.flush_id
  and cardinality(pending.event_ids) > 1
  returning * into v_flush;
  if not found then
    return false;
  end if;

  v_half := cardinality(v_flush.event_ids) / 2;
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at,
    traces, key_id, key_ids)
  values
    (split_flush.project_id, split_flush.first_id, v_flush.event_ids[:v_half], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at, v_flush.traces - v_flush.event_ids[v_half + 1:]::text[],
      v_flush.key_id, v_flush.key_ids[:v_half]),
    (split_flush.project_id, split_flush.second_id, v_flush.event_ids[v_half + 1:], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at, v_flush.traces - v_flush.event_ids[:v_half]::text[],
      v_flush.key_id, v_flush.key_ids[v_half + 1:]);
  return true;
end;
$$;
--! EndIncluded ingest/split_flush.sql
--! Included quotas/list_brought.sql
-- Counts, by publishable key, which of some identifiers the browser events of some flushes name.
--
-- Flushes without such events are not read: those of servers cost one look at their notes. A note of an older version
-- names one key for all of its events.
create or replace function quotas.list_brought(
  project_id  uuid,
  flush_ids   uuid[],
  kinds       text[],
  identifiers text[]
)
returns table (key_id uuid, brought integer)
language plpgsql stable
set search_path = ''
as $$
declare
  v_event_ids uuid[];
  v_key_ids   uuid[];
  v_from      timestamptz;
  v_to        timestamptz;
begin
  select array_agg(noted.event_id), array_agg(coalesce(noted.key_id, pending.key_id)),
    min(pending.occurred_from), max(pending.occurred_to)
  into v_event_ids, v_key_ids, v_from, v_to
  from ingest.pending
  cross join lateral unnest(pending.event_ids, pending.key_ids) as noted (event_id, key_id)
  where pending.project_id = list_brought.project_id
  and pending.flush_id = any (list_brought.flush_ids)
  and num_nonnulls(pending.key_id, pending.key_ids) > 0
  and coalesce(noted.key_id, pending.key_id) is not null;
  if v_event_ids is null then
    return;
  end if;

  return query
  select named.key_id, count(*)::integer
  from (
    select distinct on (seen.kind, seen.value) seen.kind, seen.value, noted.key_id
    from unnest(v_event_ids, v_key_ids) as noted (event_id, key_id)
    join ingest.events as event
      on event.project_id = list_brought.project_id and event.event_id = noted.event_id
      and event.occurred_at between v_from and v_to
    cross join lateral (
      values ('external', event.external_id), ('anonymous', event.anonymous_id)
    ) as seen (kind, value)
    where event.source = 'browser' and seen.value is not null
    order by seen.kind, seen.value, noted.event_id
  ) as named
  join unnest(list_brought.kinds, list_brought.identifiers) as made (kind, value)
    on made.kind = named.kind and made.value = named.value
  group by named.key_id;
end;
$$;
--! EndIncluded quotas/list_brought.sql

-- Null alone is no quota; 0 allows nothing.
alter table quotas.settings drop constraint if exists settings_are_positive;
alter table quotas.settings drop constraint if exists settings_are_not_negative;
alter table quotas.settings add constraint settings_are_not_negative
  check (new_profiles_per_day >= 0 and stored_bytes_per_day >= 0) not valid;
