--! Previous: sha1:4fd53dd5c60a5a6536be6ce51646a4bd4e0de78a
--! Hash: sha1:4ad88cc188b9c57b8d93d160dc11e912a7ae9ecf
--! Message: changes_say_their_reason

-- A note of a changed person says why: a link, the undo of a link, or late events. Without a reason something was fresh.
alter table profiles.changes add column if not exists reason jsonb;
select base.declare_columns('profiles.changes', '{}', '{}', '{reason}');
drop function if exists profiles.note_changes(uuid, uuid[], text);
--! Included profiles/note_changes.sql
-- Notes that people changed, if the project has a watch (profiles.watches). Without one it reads a single row.
--
-- Called after the change, under its locks. A transaction that finds no watch locks the row. That lock does not block
-- the transaction that begins to watch, which waits for all such locks before it reads people. So each change is noted
-- or seen. A transaction that finds a watch locks nothing, so that wait ends.
-- source: the cause of the change, `server` or `browser`; null where that is not known. reasons: why each person
-- changed, in the order of profile_ids; null where something fresh happened to the person.
create or replace function profiles.note_changes(
  project_id  uuid,
  profile_ids uuid[],
  source      text default null,
  reasons     jsonb[] default null
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_watched boolean;
begin
  select watch.is_watched into v_is_watched from profiles.watches as watch
  where watch.project_id = note_changes.project_id;
  if v_is_watched is null then
    insert into profiles.watches (project_id, is_watched) values (note_changes.project_id, false)
    on conflict do nothing;
  end if;
  if v_is_watched is not true then
    select watch.is_watched into v_is_watched from profiles.watches as watch
    where watch.project_id = note_changes.project_id
    for key share;
  end if;

  if v_is_watched then
    insert into profiles.changes (project_id, noted_at, change_id, profile_id, source, reason)
    select note_changes.project_id, clock_timestamp(), gen_random_uuid(), changed.profile_id, note_changes.source,
      changed.reason
    from unnest(note_changes.profile_ids, note_changes.reasons) as changed (profile_id, reason);
  end if;
end;
$$;
--! EndIncluded profiles/note_changes.sql
drop function if exists profiles.take_changes(uuid, integer);
--! Included profiles/take_changes.sql
-- Takes the oldest notes of changed people; returns each person once, with the source of the changes: `server` where a
-- server caused all of them, `browser` where a browser caused any, else null. is_fresh: whether a note has no reason;
-- reasons: an array of those of the others, null where there is none.
--
-- The caller reads the people afterwards, in the same transaction: it sees at least what was noted.
create or replace function profiles.take_changes(project_id uuid, changes_max integer)
returns table (profile_id uuid, source text, is_fresh boolean, reasons jsonb)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_times   timestamptz[];
  v_ids     uuid[];
  v_who     uuid[];
  v_sources text[];
  v_reasons jsonb[];
begin
  select array_agg(taken.noted_at), array_agg(taken.change_id), array_agg(taken.profile_id), array_agg(taken.source),
    array_agg(taken.reason)
  into v_times, v_ids, v_who, v_sources, v_reasons
  from (
    select change.noted_at, change.change_id, change.profile_id, change.source, change.reason
    from profiles.changes as change
    where change.project_id = take_changes.project_id
    order by change.noted_at, change.change_id
    limit take_changes.changes_max
    for update skip locked
  ) as taken;

  delete from profiles.changes as change
  using unnest(v_times, v_ids) as taken (noted_at, change_id)
  where change.project_id = take_changes.project_id
  and change.noted_at = taken.noted_at and change.change_id = taken.change_id;

  return query
  select changed.profile_id, case
      when bool_and(changed.source is not distinct from 'server') then 'server'
      when bool_or(changed.source is not distinct from 'browser') then 'browser'
    end, bool_or(changed.reason is null), jsonb_agg(changed.reason) filter (where changed.reason is not null)
  from unnest(v_who, v_sources, v_reasons) as changed (profile_id, source, reason)
  group by changed.profile_id;
end;
$$;
--! EndIncluded profiles/take_changes.sql
drop function if exists profiles.fold_profile(uuid, uuid, timestamptz, text);
--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
-- An identity that is being erased counts for nothing any more, whatever profile it was linked to meanwhile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text, byte by byte. A null value removes the trait. Writes nothing when nothing changed.
-- Keeps the names of the traits that only browsers asserted, of which a server that says the same value takes one.
-- The identities are read under the profile's lock: a link or an undo that waits for it folds the profile again.
-- Returns the address before and after. source: its cause, `server` or `browser`; null where that is not known.
-- reason: why, as profiles.note_changes stores it.
create or replace function profiles.fold_profile(
  project_id uuid,
  profile_id uuid,
  at         timestamptz,
  source     text default null,
  reason     jsonb default null
)
returns table (old_email text, new_email text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_traits        jsonb;
  v_browser_names text[];
  v_email         text;
  v_old_traits    jsonb;
  v_old_email     text;
begin
  select profile.traits, profile.email into v_old_traits, v_old_email from profiles.profiles as profile
  where profile.project_id = fold_profile.project_id and profile.profile_id = fold_profile.profile_id
  for update;

  select coalesce(jsonb_object_agg(winner.key, winner.value) filter (where winner.value <> 'null'), '{}'),
    coalesce(array_agg(winner.key order by winner.key collate "C")
      filter (where winner.value <> 'null' and winner.authority = 'publishable'), '{}')
  into v_traits, v_browser_names
  from (
    select distinct on (trait.key) trait.key, trait.value, trait.authority
    from identity.identities as known
    join profiles.traits as trait
      on trait.project_id = known.project_id and trait.identity_id = known.identity_id
    where known.project_id = fold_profile.project_id
    and known.profile_id = fold_profile.profile_id
    and known.erasure_id is null
    and trait.project_id = fold_profile.project_id
    order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text collate "C" desc
  ) as winner;

  v_email := nullif(btrim(v_traits ->> 'email'), '');

  update profiles.profiles as profile
  set traits = v_traits, email = v_email, browser_names = v_browser_names,
    updated_at = case when (v_old_traits, v_old_email) is distinct from (v_traits, v_email) then fold_profile.at
      else profile.updated_at end
  where profile.project_id = fold_profile.project_id
  and profile.profile_id = fold_profile.profile_id
  and (profile.traits, profile.email, profile.browser_names) is distinct from (v_traits, v_email, v_browser_names);
  if found and (v_old_traits, v_old_email) is distinct from (v_traits, v_email) then
    perform profiles.note_changes(fold_profile.project_id, array[fold_profile.profile_id], fold_profile.source,
      array[fold_profile.reason]);
  end if;

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql
drop function if exists profiles.make_profiles(uuid, uuid[], integer);
--! Included profiles/make_profiles.sql
-- Makes the profiles of identities that were just made.
--
-- erased_before: the number of erased people that the caller's transaction has read. If a person was erased since, it
-- fails: the identities may be of events that are gone, so the transaction has to begin again from its start.
-- reasons: why each profile is made, as profiles.note_changes stores them.
create or replace function profiles.make_profiles(
  project_id    uuid,
  profile_ids   uuid[],
  erased_before integer,
  reasons       jsonb[] default null
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_erased integer;
begin
  select counted.erased into v_erased from profiles.erase_counts as counted
  where counted.project_id = make_profiles.project_id;

  if coalesce(v_erased, 0) <> make_profiles.erased_before then
    raise exception 'a person was erased meanwhile' using errcode = 'serialization_failure';
  end if;

  insert into profiles.profiles (project_id, profile_id, created_at, updated_at)
  select make_profiles.project_id, made.profile_id, statement_timestamp(), statement_timestamp()
  from unnest(make_profiles.profile_ids) as made (profile_id)
  order by made.profile_id
  on conflict do nothing;

  if cardinality(make_profiles.profile_ids) > 0 then
    perform profiles.note_changes(make_profiles.project_id, make_profiles.profile_ids, null, make_profiles.reasons);
  end if;
end;
$$;
--! EndIncluded profiles/make_profiles.sql
drop function if exists profiles.see_events(uuid, uuid[]);
--! Included profiles/see_events.sql
-- Sees the people that the events of some flushes name. Returns what `identity.move_seen` leaves, in the order in which
-- identities are locked. Remembers which known people were seen with which devices. lag_ms: the shortest time between
-- an event of the identifier and its receipt.
--
-- It remembers nothing of people who are being erased, and removes their devices from the events of others at once. So
-- an erase that has waited for the transactions before it needs one look for each device.
create or replace function profiles.see_events(project_id uuid, flush_ids uuid[])
returns table (
  kind text, value text, first_seen_at timestamptz, last_seen_at timestamptz, observed_at timestamptz, is_known boolean,
  lag_ms bigint
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_named            record;
  v_seen             record;
  v_erased_devices   text[];
  v_erased_externals text[];
begin
  -- The people of the flushes who are being erased: looked up one by one, and only where an erase runs.
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
      cross join lateral (values ('external', event.external_id), ('anonymous', event.anonymous_id))
        as seen (kind, value)
    ) as named
    cross join lateral (
      select from identity.identities as erased
      where erased.project_id = see_events.project_id and erased.kind = named.kind
      and erased.value = named.value and erased.erasure_id is not null limit 1
    ) as known;
  end if;
  if v_erased_devices is not null then
    perform ingest.forget_devices(project_id => see_events.project_id, flush_ids => see_events.flush_ids,
      anonymous_ids => v_erased_devices, but_of => v_erased_externals);
  end if;

  select array_agg(named.external_id) as externals, array_agg(named.anonymous_id) as devices,
    array_agg(named.first_at) as firsts, array_agg(named.last_at) as lasts, array_agg(named.observed_at) as observed,
    array_agg(named.lag) as lags
  into v_named
  from (
    select event.external_id, event.anonymous_id, min(event.occurred_at) as first_at,
      max(event.occurred_at) filter (where event.source <> 'system') as last_at,
      max(event.occurred_at) filter (where event.source = 'system') as observed_at,
      min(event.received_at - event.occurred_at) as lag
    from ingest.pending_events(project_id => see_events.project_id, flush_ids => see_events.flush_ids) as event
    group by event.external_id, event.anonymous_id
  ) as named;

  perform ingest.remember_devices(project_id => see_events.project_id, anonymous_ids => v_named.devices,
    external_ids => v_named.externals, but_of => v_erased_externals);

  select array_agg(named.kind) as kinds, array_agg(named.value) as identifiers, array_agg(named.first_at) as firsts,
    array_agg(named.last_at) as lasts, array_agg(named.observed_at) as observed, array_agg(named.lag) as lags
  into v_seen
  from (
    select seen.kind, seen.value, min(pair.first_at) as first_at, max(pair.last_at) as last_at,
      max(pair.observed_at) as observed_at, min(pair.lag) as lag
    from unnest(v_named.externals, v_named.devices, v_named.firsts, v_named.lasts, v_named.observed, v_named.lags)
      as pair (external_id, anonymous_id, first_at, last_at, observed_at, lag)
    cross join lateral (values ('external', pair.external_id), ('anonymous', pair.anonymous_id)) as seen (kind, value)
    where seen.value is not null
    group by seen.kind, seen.value
    order by seen.kind, seen.value
  ) as named;

  return query
  select unseen.kind, unseen.value, unseen.first_seen_at, unseen.last_seen_at, unseen.observed_at, unseen.is_known,
    (extract(epoch from named.lag) * 1000)::bigint
  from identity.move_seen(see_events.project_id, v_seen.kinds, v_seen.identifiers, v_seen.firsts, v_seen.lasts,
      v_seen.observed)
    with ordinality as unseen (kind, value, first_seen_at, last_seen_at, observed_at, is_known, place)
  join unnest(v_seen.kinds, v_seen.identifiers, v_seen.lags) as named (kind, value, lag)
    on named.kind = unseen.kind and named.value = unseen.value
  order by unseen.place;
end;
$$;
--! EndIncluded profiles/see_events.sql
