--! Previous: sha1:3de451d158ac26db732cd382184b4381253157cb
--! Hash: sha1:c199b7416fbc70588232638e5c67a6a4403bab5f
--! Message: dates_move

-- Enter migration here

-- Names of traits whose changes have to be noted: a run may wait for a date in them.
create table if not exists profiles.watched_traits (
  project_id uuid not null,
  trait      text not null,
  constraint watched_traits_pkey primary key (project_id, trait)
);
select base.isolate_table('profiles.watched_traits');
select base.declare_columns('profiles.watched_traits', '{}', '{}', '{project_id,trait}');
grant select, insert on profiles.watched_traits to trunkline_runtime;

-- People one of whose watched traits changed, until their runs are woken. A person may be in it often.
create table if not exists profiles.trait_changes (
  project_id uuid not null,
  noted_at   timestamptz not null,
  change_id  uuid not null,
  profile_id uuid not null,
  constraint trait_changes_pkey primary key (project_id, noted_at, change_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
select base.isolate_table('profiles.trait_changes');
select base.open_to_queue('profiles.trait_changes');
select base.declare_columns('profiles.trait_changes', '{}', '{}', '{project_id,noted_at,change_id,profile_id}');
grant select, insert, update, delete on profiles.trait_changes to trunkline_runtime;
grant select (project_id, noted_at) on profiles.trait_changes to trunkline_queue;

--! Included profiles/note_trait_changes.sql
-- Notes that a trait changed of which the project watches the name (profiles.watched_traits). Inserts only, so that no
-- transaction that changes people waits for one that takes notes.
create or replace function profiles.note_trait_changes(
  project_id uuid,
  profile_id uuid,
  old_traits jsonb,
  new_traits jsonb
)
returns void
language sql volatile
as $$
  insert into profiles.trait_changes (project_id, noted_at, change_id, profile_id)
  select note_trait_changes.project_id, clock_timestamp(), gen_random_uuid(), note_trait_changes.profile_id
  where exists (
    select from profiles.watched_traits as watched
    where watched.project_id = note_trait_changes.project_id
    and note_trait_changes.old_traits -> watched.trait is distinct from note_trait_changes.new_traits -> watched.trait
  );
$$;
--! EndIncluded profiles/note_trait_changes.sql
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
    perform profiles.note_trait_changes(fold_profile.project_id, fold_profile.profile_id, v_old_traits, v_traits);
  end if;

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql

-- A step may wait for a date of the person: a change of its trait wakes the run.
alter table automations.waits drop constraint if exists waits_are_for_something_known;
alter table automations.waits add constraint waits_are_for_something_known
  check (for_what in ('step', 'goal', 'date')) not valid;
alter table automations.waits drop constraint if exists waits_name_one_thing;
alter table automations.waits add constraint waits_name_one_thing
  check (num_nonnulls(event_name, segment_id) = case for_what when 'date' then 0 else 1 end) not valid;
