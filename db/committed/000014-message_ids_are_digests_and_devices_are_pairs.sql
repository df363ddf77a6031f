--! Previous: sha1:85423c306562431ca0bc4575b658159f2031d028
--! Hash: sha1:09e9d69ba3c2e94f62ec2d360257ad4998a7f6b5
--! Message: message_ids_are_digests_and_devices_are_pairs

-- Message ids are known by a keyed digest -----------------------------------------------------------
-- It names nobody, so it may outlive an erase, and takes half the room. Ids that were kept as text are
-- digested with the application's key after this, by src/runtime/digest_message_ids.ts.

drop function if exists ingest.accept_events(uuid, uuid, uuid[], text[], text[], text[], text[], jsonb[], timestamptz[],
  text[], text[]);
drop function if exists ingest.first_events(uuid, uuid[], text[]);
drop function if exists ingest.note_conflicts(uuid, timestamptz, uuid[], text[], text[], text[], text[], jsonb[]);
drop function if exists ingest.forget_message_ids(uuid, timestamptz, text, integer);
drop function if exists ingest.erase_events(uuid, text[], text[], timestamptz, integer);

do $$
begin
  if exists (select from information_schema.columns
    where table_schema = 'ingest' and table_name = 'message_ids' and column_name = 'message_id') then
    alter table ingest.message_ids rename to message_texts;
    alter index ingest.message_ids_pkey rename to message_texts_pkey;
    drop index ingest.message_ids_by_conflict, ingest.message_ids_by_identity;
    drop policy one_project on ingest.message_texts;
    alter table ingest.message_texts no force row level security, disable row level security;
    revoke all on ingest.message_texts from trunkline_runtime;
    if not exists (select from ingest.message_texts) then
      drop table ingest.message_texts;
    end if;
  end if;
end;
$$;

create table if not exists ingest.message_ids (
  project_id    uuid not null,
  message_key   uuid not null,
  event_id      uuid not null,
  occurred_at   timestamptz(3) not null,
  conflicts     integer,
  conflicted_at timestamptz(3),
  primary key (project_id, message_key)
);
create index if not exists message_ids_by_conflict on ingest.message_ids (project_id, conflicted_at desc, event_id)
  where conflicted_at is not null;
select base.isolate_table('ingest.message_ids');
grant select, insert, delete on ingest.message_ids to trunkline_runtime;
grant update (conflicts, conflicted_at) on ingest.message_ids to trunkline_runtime;
select base.declare_columns('ingest.message_ids', '{}', '{message_key}',
  '{project_id,event_id,occurred_at,conflicts,conflicted_at}');

alter table ingest.events drop column if exists message_id;

--! Included ingest/first_events.sql
-- Which event each item of a flush became, in their order: the first one with its message id, or its own
-- when it has none. Null where a message id is nobody's, because it was forgotten since it was found taken.
--
-- One look-up per item, whatever the planner takes the table for: a join may read every message id
-- of the project, as long as it has never been analysed.
create or replace function ingest.first_events(project_id uuid, event_ids uuid[], message_keys uuid[])
returns uuid[]
language sql stable
as $$
  select array_agg(case when item.message_key is null then item.event_id else taken.event_id end order by item.ordinal)
  from unnest(first_events.event_ids, first_events.message_keys) with ordinality
    as item (event_id, message_key, ordinal)
  left join lateral (
    select known.event_id from ingest.message_ids as known
    where known.project_id = first_events.project_id and known.message_key = item.message_key
    limit 1
  ) as taken on true
$$;
--! EndIncluded ingest/first_events.sql
--! Included ingest/note_conflicts.sql
-- Marks the message ids that came again with another name, person or properties than the first time.
--
-- Called with a whole flush, after its events are stored: what a message id stands for is the event
-- that is kept. Times are not compared: a client that repeats itself may well stamp anew.
create or replace function ingest.note_conflicts(
  project_id    uuid,
  noted_at      timestamptz,
  event_ids     uuid[],
  message_keys  uuid[],
  names         text[],
  external_ids  text[],
  anonymous_ids text[],
  properties    jsonb[]
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_message_keys uuid[];
begin
  select array_agg(distinct item.message_key)
  into v_message_keys
  from unnest(note_conflicts.event_ids, note_conflicts.message_keys, note_conflicts.names, note_conflicts.external_ids,
    note_conflicts.anonymous_ids, note_conflicts.properties)
    as item (event_id, message_key, name, external_id, anonymous_id, properties)
  cross join lateral (
    select known.event_id, known.occurred_at from ingest.message_ids as known
    where known.project_id = note_conflicts.project_id and known.message_key = item.message_key
    limit 1
  ) as taken
  cross join lateral (
    select kept.name, kept.external_id, kept.anonymous_id, kept.properties from ingest.events as kept
    where kept.project_id = note_conflicts.project_id and kept.event_id = taken.event_id
    and kept.occurred_at = taken.occurred_at
    limit 1
  ) as event
  where taken.event_id <> item.event_id
  and (event.name, event.external_id, event.anonymous_id, event.properties)
    is distinct from (item.name, item.external_id, item.anonymous_id, item.properties);
  if v_message_keys is null then
    return;
  end if;

  -- In one order everywhere, and after all message ids are claimed, so that two flushes cannot deadlock.
  perform from ingest.message_ids as taken
  where taken.project_id = note_conflicts.project_id and taken.message_key = any (v_message_keys)
  order by taken.message_key
  for update;

  update ingest.message_ids as taken
  set conflicts = coalesce(taken.conflicts, 0) + 1, conflicted_at = note_conflicts.noted_at
  where taken.project_id = note_conflicts.project_id and taken.message_key = any (v_message_keys);
end;
$$;
--! EndIncluded ingest/note_conflicts.sql
--! Included ingest/forget_message_ids.sql
-- Looks at the next message ids of a project and forgets those of events before a moment.
--
-- Answers the last id that was looked at, where the next call goes on, or null at the end. Bounded by
-- what it looks at, so that one transaction stays short however many ids there are.
create or replace function ingest.forget_message_ids(
  project_id uuid,
  before     timestamptz,
  after      uuid,
  ids_max    integer
)
returns uuid
language plpgsql volatile
set search_path = ''
as $$
declare
  v_last uuid;
begin
  select page.message_key into v_last
  from (
    select known.message_key from ingest.message_ids as known
    where known.project_id = forget_message_ids.project_id
    and known.message_key > forget_message_ids.after
    order by known.message_key
    limit forget_message_ids.ids_max
  ) as page
  order by page.message_key desc
  limit 1;

  delete from ingest.message_ids as known
  where known.project_id = forget_message_ids.project_id
  and known.message_key > forget_message_ids.after
  and known.message_key <= v_last
  and known.occurred_at < forget_message_ids.before;
  return v_last;
end;
$$;
--! EndIncluded ingest/forget_message_ids.sql
--! Included ingest/accept_events.sql
-- Stores a flush of one project and notes the work it needs, or does neither.
--
-- Nobody is woken here: a NOTIFY inside this transaction would make every commit of the
-- server queue up behind this one. The caller wakes a worker after the commit; the sweeper
-- finds what a lost wake-up left behind.
--
-- Answers in request order. A repeated message id answers with the first event's id.
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
  sources       text[]
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
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at
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
--! Included ingest/erase_events.sql
-- Removes the next events of some identifiers, `events_max` at most, in the order of the identifiers and of time.
--
-- Answers how many, the addresses that the events name as `email`, and where the next call goes on:
-- at which identifier, and from which moment of it. Whoever began at the start each time would walk past
-- the remains of everything removed before. `since` is about the first identifier. Each is looked up by its
-- own index and no further than to the limit, whatever the planner takes the table for. Owned by the schema's
-- owner, because nobody else may remove events; row-level security may not bind the owner, so the project is
-- looked at here.
create or replace function ingest.erase_events(
  project_id  uuid,
  kinds       text[],
  identifiers text[],
  since       timestamptz,
  events_max  integer
)
returns table (events integer, emails text[], last_ordinal integer, last_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_ids      uuid[];
  v_ordinals integer[];
  v_times    timestamptz[];
  v_from     timestamptz;
  v_to       timestamptz;
begin
  if erase_events.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
  select array_agg(batch.event_id),
    array_agg(distinct batch.properties ->> 'email') filter (where batch.properties ->> 'email' is not null),
    array_agg(batch.ordinal), array_agg(batch.occurred_at), min(batch.occurred_at), max(batch.occurred_at)
  into v_ids, emails, v_ordinals, v_times, v_from, v_to
  from (
    select known.ordinal, done.event_id, done.properties, done.occurred_at
    from unnest(erase_events.kinds, erase_events.identifiers) with ordinality as known (kind, value, ordinal)
    cross join lateral (
      select case when known.ordinal = 1 then erase_events.since else '-infinity' end as at
    ) as start
    cross join lateral (
      (select event.event_id, event.properties, event.occurred_at from ingest.events as event
      where known.kind = 'external' and event.project_id = erase_events.project_id
      and event.external_id = known.value and event.occurred_at >= start.at
      order by event.occurred_at limit erase_events.events_max)
      union all
      (select event.event_id, event.properties, event.occurred_at from ingest.events as event
      where known.kind = 'anonymous' and event.project_id = erase_events.project_id
      and event.external_id is null and event.anonymous_id = known.value and event.occurred_at >= start.at
      order by event.occurred_at limit erase_events.events_max)
    ) as done
    limit erase_events.events_max
  ) as batch;

  delete from ingest.events as event
  where event.project_id = erase_events.project_id and event.event_id = any (v_ids)
  and event.occurred_at between v_from and v_to;
  get diagnostics events = row_count;

  select batch.ordinal, max(batch.at) into last_ordinal, last_at
  from unnest(v_ordinals, v_times) as batch (ordinal, at)
  group by batch.ordinal order by batch.ordinal desc limit 1;
  return next;
end;
$$;

revoke all on function ingest.erase_events(uuid, text[], text[], timestamptz, integer) from public;
grant execute on function ingest.erase_events(uuid, text[], text[], timestamptz, integer) to trunkline_runtime;
--! EndIncluded ingest/erase_events.sql

-- Which known people were seen with which devices ---------------------------------------------------
-- In the place of an index of events by device, which cost every event a quarter of its insert.

create table if not exists ingest.devices (
  project_id   uuid not null,
  anonymous_id text not null,
  external_id  text not null,
  primary key (project_id, anonymous_id, external_id)
);
create index if not exists devices_by_external_id on ingest.devices (project_id, external_id, anonymous_id);
select base.isolate_table('ingest.devices');
grant select, insert, delete on ingest.devices to trunkline_runtime;
select base.declare_columns('ingest.devices', '{anonymous_id,external_id}', '{}', '{project_id}');

do $$
declare
  v_project uuid;
begin
  for v_project in select project_id from projects.projects loop
    perform set_config('trunkline.project_id', v_project::text, true);
    insert into ingest.devices (project_id, anonymous_id, external_id)
    select distinct v_project, event.anonymous_id, event.external_id from ingest.events as event
    where event.project_id = v_project and event.external_id is not null and event.anonymous_id is not null
    on conflict do nothing;
  end loop;
  perform set_config('trunkline.project_id', '', true);
end;
$$;
drop index if exists ingest.events_by_device;

drop function if exists ingest.erase_mentions(uuid, text[], timestamptz, integer);
--! Included ingest/erase_mentions.sql
-- Takes devices out of the next events of somebody who is known, which only remember them: after a moment,
-- oldest first, with all of the last moment. Answers how many events were looked at, how many changed, and
-- the moment of the last one, where the next call goes on.
--
-- The one change that is ever made to an event. Owned by the schema's owner, as ingest.erase_events is,
-- and so held to its project here.
create or replace function ingest.erase_mentions(
  project_id    uuid,
  external_id   text,
  anonymous_ids text[],
  after         timestamptz,
  events_max    integer
)
returns table (events integer, mentions integer, last_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids  uuid[];
  v_from timestamptz;
begin
  if erase_mentions.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
  select count(*), min(batch.occurred_at), max(batch.occurred_at),
    array_agg(batch.event_id) filter (where batch.anonymous_id = any (erase_mentions.anonymous_ids))
  into events, v_from, last_at, v_ids
  from (
    select event.event_id, event.occurred_at, event.anonymous_id from ingest.events as event
    where event.project_id = erase_mentions.project_id and event.external_id = erase_mentions.external_id
    and event.occurred_at > erase_mentions.after
    order by event.occurred_at
    fetch first (erase_mentions.events_max) rows with ties
  ) as batch;

  update ingest.events as event
  set anonymous_id = null
  where event.project_id = erase_mentions.project_id
  and event.event_id = any (v_ids) and event.occurred_at between v_from and last_at;
  get diagnostics mentions = row_count;
  return next;
end;
$$;

revoke all on function ingest.erase_mentions(uuid, text, text[], timestamptz, integer) from public;
grant execute on function ingest.erase_mentions(uuid, text, text[], timestamptz, integer) to trunkline_runtime;
--! EndIncluded ingest/erase_mentions.sql
--! Included ingest/forget_devices.sql
-- Takes devices out of the events of known people in some flushes, before anybody works with them; answers
-- how many events it was. Owned by the schema's owner, as ingest.erase_events is, and so held to its project here.
create or replace function ingest.forget_devices(project_id uuid, flush_ids uuid[], anonymous_ids text[])
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids   uuid[];
  v_from  timestamptz;
  v_to    timestamptz;
  v_count integer;
begin
  if forget_devices.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
  select array_agg(event.event_id), min(event.occurred_at), max(event.occurred_at)
  into v_ids, v_from, v_to
  from ingest.pending_events(project_id => forget_devices.project_id, flush_ids => forget_devices.flush_ids) as event
  where event.external_id is not null and event.anonymous_id = any (forget_devices.anonymous_ids);

  update ingest.events as event
  set anonymous_id = null
  where event.project_id = forget_devices.project_id
  and event.event_id = any (v_ids) and event.occurred_at between v_from and v_to;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;

revoke all on function ingest.forget_devices(uuid, uuid[], text[]) from public;
grant execute on function ingest.forget_devices(uuid, uuid[], text[]) to trunkline_runtime;
--! EndIncluded ingest/forget_devices.sql
--! Included ingest/hold_flushes.sql
-- Waits until nobody works on the next flushes, and keeps it so until the transaction ends; answers their ids
-- as they were before the wait, which may be done by now.
create or replace function ingest.hold_flushes(project_id uuid, after uuid, flushes_max integer)
returns uuid[]
language plpgsql volatile
set search_path = ''
as $$
declare
  v_flush_ids uuid[];
begin
  select array_agg(page.flush_id) into v_flush_ids
  from (
    select pending.flush_id from ingest.pending
    where pending.project_id = hold_flushes.project_id
    and (hold_flushes.after is null or pending.flush_id > hold_flushes.after)
    order by pending.flush_id
    limit hold_flushes.flushes_max
  ) as page;

  perform from ingest.pending
  where pending.project_id = hold_flushes.project_id and pending.flush_id = any (v_flush_ids)
  order by pending.flush_id
  for share;
  return v_flush_ids;
end;
$$;
--! EndIncluded ingest/hold_flushes.sql
--! Included ingest/remember_devices.sql
-- Remembers which known people were seen with which devices: a row per pair, so that whoever erases a device
-- finds the events of others that name it; none of the people of `but_of`. A pair that is known costs a
-- look-up and writes nothing.
--
-- In one order everywhere, so that two claims cannot deadlock.
create or replace function ingest.remember_devices(
  project_id    uuid,
  anonymous_ids text[],
  external_ids  text[],
  but_of        text[]
)
returns void
language sql volatile
as $$
  insert into ingest.devices (project_id, anonymous_id, external_id)
  select remember_devices.project_id, seen.anonymous_id, seen.external_id
  from unnest(remember_devices.anonymous_ids, remember_devices.external_ids) as seen (anonymous_id, external_id)
  left join lateral (
    select true as is_known from ingest.devices as known
    where known.project_id = remember_devices.project_id and known.anonymous_id = seen.anonymous_id
    and known.external_id = seen.external_id
    limit 1
  ) as known on true
  where seen.anonymous_id is not null and seen.external_id is not null and known.is_known is null
  and (remember_devices.but_of is null or seen.external_id <> all (remember_devices.but_of))
  order by seen.anonymous_id, seen.external_id
  on conflict do nothing
$$;
--! EndIncluded ingest/remember_devices.sql
--! Included profiles/see_events.sql
-- Sees everybody whom the events of some flushes name; answers with those nobody knows yet, in the order
-- that identities are locked in. Remembers which known people were seen with which devices.
--
-- Of whom is being erased nothing is remembered, and the events of others lose their devices at once: so an
-- erase, once it has waited for whoever did not know of it yet, need look for each of them one time only.
create or replace function profiles.see_events(project_id uuid, flush_ids uuid[])
returns table (kind text, value text, first_seen_at timestamptz, last_seen_at timestamptz)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_externals text[];
  v_devices   text[];
  v_firsts    timestamptz[];
  v_lasts     timestamptz[];
  v_kinds     text[];
  v_values    text[];
  v_erased_devices   text[];
  v_erased_externals text[];
begin
  select array_agg(erased.value) filter (where erased.kind = 'anonymous'),
    array_agg(erased.value) filter (where erased.kind = 'external')
  into v_erased_devices, v_erased_externals
  from identity.identities as erased
  where erased.project_id = see_events.project_id and erased.erasure_id is not null;
  if v_erased_devices is not null then
    perform ingest.forget_devices(see_events.project_id, see_events.flush_ids, v_erased_devices);
  end if;

  select array_agg(named.external_id), array_agg(named.anonymous_id), array_agg(named.first_at),
    array_agg(named.last_at)
  into v_externals, v_devices, v_firsts, v_lasts
  from (
    select event.external_id, event.anonymous_id, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at
    from ingest.pending_events(project_id => see_events.project_id, flush_ids => see_events.flush_ids) as event
    group by event.external_id, event.anonymous_id
  ) as named;

  perform ingest.remember_devices(project_id => see_events.project_id, anonymous_ids => v_devices,
    external_ids => v_externals, but_of => v_erased_externals);

  select array_agg(named.kind), array_agg(named.value), array_agg(named.first_at), array_agg(named.last_at)
  into v_kinds, v_values, v_firsts, v_lasts
  from (
    select seen.kind, seen.value, min(pair.first_at) as first_at, max(pair.last_at) as last_at
    from unnest(v_externals, v_devices, v_firsts, v_lasts) as pair (external_id, anonymous_id, first_at, last_at)
    cross join lateral (
      values ('external', pair.external_id), ('anonymous', pair.anonymous_id)
    ) as seen (kind, value)
    where seen.value is not null
    group by seen.kind, seen.value
    order by seen.kind, seen.value
  ) as named;

  return query
  select unknown.kind, unknown.value, unknown.first_seen_at, unknown.last_seen_at
  from identity.move_seen(project_id => see_events.project_id, kinds => v_kinds, identifiers => v_values,
    first_seen_ats => v_firsts, last_seen_ats => v_lasts) as unknown;
end;
$$;
--! EndIncluded profiles/see_events.sql
