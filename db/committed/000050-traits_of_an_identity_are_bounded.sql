--! Previous: sha1:de09228a865476bc5a29388d418ab137ed50ca19
--! Hash: sha1:8193bd9902ad7f60956ad4cd76695569d658e5d8
--! Message: traits_of_an_identity_are_bounded

-- Enter migration here
drop function if exists profiles.change_traits(uuid, uuid, jsonb, timestamptz, text, timestamptz);
--! Included profiles/trait_bytes.sql
-- What a trait takes of the JSON that an identity may hold: its name and value, and what stands around them.
--
-- Without the blanks that Postgres puts after commas and colons, so that a request measures no more than its own text.
create or replace function profiles.trait_bytes(key text, value jsonb)
returns integer
language sql immutable
as $$
  select octet_length(to_json(trait_bytes.key)::text) + 2
    + octet_length(replace(replace(trait_bytes.value::text, ', ', ','), ': ', ':'))
$$;
--! EndIncluded profiles/trait_bytes.sql
--! Included profiles/overfills_traits.sql
-- Whether a server's word would make an identity hold more of what servers told it than it may.
--
-- traits_max of them, or bytes_max of JSON, counted after the word. A word never overfills that takes away, or changes
-- what is there without growing it. Null, and so no, where there is no bound.
create or replace function profiles.overfills_traits(
  project_id  uuid,
  identity_id uuid,
  traits      jsonb,
  set_at      timestamptz,
  traits_max  integer,
  bytes_max   integer
)
returns boolean
language sql stable
as $$
  select (counted.after > overfills_traits.traits_max and counted.after > counted.before)
    or (counted.after_bytes > overfills_traits.bytes_max and counted.after_bytes > counted.before_bytes)
  from (
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
            or (true, overfills_traits.set_at, told.value::text collate "C")
              > (kept.authority = 'server', kept.set_at, kept.value::text collate "C")) as is_told,
          coalesce(told.value, kept.value) as new_value
        from (
          select trait.key, trait.value, trait.set_at, trait.authority from profiles.traits as trait
          where trait.project_id = overfills_traits.project_id
          and trait.identity_id = overfills_traits.identity_id
        ) as kept
        full join jsonb_each(overfills_traits.traits) as told on told.key = kept.key
      ) as merged
    ) as word
  ) as counted
$$;
--! EndIncluded profiles/overfills_traits.sql
--! Included profiles/forget_traits.sql
-- Forgets, of what pages told an identity and of what servers took away, whatever is beyond traits_max and bytes_max.
--
-- What was told last stays, and an address longest of all, so that nobody with a page's key grows a person without
-- end. A server's values are never forgotten: overfills_traits refuses them instead. Nothing goes where there is no
-- bound.
create or replace function profiles.forget_traits(
  project_id  uuid,
  identity_id uuid,
  traits_max  integer,
  bytes_max   integer
)
returns void
language sql volatile
as $$
  delete from profiles.traits as kept
  using (
    select trait.key, row_number() over newest as place,
      sum(profiles.trait_bytes(trait.key, trait.value)) over newest as bytes
    from profiles.traits as trait
    where trait.project_id = forget_traits.project_id and trait.identity_id = forget_traits.identity_id
    and (trait.authority = 'publishable' or trait.value = 'null')
    window newest as (
      partition by trait.authority order by trait.key = 'email' desc, trait.set_at desc, trait.key collate "C"
    )
  ) as ranked
  where kept.project_id = forget_traits.project_id and kept.identity_id = forget_traits.identity_id
  and kept.key = ranked.key
  and (ranked.place > forget_traits.traits_max or ranked.bytes > forget_traits.bytes_max)
$$;
--! EndIncluded profiles/forget_traits.sql
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
  bytes_max   integer default null
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
  return query select v_profile_id, folded.old_email, folded.new_email, false
  from profiles.fold_profile(change_traits.project_id, v_profile_id, change_traits.at) as folded;
end;
$$;
--! EndIncluded profiles/change_traits.sql
