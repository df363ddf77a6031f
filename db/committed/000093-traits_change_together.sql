--! Previous: sha1:37e2106ba42ec4fde5c58cb7752bcd6675a5dac5
--! Hash: sha1:7498e2816ef3b50fcd17457946da7ac50bf47a6d
--! Message: traits_change_together

-- Enter migration here
drop function if exists profiles.overfills_traits(uuid, uuid, jsonb, timestamptz, integer, integer);
drop function if exists profiles.set_traits(uuid, uuid, jsonb, timestamptz, text);
drop function if exists profiles.forget_traits(uuid, uuid, integer, integer);
drop function if exists profiles.set_browser_traits(uuid, uuid, jsonb, timestamptz, timestamptz, bytea, integer, integer);

--! Included profiles/trait_bytes.sql
-- What a trait takes of the JSON that an identity may hold: its name and value, and what stands around them.
--
-- Without the blanks that Postgres puts after commas and colons. Those in strings do not count either, so twice as much
-- may be kept at the very most; numbers count written out, as they are kept: 1e-300 takes 302.
create or replace function profiles.trait_bytes(key text, value jsonb)
returns integer
language sql stable
as $$
  select octet_length(to_json(trait_bytes.key)::text) + 2
    + octet_length(replace(replace(trait_bytes.value::text, ', ', ','), ': ', ':'))
$$;
--! EndIncluded profiles/trait_bytes.sql
--! Included profiles/list_overfilled.sql
-- Lists the identities of which a server's word would make them hold more of what servers told them than they may.
--
-- traits_max of them, or bytes_max of JSON, counted after the word. A word never overfills that takes away, or changes
-- what is there without growing it. None, where there is no bound.
create or replace function profiles.list_overfilled(
  project_id   uuid,
  identity_ids uuid[],
  traits       jsonb[],
  set_ats      timestamptz[],
  traits_max   integer,
  bytes_max    integer
)
returns setof uuid
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select said.identity_id
  from unnest(list_overfilled.identity_ids, list_overfilled.traits, list_overfilled.set_ats)
    as said (identity_id, traits, set_at)
  cross join lateral (
    select count(*) filter (where word.was_held) as before,
      count(*) filter (where word.is_held) as after,
      coalesce(sum(profiles.trait_bytes(word.key, word.old_value)) filter (where word.was_held), 0) as before_bytes,
      coalesce(sum(profiles.trait_bytes(word.key, word.new_value)) filter (where word.is_held), 0) as after_bytes
    from (
      select merged.key, merged.old_value, merged.new_value, merged.was_held,
        case when merged.is_told then merged.new_value <> 'null' else merged.was_held end as is_held
      from (
        select coalesce(kept.key, told.key) as key, kept.value as old_value,
          coalesce(kept.authority = 'server' and kept.value <> 'null', false) as was_held,
          told.key is not null and (kept.key is null
            or (true, said.set_at, told.value::text collate "C")
              > (kept.authority = 'server', kept.set_at, kept.value::text collate "C")) as is_told,
          coalesce(told.value, kept.value) as new_value
        from (
          select trait.key, trait.value, trait.set_at, trait.authority from profiles.traits as trait
          where trait.project_id = list_overfilled.project_id and trait.identity_id = said.identity_id
        ) as kept
        full join jsonb_each(said.traits) as told on told.key = kept.key
      ) as merged
    ) as word
  ) as counted
  where (counted.after > list_overfilled.traits_max and counted.after > counted.before)
    or (counted.after_bytes > list_overfilled.bytes_max and counted.after_bytes > counted.before_bytes);
end;
$$;
--! EndIncluded profiles/list_overfilled.sql
--! Included profiles/set_traits.sql
-- Keeps what different identities were told about themselves, where it beats what is kept already.
--
-- The same rule as fold_profiles, so that arrival order cannot matter. Texts are compared byte by byte, so
-- that the language of a server cannot either.
create or replace function profiles.set_traits(
  project_id   uuid,
  identity_ids uuid[],
  traits       jsonb[],
  set_ats      timestamptz[],
  authority    text
)
returns void
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  insert into profiles.traits as kept (project_id, identity_id, key, value, set_at, authority)
  select set_traits.project_id, said.identity_id, told.key, told.value, said.set_at, set_traits.authority
  from unnest(set_traits.identity_ids, set_traits.traits, set_traits.set_ats) as said (identity_id, traits, set_at)
  cross join lateral jsonb_each(said.traits) as told
  order by said.identity_id, told.key
  on conflict on constraint traits_pkey do update
  set value = excluded.value, set_at = excluded.set_at, authority = excluded.authority
  where (excluded.authority = 'server', excluded.set_at, excluded.value::text collate "C")
    > (kept.authority = 'server', kept.set_at, kept.value::text collate "C");
end;
$$;
--! EndIncluded profiles/set_traits.sql
--! Included profiles/forget_traits.sql
-- Forgets, of what pages told identities and of what servers took away, whatever is beyond traits_max and bytes_max of
-- one identity.
--
-- The newest values stay, and an address longest of all, so that no holder of a publishable key grows a person
-- without end. The function never deletes a server's values: list_overfilled refuses them instead. It deletes nothing
-- where there is no bound.
create or replace function profiles.forget_traits(
  project_id   uuid,
  identity_ids uuid[],
  traits_max   integer,
  bytes_max    integer
)
returns void
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_ids  uuid[];
  v_keys text[];
begin
  select array_agg(ranked.identity_id), array_agg(ranked.key) into v_ids, v_keys
  from (
    select trait.identity_id, trait.key, row_number() over newest as place,
      sum(profiles.trait_bytes(trait.key, trait.value)) over newest as bytes
    from unnest(forget_traits.identity_ids) as asked (identity_id)
    cross join lateral (
      select found.identity_id, found.key, found.value, found.set_at, found.authority from profiles.traits as found
      where found.project_id = forget_traits.project_id and found.identity_id = asked.identity_id
      and (found.authority = 'publishable' or found.value = 'null')
      offset 0
    ) as trait
    window newest as (
      partition by trait.identity_id, trait.authority
      order by trait.key = 'email' desc, trait.set_at desc, trait.key collate "C"
    )
  ) as ranked
  where ranked.place > forget_traits.traits_max or ranked.bytes > forget_traits.bytes_max;

  if v_keys is not null then
    delete from profiles.traits as kept
    using unnest(v_ids, v_keys) as surplus (identity_id, key)
    where kept.project_id = forget_traits.project_id and kept.identity_id = surplus.identity_id
    and kept.key = surplus.key;
  end if;
end;
$$;
--! EndIncluded profiles/forget_traits.sql
--! Included profiles/set_browser_traits.sql
-- Keeps what browsers asserted about different identities apart from what servers said of them: an email to an address
-- that only a browser asserted is rendered from this alone.
--
-- Per key the later set_at wins, then the greater value as text, so that the order of arrival cannot matter.
-- browser_keys say which browser it was, null where it did not say. Of one identity at most traits_max keys and
-- bytes_max of JSON stay: the latest, and an address longest of all.
create or replace function profiles.set_browser_traits(
  project_id   uuid,
  identity_ids uuid[],
  traits       jsonb[],
  set_ats      timestamptz[],
  at           timestamptz,
  browser_keys bytea[],
  traits_max   integer,
  bytes_max    integer
)
returns void
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_ids  uuid[];
  v_keys text[];
begin
  insert into profiles.browser_traits as kept (project_id, identity_id, key, value, set_at, told_at, browser_key)
  select set_browser_traits.project_id, said.identity_id, told.key, told.value, said.set_at, set_browser_traits.at,
    said.browser_key
  from unnest(set_browser_traits.identity_ids, set_browser_traits.traits, set_browser_traits.set_ats,
    set_browser_traits.browser_keys) as said (identity_id, traits, set_at, browser_key)
  cross join lateral jsonb_each(said.traits) as told
  order by said.identity_id, told.key
  on conflict on constraint browser_traits_pkey do update
  set value = excluded.value, set_at = excluded.set_at, told_at = excluded.told_at, browser_key = excluded.browser_key
  where (excluded.set_at, excluded.value::text collate "C") > (kept.set_at, kept.value::text collate "C");

  select array_agg(ranked.identity_id), array_agg(ranked.key) into v_ids, v_keys
  from (
    select trait.identity_id, trait.key, row_number() over newest as place,
      sum(profiles.trait_bytes(trait.key, trait.value)) over newest as bytes
    from unnest(set_browser_traits.identity_ids) as asked (identity_id)
    cross join lateral (
      select found.identity_id, found.key, found.value, found.set_at from profiles.browser_traits as found
      where found.project_id = set_browser_traits.project_id and found.identity_id = asked.identity_id
      offset 0
    ) as trait
    window newest as (
      partition by trait.identity_id order by trait.key = 'email' desc, trait.set_at desc, trait.key collate "C"
    )
  ) as ranked
  where ranked.place > set_browser_traits.traits_max or ranked.bytes > set_browser_traits.bytes_max;

  if v_keys is not null then
    delete from profiles.browser_traits as kept
    using unnest(v_ids, v_keys) as surplus (identity_id, key)
    where kept.project_id = set_browser_traits.project_id and kept.identity_id = surplus.identity_id
    and kept.key = surplus.key;
  end if;
end;
$$;
--! EndIncluded profiles/set_browser_traits.sql
--! Included profiles/fold_profiles.sql
-- Rewrites profiles from what their identities were told: same inputs in any order, same profiles.
-- Those that are being erased say nothing any more, to whomever they were linked meanwhile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text, byte by byte. A null value removes the trait. Writes nothing when nothing changed.
-- Keeps the names of the traits that only browsers asserted, of which a server that says the same value takes one.
-- The identities are read under the profile's lock: a transaction that links or undoes folds again after us.
-- Returns the profiles whose address changed. source: who caused it, `server` or `browser`; null where that is not
-- known.
create or replace function profiles.fold_profiles(
  project_id  uuid,
  profile_ids uuid[],
  at          timestamptz,
  source      text default null
)
returns table (profile_id uuid, old_email text, new_email text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_changed_ids uuid[] := '{}';
  v_is_changed  boolean;
begin
  perform from profiles.profiles as profile
  where profile.project_id = fold_profiles.project_id and profile.profile_id = any (fold_profiles.profile_ids)
  order by profile.profile_id
  for update;

  for profile_id, old_email, new_email, v_is_changed in
    update profiles.profiles as profile
    set traits = folded.traits, email = folded.email, browser_names = folded.browser_names,
      updated_at = case when (before.traits, before.email) is distinct from (folded.traits, folded.email)
        then fold_profiles.at else profile.updated_at end
    from unnest(fold_profiles.profile_ids) as asked (profile_id)
    cross join lateral (
      select found.traits, found.email from profiles.profiles as found
      where found.project_id = fold_profiles.project_id and found.profile_id = asked.profile_id
      limit 1
    ) as before
    cross join lateral (
      select won.traits, won.browser_names, nullif(btrim(won.traits ->> 'email'), '') as email
      from (
        select coalesce(jsonb_object_agg(winner.key, winner.value) filter (where winner.value <> 'null'), '{}') as traits,
          coalesce(array_agg(winner.key order by winner.key collate "C")
            filter (where winner.value <> 'null' and winner.authority = 'publishable'), '{}') as browser_names
        from (
          select distinct on (trait.key) trait.key, trait.value, trait.authority
          from identity.identities as known
          join profiles.traits as trait
            on trait.project_id = known.project_id and trait.identity_id = known.identity_id
          where known.project_id = fold_profiles.project_id
          and known.profile_id = asked.profile_id
          and known.erasure_id is null
          and trait.project_id = fold_profiles.project_id
          order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text collate "C" desc
        ) as winner
      ) as won
    ) as folded
    where profile.project_id = fold_profiles.project_id and profile.profile_id = asked.profile_id
    and (profile.traits, profile.email, profile.browser_names)
      is distinct from (folded.traits, folded.email, folded.browser_names)
    returning profile.profile_id, before.email, profile.email,
      (before.traits, before.email) is distinct from (profile.traits, profile.email)
  loop
    if v_is_changed then
      v_changed_ids := v_changed_ids || profile_id;
    end if;
    if old_email is distinct from new_email then
      return next;
    end if;
  end loop;
  if v_changed_ids <> '{}' then
    perform profiles.note_changes(fold_profiles.project_id, v_changed_ids, fold_profiles.source);
  end if;
end;
$$;
--! EndIncluded profiles/fold_profiles.sql
--! Included profiles/fold_profile.sql
-- The same as fold_profiles for one profile. Returns nulls where its address is what it was. For processes of the
-- release before.
create or replace function profiles.fold_profile(
  project_id uuid,
  profile_id uuid,
  at         timestamptz,
  source     text default null
)
returns table (old_email text, new_email text)
language sql volatile
as $$
  select min(folded.old_email), min(folded.new_email)
  from profiles.fold_profiles(fold_profile.project_id, array[fold_profile.profile_id], fold_profile.at,
    fold_profile.source) as folded
$$;
--! EndIncluded profiles/fold_profile.sql
--! Included profiles/change_traits_of.sql
-- Keeps what identities of different people were told about themselves, and folds it into the profiles that they
-- belong to now. Returns the identities that are full, and the people whose address changed.
--
-- The identities are locked in share mode, so that they cannot change hands until we are done, then their profiles, in
-- the order of all locks. If one is gone, it was erased since the caller saw it, so the caller's transaction has to
-- begin again. One that is being erased is left out. So is a server's word that would overfill its identity: the profile
-- is locked before its traits are counted, so that two words at once cannot overfill it together. A null is no bound.
create or replace function profiles.change_traits_of(
  project_id   uuid,
  identity_ids uuid[],
  traits       jsonb[],
  set_ats      timestamptz[],
  authority    text,
  at           timestamptz,
  traits_max   integer,
  bytes_max    integer,
  browser_keys bytea[]
)
returns table (full_id uuid, changed_id uuid, old_email text, new_email text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_found       bigint;
  v_profile_ids uuid[];
  v_left_out    uuid[];
begin
  select count(*), array_agg(held.profile_id) filter (where held.erasure_id is null),
    coalesce(array_agg(held.identity_id) filter (where held.erasure_id is not null), '{}')
  into v_found, v_profile_ids, v_left_out
  from (
    select known.identity_id, known.profile_id, known.erasure_id from identity.identities as known
    where known.project_id = change_traits_of.project_id
    and known.identity_id = any (change_traits_of.identity_ids)
    order by known.kind, known.value
    for share
  ) as held;
  if v_found < cardinality(change_traits_of.identity_ids) then
    raise exception 'an identity was erased meanwhile' using errcode = 'serialization_failure';
  end if;

  perform from profiles.profiles as profile
  where profile.project_id = change_traits_of.project_id and profile.profile_id = any (v_profile_ids)
  order by profile.profile_id
  for update;
  if change_traits_of.authority = 'server' then
    for full_id in select profiles.list_overfilled(change_traits_of.project_id, change_traits_of.identity_ids,
      change_traits_of.traits, change_traits_of.set_ats, change_traits_of.traits_max, change_traits_of.bytes_max) loop
      v_left_out := v_left_out || full_id;
      return next;
    end loop;
  end if;
  if v_left_out <> '{}' then
    select array_agg(word.identity_id), array_agg(word.traits), array_agg(word.set_at), array_agg(word.browser_key)
    into identity_ids, traits, set_ats, browser_keys
    from unnest(change_traits_of.identity_ids, change_traits_of.traits, change_traits_of.set_ats,
      change_traits_of.browser_keys) as word (identity_id, traits, set_at, browser_key)
    where word.identity_id <> all (v_left_out);
  end if;

  perform profiles.set_traits(change_traits_of.project_id, change_traits_of.identity_ids, change_traits_of.traits,
    change_traits_of.set_ats, change_traits_of.authority);
  perform profiles.forget_traits(change_traits_of.project_id, change_traits_of.identity_ids,
    change_traits_of.traits_max, change_traits_of.bytes_max);
  if change_traits_of.authority = 'publishable' then
    perform profiles.set_browser_traits(change_traits_of.project_id, change_traits_of.identity_ids,
      change_traits_of.traits, change_traits_of.set_ats, change_traits_of.at, change_traits_of.browser_keys,
      change_traits_of.traits_max, change_traits_of.bytes_max);
  end if;
  return query select null::uuid, folded.profile_id, folded.old_email, folded.new_email
  from profiles.fold_profiles(change_traits_of.project_id, v_profile_ids, change_traits_of.at,
    case change_traits_of.authority when 'server' then 'server' else 'browser' end) as folded;
end;
$$;
--! EndIncluded profiles/change_traits_of.sql
--! Included profiles/change_traits.sql
-- The same as change_traits_of for one identity. For processes of the release before.
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
language sql volatile
as $$
  select coalesce(done.changed_id, done.full_id), done.old_email, done.new_email, done.full_id is not null
  from profiles.change_traits_of(change_traits.project_id, array[change_traits.identity_id],
    array[change_traits.traits], array[change_traits.set_at], change_traits.authority, change_traits.at,
    change_traits.traits_max, change_traits.bytes_max, array[change_traits.browser_key]) as done
$$;
--! EndIncluded profiles/change_traits.sql
