--! Previous: sha1:501e015f60ad1a1a8982d6a95268d161f61bfa0c
--! Hash: sha1:a0f0c57ce1426bc7b4367f01bd2a97e1954bcdc9
--! Message: browsers_assert_apart

-- Enter migration here
-- What browsers asserted about people, kept apart from what servers said.
create table if not exists profiles.browser_traits (
  project_id  uuid not null,
  identity_id uuid not null,
  key         text not null,
  value       jsonb not null,
  set_at      timestamptz(3) not null,
  told_at     timestamptz not null,
  browser_key bytea,
  primary key (project_id, identity_id, key)
);
select base.isolate_table('profiles.browser_traits');
grant select, insert, update, delete on profiles.browser_traits to trunkline_runtime;
select base.declare_columns('profiles.browser_traits', '{key, value}', '{browser_key}',
  '{project_id, identity_id, set_at, told_at}');

-- Who caused a change, so that a run that it starts knows whether a browser did.
alter table profiles.changes add column if not exists source text;
select base.declare_columns('profiles.changes', '{}', '{}', '{source}');

drop function if exists profiles.note_changes(uuid, uuid[]);
--! Included profiles/note_changes.sql
-- Notes that people changed, where anybody watches them (profiles.watches); else it is a look at one row.
--
-- Asked after the change, under its locks. Who finds that nobody watches holds the row in a way that does not
-- block the one that begins to watch, and that one waits for these holders before it reads people: so each change is
-- noted, or seen. A change that finds a watch holds nothing, so the wait ends. source: who caused the change, `server`
-- or `browser`; null where that is not known.
create or replace function profiles.note_changes(project_id uuid, profile_ids uuid[], source text default null)
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
    insert into profiles.changes (project_id, noted_at, change_id, profile_id, source)
    select note_changes.project_id, clock_timestamp(), gen_random_uuid(), changed.profile_id, note_changes.source
    from unnest(note_changes.profile_ids) as changed (profile_id);
  end if;
end;
$$;
--! EndIncluded profiles/note_changes.sql
drop function if exists profiles.take_changes(uuid, integer);
--! Included profiles/take_changes.sql
-- Takes the oldest notes of changed people; returns each person once, with the source of the changes: `server` where a
-- server caused all of them, `browser` where a browser caused any, else null.
--
-- The caller reads the people afterwards, in the same transaction: it sees at least what was noted.
create or replace function profiles.take_changes(project_id uuid, changes_max integer)
returns table (profile_id uuid, source text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_times   timestamptz[];
  v_ids     uuid[];
  v_who     uuid[];
  v_sources text[];
begin
  select array_agg(taken.noted_at), array_agg(taken.change_id), array_agg(taken.profile_id), array_agg(taken.source)
  into v_times, v_ids, v_who, v_sources
  from (
    select change.noted_at, change.change_id, change.profile_id, change.source from profiles.changes as change
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
    end
  from unnest(v_who, v_sources) as changed (profile_id, source)
  group by changed.profile_id;
end;
$$;
--! EndIncluded profiles/take_changes.sql
drop function if exists profiles.fold_profile(uuid, uuid, timestamptz);
--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
-- Those that are being erased say nothing any more, to whomever they were linked meanwhile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text, byte by byte. A null value removes the trait. Writes nothing when nothing changed.
-- The identities are read under the profile's lock: whoever links or undoes folds again after us.
-- Returns the address before and after. source: who caused it, `server` or `browser`; null where that is not known.
create or replace function profiles.fold_profile(
  project_id uuid,
  profile_id uuid,
  at         timestamptz,
  source     text default null
)
returns table (old_email text, new_email text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_traits    jsonb;
  v_email     text;
  v_old_email text;
begin
  select profile.email into v_old_email from profiles.profiles as profile
  where profile.project_id = fold_profile.project_id and profile.profile_id = fold_profile.profile_id
  for update;

  select coalesce(jsonb_object_agg(winner.key, winner.value) filter (where winner.value <> 'null'), '{}')
  into v_traits
  from (
    select distinct on (trait.key) trait.key, trait.value
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
  set traits = v_traits, email = v_email, updated_at = fold_profile.at
  where profile.project_id = fold_profile.project_id
  and profile.profile_id = fold_profile.profile_id
  and (profile.traits, profile.email) is distinct from (v_traits, v_email);
  if found then
    perform profiles.note_changes(fold_profile.project_id, array[fold_profile.profile_id], fold_profile.source);
  end if;

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql
--! Included profiles/set_browser_traits.sql
-- Keeps what a browser asserted about an identity apart from what servers said of it: an email to an address that only
-- a browser asserted is rendered from this alone.
--
-- Per key the later set_at wins, then the greater value as text, so that the order of arrival cannot matter.
-- browser_key says which browser it was, null where it did not say. At most traits_max keys and bytes_max of JSON
-- stay: the latest, and an address longest of all.
create or replace function profiles.set_browser_traits(
  project_id  uuid,
  identity_id uuid,
  traits      jsonb,
  set_at      timestamptz,
  at          timestamptz,
  browser_key bytea,
  traits_max  integer,
  bytes_max   integer
)
returns void
language sql volatile
as $$
  insert into profiles.browser_traits as kept (project_id, identity_id, key, value, set_at, told_at, browser_key)
  select set_browser_traits.project_id, set_browser_traits.identity_id, told.key, told.value,
    set_browser_traits.set_at, set_browser_traits.at, set_browser_traits.browser_key
  from jsonb_each(set_browser_traits.traits) as told
  order by told.key
  on conflict (project_id, identity_id, key) do update
  set value = excluded.value, set_at = excluded.set_at, told_at = excluded.told_at, browser_key = excluded.browser_key
  where (excluded.set_at, excluded.value::text collate "C") > (kept.set_at, kept.value::text collate "C");

  delete from profiles.browser_traits as kept
  using (
    select trait.key, row_number() over newest as place,
      sum(profiles.trait_bytes(trait.key, trait.value)) over newest as bytes
    from profiles.browser_traits as trait
    where trait.project_id = set_browser_traits.project_id and trait.identity_id = set_browser_traits.identity_id
    window newest as (order by trait.key = 'email' desc, trait.set_at desc, trait.key collate "C")
  ) as ranked
  where kept.project_id = set_browser_traits.project_id and kept.identity_id = set_browser_traits.identity_id
  and kept.key = ranked.key
  and (ranked.place > set_browser_traits.traits_max or ranked.bytes > set_browser_traits.bytes_max)
$$;
--! EndIncluded profiles/set_browser_traits.sql
drop function if exists profiles.change_traits(uuid, uuid, jsonb, timestamptz, text, timestamptz, integer, integer);
--! Included profiles/change_traits.sql
-- Keeps what an identity was told about itself and folds it into the profile it belongs to now.
--
-- The identity is locked in share mode, so that it cannot change hands until we are done. One that is
-- gone was erased since the caller saw it, so the caller's transaction has to begin again. One that is being
-- erased is told nothing: no row is answered. Nothing is kept either of a word that would overfill it, and is_full
-- answered; the profile is locked before it is counted, so that two words at once cannot overfill it together. Without
-- bounds there are none: a process of the release before does not say them, and would not read that it is full.
create or replace function profiles.change_traits(
  project_id  uuid,
  identity_id uuid,
  traits      jsonb,
  set_at      timestamptz,
  authority   text,
  at          timestamptz,
  traits_max  integer default null,
  bytes_max   integer default null,
  browser_key bytea default null
)
returns table (changed_id uuid, old_email text, new_email text, is_full boolean)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_profile_id uuid;
  v_erasure_id uuid;
begin
  select known.profile_id, known.erasure_id into v_profile_id, v_erasure_id from identity.identities as known
  where known.project_id = change_traits.project_id and known.identity_id = change_traits.identity_id
  for share;
  if v_profile_id is null then
    raise exception 'an identity was erased meanwhile' using errcode = 'serialization_failure';
  end if;

  if v_erasure_id is not null then
    return;
  end if;

  perform from profiles.profiles as profile
  where profile.project_id = change_traits.project_id and profile.profile_id = v_profile_id
  for update;
  if change_traits.authority = 'server' and profiles.overfills_traits(change_traits.project_id,
    change_traits.identity_id, change_traits.traits, change_traits.set_at, change_traits.traits_max,
    change_traits.bytes_max) then
    return query select v_profile_id, null::text, null::text, true;
    return;
  end if;

  perform profiles.set_traits(change_traits.project_id, change_traits.identity_id, change_traits.traits,
    change_traits.set_at, change_traits.authority);
  perform profiles.forget_traits(change_traits.project_id, change_traits.identity_id,
    change_traits.traits_max, change_traits.bytes_max);
  if change_traits.authority = 'publishable' then
    perform profiles.set_browser_traits(change_traits.project_id, change_traits.identity_id, change_traits.traits,
      change_traits.set_at, change_traits.at, change_traits.browser_key, change_traits.traits_max,
      change_traits.bytes_max);
  end if;
  return query select v_profile_id, folded.old_email, folded.new_email, false
  from profiles.fold_profile(change_traits.project_id, v_profile_id, change_traits.at,
    case change_traits.authority when 'server' then 'server' else 'browser' end) as folded;
end;
$$;
--! EndIncluded profiles/change_traits.sql
--! Included profiles/list_provenance.sql
-- Returns for some emails whom each is for now, whether a server confirmed the address, and which traits of the person
-- only browsers asserted: those whose winning word came with a publishable key.
--
-- Each is the identity that a run was started for, the profile that it had then, and the address; a null address stands
-- for the person's own, and a person without one needs no confirmation.
create or replace function profiles.list_provenance(
  project_id   uuid,
  identity_ids uuid[],
  profile_ids  uuid[],
  emails       text[]
)
returns table (place bigint, person_id uuid, is_confirmed boolean, browser_names text[])
language sql stable
as $$
  select asked.place, person.profile_id,
    person.email is null or exists (
      select from profiles.list_confirmed(list_provenance.project_id, array[person.profile_id], array[person.email])
    ),
    array(
      select winner.key
      from (
        select distinct on (trait.key) trait.key, trait.authority
        from identity.identities as known
        join profiles.traits as trait
          on trait.project_id = known.project_id and trait.identity_id = known.identity_id
        where known.project_id = list_provenance.project_id
        and known.profile_id = person.profile_id
        and known.erasure_id is null
        and trait.project_id = list_provenance.project_id
        order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text collate "C" desc
      ) as winner
      where winner.authority = 'publishable'
    )
  from unnest(list_provenance.identity_ids, list_provenance.profile_ids, list_provenance.emails)
    with ordinality as asked (identity_id, profile_id, email, place)
  cross join lateral (
    select coalesce(
      (
        select known.profile_id from identity.identities as known
        where known.project_id = list_provenance.project_id and known.identity_id = asked.identity_id
      ),
      asked.profile_id
    ) as profile_id
  ) as current
  cross join lateral (
    select found.profile_id, coalesce(asked.email, found.email) as email from profiles.profiles as found
    where found.project_id = list_provenance.project_id and found.profile_id = current.profile_id
    limit 1
  ) as person
$$;
--! EndIncluded profiles/list_provenance.sql
--! Included profiles/list_asserted.sql
-- Returns for some people what the browser asserted about them that asserted their address, and which browser that was.
--
-- An email to an unconfirmed address is rendered from this alone. What another browser said stays out: an attacker who
-- identifies a known person with an address of their own must not receive what that person typed. A browser that did
-- not say who it is (no anonymous id) asserted only what came in one request with the address.
create or replace function profiles.list_asserted(project_id uuid, profile_ids uuid[], emails text[])
returns table (place bigint, traits jsonb, browser_key bytea)
language sql stable
as $$
  select asked.place, coalesce(
    (
      select jsonb_object_agg(winner.key, winner.value) filter (where winner.value <> 'null')
      from (
        select distinct on (trait.key) trait.key, trait.value
        from identity.identities as known
        join profiles.browser_traits as trait
          on trait.project_id = known.project_id and trait.identity_id = known.identity_id
        where known.project_id = list_asserted.project_id
        and known.profile_id = asked.profile_id
        and known.erasure_id is null
        and trait.project_id = list_asserted.project_id
        and case when teller.browser_key is not null then trait.browser_key = teller.browser_key
          else trait.browser_key is null and trait.identity_id = teller.identity_id and trait.told_at = teller.told_at
            and trait.set_at = teller.set_at
        end
        order by trait.key, trait.set_at desc, trait.value::text collate "C" desc
      ) as winner
    ),
    '{}'
  ), teller.browser_key
  from unnest(list_asserted.profile_ids, list_asserted.emails) with ordinality as asked (profile_id, email, place)
  cross join lateral (
    select trait.identity_id, trait.browser_key, trait.told_at, trait.set_at
    from identity.identities as known
    join profiles.browser_traits as trait
      on trait.project_id = known.project_id and trait.identity_id = known.identity_id
    where known.project_id = list_asserted.project_id
    and known.profile_id = asked.profile_id
    and known.erasure_id is null
    and trait.project_id = list_asserted.project_id
    and trait.key = 'email'
    and lower(btrim(trait.value #>> '{}')) = lower(asked.email)
    order by trait.set_at desc, trait.identity_id
    limit 1
  ) as teller
$$;
--! EndIncluded profiles/list_asserted.sql
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
  v_by_servers  boolean[];
  v_changed_ids uuid[];
  v_browser_ids uuid[];
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
      array_agg(seen.count), array_agg(seen.first_at), array_agg(seen.last_at), array_agg(seen.is_by_server)
    into v_kinds, v_identifiers, v_conditions, v_days, v_counts, v_firsts, v_lasts, v_by_servers
    from (
      select case when event.external_id is null then 'anonymous' else 'external' end as kind,
        coalesce(event.external_id, event.anonymous_id) as value, condition.condition_id,
        case when condition.is_daily then (event.occurred_at at time zone 'UTC')::date else 'epoch'::date end as day,
        count(*) as count, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at,
        bool_and(event.source = 'server') as is_by_server
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
    v_changed_ids := segments.add_counters(count_events.project_id, v_kinds, v_identifiers, v_conditions, v_days,
      v_counts, v_firsts, v_lasts);
    v_browser_ids := array(
      select known.profile_id
      from (
        select distinct told.kind, told.value
        from unnest(v_kinds, v_identifiers, v_by_servers) as told (kind, value, is_by_server)
        where not told.is_by_server
      ) as named
      cross join lateral (
        select found.profile_id from identity.identities as found
        where found.project_id = count_events.project_id and found.kind = named.kind and found.value = named.value
        limit 1
      ) as known
    );
    perform profiles.note_changes(count_events.project_id, array(
      select changed.id from unnest(v_changed_ids) as changed (id) where changed.id = any (v_browser_ids)), 'browser');
    perform profiles.note_changes(count_events.project_id, array(
      select changed.id from unnest(v_changed_ids) as changed (id) where changed.id <> all (v_browser_ids)), 'server');
  end if;
  return exists (select from profiles.changes as change where change.project_id = count_events.project_id);
end;
$$;
--! EndIncluded segments/count_events.sql
