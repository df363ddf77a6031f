--! Previous: sha1:9ea7e0494e0ac48b0a476e7845e95bd85690c741
--! Hash: sha1:50c7ad38318b11a4f9c08b494cb33ee858d135dd
--! Message: work_waits_for_the_end_of_an_erase

-- Whoever works with events waits for whoever ends an erase, and lets alone what goes with it.
drop function if exists ingest.forget_devices(uuid, uuid[], text[]);
--! Included ingest/forget_devices.sql
-- Takes devices out of the events of known people in some flushes, before anybody works with them; answers
-- how many events it was. Those of `but_of` are left as they are: they go with their person, whose erase may hold
-- them already. Owned by the schema's owner, as ingest.erase_events is, and so held to its project here.
create or replace function ingest.forget_devices(
  project_id    uuid,
  flush_ids     uuid[],
  anonymous_ids text[],
  but_of        text[]
)
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
  where event.external_id is not null and event.anonymous_id = any (forget_devices.anonymous_ids)
  and (forget_devices.but_of is null or event.external_id <> all (forget_devices.but_of));

  update ingest.events as event
  set anonymous_id = null
  where event.project_id = forget_devices.project_id
  and event.event_id = any (v_ids) and event.occurred_at between v_from and v_to;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;

revoke all on function ingest.forget_devices(uuid, uuid[], text[], text[]) from public;
grant execute on function ingest.forget_devices(uuid, uuid[], text[], text[]) to trunkline_runtime;
--! EndIncluded ingest/forget_devices.sql
--! Included identity/move_seen.sql
-- Moves when known identities were first and last seen; answers with the identifiers that nobody has yet.
--
-- One look-up per identifier and one update per identity that moves, each by its key: whatever the planner
-- takes the table for, the work grows with who was seen, never with who is known. They are given in the
-- order (kind, value), so that two claims lock in one order.
create or replace function identity.move_seen(
  project_id     uuid,
  kinds          text[],
  identifiers    text[],
  first_seen_ats timestamptz[],
  last_seen_ats  timestamptz[]
)
returns table (kind text, value text, first_seen_at timestamptz, last_seen_at timestamptz)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_seen record;
begin
  for v_seen in
    select seen.kind, seen.value, seen.first_at, seen.last_at, known.identity_id
    from unnest(move_seen.kinds, move_seen.identifiers, move_seen.first_seen_ats, move_seen.last_seen_ats)
      as seen (kind, value, first_at, last_at)
    left join lateral (
      select found.identity_id, found.first_seen_at, found.last_seen_at, found.erasure_id
      from identity.identities as found
      where found.project_id = move_seen.project_id and found.kind = seen.kind and found.value = seen.value
      limit 1
    ) as known on true
    -- Who is being erased is touched in any case: whoever ends that holds them, and may be about to commit.
    where known.identity_id is null or known.erasure_id is not null
    or (known.first_seen_at, known.last_seen_at) is distinct from
      (least(known.first_seen_at, seen.first_at), greatest(known.last_seen_at, seen.last_at))
  loop
    update identity.identities as known
    set first_seen_at = least(known.first_seen_at, v_seen.first_at),
      last_seen_at = greatest(known.last_seen_at, v_seen.last_at)
    where known.project_id = move_seen.project_id and known.identity_id = v_seen.identity_id;
    -- Also unknown: whoever was erased while we waited.
    if not found then
      kind := v_seen.kind;
      value := v_seen.value;
      first_seen_at := v_seen.first_at;
      last_seen_at := v_seen.last_at;
      return next;
    end if;
  end loop;
end;
$$;
--! EndIncluded identity/move_seen.sql
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
  v_externals        text[];
  v_devices          text[];
  v_firsts           timestamptz[];
  v_lasts            timestamptz[];
  v_kinds            text[];
  v_values           text[];
  v_erased_devices   text[];
  v_erased_externals text[];
begin
  -- Who is being erased, of those that the flushes name: looked up one by one, and only where anybody is.
  if exists (
    select from identity.identities as erased
    where erased.project_id = see_events.project_id and erased.erasure_id is not null
  ) then
    select array_agg(named.value) filter (where named.kind = 'anonymous'),
      array_agg(named.value) filter (where named.kind = 'external')
    into v_erased_devices, v_erased_externals
    from (
      select distinct seen.kind, seen.value
      from ingest.pending_events(project_id => see_events.project_id, flush_ids => see_events.flush_ids) as event
      cross join lateral (
        values ('external', event.external_id), ('anonymous', event.anonymous_id)
      ) as seen (kind, value)
    ) as named
    cross join lateral (
      select from identity.identities as erased
      where erased.project_id = see_events.project_id and erased.kind = named.kind and erased.value = named.value
      and erased.erasure_id is not null
      limit 1
    ) as known;
  end if;
  if v_erased_devices is not null then
    perform ingest.forget_devices(project_id => see_events.project_id, flush_ids => see_events.flush_ids,
      anonymous_ids => v_erased_devices, but_of => v_erased_externals);
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
--! Included ingest/drop_partition.sql
-- Drops the oldest month of the timeline that ends before a moment; answers its name, or null when there is none.
--
-- One month a call, so that the lock on the timeline is given back in between. It is needed for
-- some milliseconds of work in the catalogue; the files go when it is free again. Everybody queues
-- up behind who waits for it, so nobody waits for it longer than this: the job asks again later.
--
-- Two who drop one month at once are not a case that Postgres takes well: who comes second finds no such table, or
-- a partition without a parent, which is an internal error. When the month is gone it goes on with the next.
create or replace function ingest.drop_partition(before timestamptz)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_name text;
begin
  if drop_partition.before > now() - interval '1 month' then
    raise exception 'only months that are over for a month can go';
  end if;
  select expired.name into v_name
  from ingest.expired_partitions(before => drop_partition.before) as expired
  limit 1;
  if v_name is not null then
    execute format('drop table ingest.%I', v_name);
  end if;
  return v_name;
exception when undefined_table or internal_error then
  if v_name is null
  or v_name in (select expired.name from ingest.expired_partitions(before => drop_partition.before) as expired) then
    raise;
  end if;
  return ingest.drop_partition(before => drop_partition.before);
end;
$$;

revoke all on function ingest.drop_partition(timestamptz) from public;
grant execute on function ingest.drop_partition(timestamptz) to trunkline_queue;
--! EndIncluded ingest/drop_partition.sql
