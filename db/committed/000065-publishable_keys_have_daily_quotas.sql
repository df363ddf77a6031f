--! Previous: sha1:756a3d9d3cf5f16289748623b7b4094a53dd2d87
--! Hash: sha1:33dfeff146aa077063ab805d4dd076737caab78e
--! Message: publishable_keys_have_daily_quotas

-- Enter migration here
-- quotas: what a publishable key may still store today -----------------------------------------------
-- A project without settings has the defaults of the service; null is no quota.

create schema if not exists quotas;
grant usage on schema quotas to trunkline_runtime;

create table if not exists quotas.settings (
  project_id           uuid not null,
  new_profiles_per_day integer,
  stored_bytes_per_day bigint,
  updated_at           timestamptz(3) not null,
  primary key (project_id),
  constraint settings_are_positive check (new_profiles_per_day > 0 and stored_bytes_per_day > 0)
);

-- One row per key, day (UTC) and counter: a counter locks no row of another one.
create table if not exists quotas.key_days (
  project_id   uuid not null,
  key_id       uuid not null,
  day          date not null,
  counted_by   text not null,
  new_profiles integer not null,
  stored_bytes bigint not null,
  primary key (project_id, key_id, day, counted_by),
  constraint key_days_counter_is_known check (counted_by in ('accept', 'identify', 'process')),
  constraint key_days_are_counted check (new_profiles >= 0 and stored_bytes >= 0)
);

select base.isolate_table('quotas.settings');
select base.isolate_table('quotas.key_days');
grant select, insert, update on quotas.settings to trunkline_runtime;
grant select, insert, update, delete on quotas.key_days to trunkline_runtime;
select base.declare_columns('quotas.settings', '{}', '{}',
  '{project_id,new_profiles_per_day,stored_bytes_per_day,updated_at}');
select base.declare_columns('quotas.key_days', '{}', '{}',
  '{project_id,key_id,day,counted_by,new_profiles,stored_bytes}');

--! Included quotas/count_use.sql
-- Adds new profiles and stored bytes to today's use (UTC) of publishable keys, under one counter.
--
-- Sorted by key, so that two callers cannot deadlock. Each caller keeps the rows of its counter locked until its
-- transaction ends, so it counts last.
create or replace function quotas.count_use(
  project_id   uuid,
  counted_by   text,
  key_ids      uuid[],
  new_profiles integer[],
  stored_bytes bigint[]
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_today date := (statement_timestamp() at time zone 'utc')::date;
begin
  insert into quotas.key_days as known (project_id, key_id, day, counted_by, new_profiles, stored_bytes)
  select count_use.project_id, used.key_id, v_today, count_use.counted_by, sum(used.profiles), sum(used.bytes)
  from unnest(count_use.key_ids, count_use.new_profiles, count_use.stored_bytes) as used (key_id, profiles, bytes)
  group by used.key_id
  order by used.key_id
  on conflict on constraint key_days_pkey do update
  set new_profiles = known.new_profiles + excluded.new_profiles,
    stored_bytes = known.stored_bytes + excluded.stored_bytes;
end;
$$;
--! EndIncluded quotas/count_use.sql
--! Included quotas/read_use.sql
-- Reads today's use (UTC) of publishable keys, with the project's quotas and the seconds until the next day.
--
-- The defaults hold for a project that never changed its quotas. Every key has a row, also one that stored nothing.
create or replace function quotas.read_use(
  project_id           uuid,
  key_ids              uuid[],
  new_profiles_default integer,
  stored_bytes_default bigint
)
returns table (
  key_id               uuid,
  new_profiles         bigint,
  stored_bytes         bigint,
  new_profiles_per_day integer,
  stored_bytes_per_day bigint,
  seconds_left         float8
)
language plpgsql stable
set search_path = ''
as $$
declare
  v_now          timestamp := statement_timestamp() at time zone 'utc';
  v_today        date := v_now::date;
  v_is_changed   boolean;
  v_new_profiles integer;
  v_stored_bytes bigint;
begin
  select true, changed.new_profiles_per_day, changed.stored_bytes_per_day
  into v_is_changed, v_new_profiles, v_stored_bytes
  from quotas.settings as changed
  where changed.project_id = read_use.project_id;
  if v_is_changed is null then
    v_new_profiles := read_use.new_profiles_default;
    v_stored_bytes := read_use.stored_bytes_default;
  end if;

  return query
  select asked.key_id, used.profiles, used.bytes, v_new_profiles, v_stored_bytes,
    extract(epoch from (v_today + 1)::timestamp - v_now)::float8
  from unnest(read_use.key_ids) as asked (key_id)
  cross join lateral (
    select coalesce(sum(counted.new_profiles), 0)::bigint as profiles,
      coalesce(sum(counted.stored_bytes), 0)::bigint as bytes
    from quotas.key_days as counted
    where counted.project_id = read_use.project_id and counted.key_id = asked.key_id and counted.day = v_today
  ) as used;
end;
$$;
--! EndIncluded quotas/read_use.sql
--! Included quotas/list_brought.sql
-- Counts, by publishable key, which of some identifiers the browser events of some flushes name.
--
-- Flushes without such events are not read: those of servers cost one look at their notes.
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
  select array_agg(noted.event_id), array_agg(pending.key_id), min(pending.occurred_from), max(pending.occurred_to)
  into v_event_ids, v_key_ids, v_from, v_to
  from ingest.pending
  cross join lateral unnest(pending.event_ids) as noted (event_id)
  where pending.project_id = list_brought.project_id
  and pending.flush_id = any (list_brought.flush_ids)
  and pending.key_id is not null;
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
--! Included quotas/prune_use.sql
-- Deletes the use of publishable keys on days that are older than so many days; answers how many rows went.
create or replace function quotas.prune_use(project_id uuid, kept_days integer)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_before date := (statement_timestamp() at time zone 'utc')::date - prune_use.kept_days;
  v_pruned integer;
begin
  delete from quotas.key_days as old
  where old.project_id = prune_use.project_id and old.day < v_before;
  get diagnostics v_pruned = row_count;
  return v_pruned;
end;
$$;
--! EndIncluded quotas/prune_use.sql

-- The publishable key that the browser events of a flush came with, until its new people are counted.
alter table ingest.pending add column if not exists key_id uuid;
select base.declare_columns('ingest.pending', '{}', '{}', '{key_id}');

drop function if exists ingest.accept_events(uuid, uuid, uuid[], uuid[], text[], text[], text[], jsonb[], timestamptz[],
  text[], text[], jsonb);
--! Included ingest/accept_events.sql
-- Stores a flush of one project and notes the work it needs, or does neither.
--
-- Nobody is woken here: a NOTIFY inside this transaction would make every commit of the
-- server queue up behind this one. The caller wakes a worker after the commit; the sweeper
-- finds what a lost wake-up left behind.
--
-- Answers in request order. A repeated message id answers with the first event's id. `traces` are those that requests
-- brought, by event: they are noted with the work, and go with it. So is `key_id`, the publishable key of the browser
-- events among them, which are of one key.
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
  key_id        uuid default null
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
    traces, key_id)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at,
    accept_events.traces, accept_events.key_id
  from unnest(stored_ids, accept_events.event_ids, accept_events.occurred_ats)
    as item (stored_id, event_id, occurred_at)
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
-- A flush of one event is left as it is. Both halves are due at once, and their ids come after everybody's
-- who waits already. They keep the time range of the whole: it only says in which months their events are. Each
-- takes along the traces of its own events.
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
    traces, key_id)
  values
    (split_flush.project_id, split_flush.first_id, v_flush.event_ids[:v_half], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at, v_flush.traces - v_flush.event_ids[v_half + 1:]::text[],
      v_flush.key_id),
    (split_flush.project_id, split_flush.second_id, v_flush.event_ids[v_half + 1:], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at, v_flush.traces - v_flush.event_ids[:v_half]::text[],
      v_flush.key_id);
  return true;
end;
$$;
--! EndIncluded ingest/split_flush.sql
