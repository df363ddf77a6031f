--! Previous: sha1:fadd975025365d43a936c3cc1b152eedc25ed0d6
--! Hash: sha1:7a34b805a56107beabdadf560bb538e0daa6a90f
--! Message: aspects_are_computed_for_a_watch

-- Enter migration here

--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
-- An identity that is being erased counts for nothing any more, whatever profile it was linked to meanwhile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text, byte by byte. A null value removes the trait. Writes nothing when nothing changed.
-- Keeps the names of the traits that only browsers asserted, of which a server that says the same value takes one.
-- The identities are read under the profile's lock: a link or an undo that waits for it folds the profile again.
-- Returns the address before and after. source: its cause, `server` or `browser`; null where that is not known.
-- reason: why, as profiles.note_changes stores it. The note has the traits that changed as aspects. With the address
-- anything may change: tags follow from it.
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
  v_aspects       jsonb;
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
    -- Where no note is written, nothing reads them. A watch that begins just now finds that anything may have changed.
    if v_old_email is not distinct from v_email and exists (
      select from profiles.watches as watch
      where watch.project_id = fold_profile.project_id and watch.is_watched
    ) then
      select jsonb_agg(profiles.aspect('trait', key)) into v_aspects
      from jsonb_each(v_old_traits) as before full join jsonb_each(v_traits) as after using (key)
      where before.value is distinct from after.value;
    end if;
    perform profiles.note_changes(fold_profile.project_id, array[fold_profile.profile_id], fold_profile.source,
      array[fold_profile.reason], array[v_aspects]);
    perform profiles.note_trait_changes(fold_profile.project_id, fold_profile.profile_id, v_old_traits, v_traits);
  end if;

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql
