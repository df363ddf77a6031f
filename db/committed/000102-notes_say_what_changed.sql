--! Previous: sha1:80e475df97f4f66b5736ce57afdbdd5887c1a29c
--! Hash: sha1:fadd975025365d43a936c3cc1b152eedc25ed0d6
--! Message: notes_say_what_changed

-- Enter migration here
-- A note of a changed person says which aspects of the person changed; null where it may be anything.
alter table profiles.changes add column if not exists aspects jsonb;
select base.declare_columns('profiles.changes', '{}', '{}', '{aspects}');
--! Included profiles/aspect.sql
-- The number of an aspect of a person in notes of changes: of a trait, of a tag, of a counter, or of a list of imports.
--
-- A digest, so that a note has no word of a person. Two aspects may share a number, which costs an evaluation. The same
-- rule as src/profiles/aspects.ts.
create or replace function profiles.aspect(kind text, name text)
returns integer
language sql immutable
as $$
  select ('x' || left(encode(sha256(convert_to(aspect.kind || ':' || aspect.name, 'UTF8')), 'hex'), 8))
    ::bit(32)::integer
$$;
--! EndIncluded profiles/aspect.sql
drop function if exists profiles.note_changes(uuid, uuid[], text, jsonb[]);
--! Included profiles/note_changes.sql
-- Notes that people changed, if the project has a watch (profiles.watches). Without one it reads a single row.
--
-- Called after the change, under its locks. A transaction that finds no watch locks the row. That lock does not block
-- the transaction that begins to watch, which waits for all such locks before it reads people. So each change is noted
-- or seen. A transaction that finds a watch locks nothing, so that wait ends.
-- source: the cause of the change, `server` or `browser`; null where that is not known. reasons: why each person
-- changed, in the order of profile_ids; null where something fresh happened to the person. aspects: arrays of what
-- changed of each person, by the numbers of profiles.aspect; null where it may be anything. More than 50 are anything.
create or replace function profiles.note_changes(
  project_id  uuid,
  profile_ids uuid[],
  source      text default null,
  reasons     jsonb[] default null,
  aspects     jsonb[] default null
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
    insert into profiles.changes (project_id, noted_at, change_id, profile_id, source, reason, aspects)
    select note_changes.project_id, clock_timestamp(), gen_random_uuid(), changed.profile_id, note_changes.source,
      changed.reason, case when jsonb_array_length(changed.aspects) <= 50 then changed.aspects end
    from unnest(note_changes.profile_ids, note_changes.reasons, note_changes.aspects)
      as changed (profile_id, reason, aspects);
  end if;
end;
$$;
--! EndIncluded profiles/note_changes.sql
drop function if exists profiles.take_changes(uuid, integer);
--! Included profiles/take_changes.sql
-- Takes the oldest notes of changed people; returns each person once, with the source of the changes: `server` where a
-- server caused all of them, `browser` where a browser caused any, else null. is_fresh: whether a note has no reason;
-- reasons: an array of those of the others, null where there is none. aspects: an array of those of each note, null
-- where a note has none.
--
-- The caller reads the people afterwards, in the same transaction: it sees at least what was noted.
create or replace function profiles.take_changes(project_id uuid, changes_max integer)
returns table (profile_id uuid, source text, is_fresh boolean, reasons jsonb, aspects jsonb)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_times   timestamptz[];
  v_ids     uuid[];
  v_who     uuid[];
  v_sources text[];
  v_reasons jsonb[];
  v_aspects jsonb[];
begin
  select array_agg(taken.noted_at), array_agg(taken.change_id), array_agg(taken.profile_id), array_agg(taken.source),
    array_agg(taken.reason), array_agg(taken.aspects)
  into v_times, v_ids, v_who, v_sources, v_reasons, v_aspects
  from (
    select change.noted_at, change.change_id, change.profile_id, change.source, change.reason, change.aspects
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
    end, bool_or(changed.reason is null), jsonb_agg(changed.reason) filter (where changed.reason is not null),
    case when bool_and(changed.aspects is not null) then jsonb_agg(changed.aspects) end
  from unnest(v_who, v_sources, v_reasons, v_aspects) as changed (profile_id, source, reason, aspects)
  group by changed.profile_id;
end;
$$;
--! EndIncluded profiles/take_changes.sql
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
    if v_old_email is not distinct from v_email then
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
--! Included segments/note_counted.sql
-- Notes the people with a counted event, the source of the events, and which counters changed.
--
-- The note of a person with late events has a reason: what was counted of those, by identity, condition and day. So the
-- evaluation can tell which memberships change only because of them. is_alone: every event of the person was late.
create or replace function segments.note_counted(
  project_id    uuid,
  changed_ids   uuid[],
  kinds         text[],
  identifiers   text[],
  by_servers    boolean[],
  condition_ids uuid[],
  days          date[],
  counts        bigint[],
  late_counts   bigint[],
  late_firsts   timestamptz[],
  late_lasts    timestamptz[],
  late_lags     bigint[]
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_late_ids uuid[];
  v_reasons  jsonb[];
  v_note     record;
begin
  if exists (select from unnest(note_counted.late_counts) as late (count) where late.count > 0) then
    select array_agg(late.profile_id), array_agg(late.reason) into v_late_ids, v_reasons
    from (
      select known.profile_id, jsonb_build_object('kind', 'late', 'is_alone', bool_and(told.late_count = told.count),
        'counted', jsonb_agg(jsonb_build_object('identity_id', known.identity_id, 'condition_id', told.condition_id,
          'day', told.day - 'epoch'::date, 'count', told.late_count, 'first_at', told.late_first_at,
          'last_at', told.late_last_at, 'lag_ms', told.late_lag)) filter (where told.late_count > 0)) as reason
      from unnest(note_counted.kinds, note_counted.identifiers, note_counted.condition_ids, note_counted.days,
        note_counted.counts, note_counted.late_counts, note_counted.late_firsts, note_counted.late_lasts,
        note_counted.late_lags)
        as told (kind, value, condition_id, day, count, late_count, late_first_at, late_last_at, late_lag)
      cross join lateral (
        select found.identity_id, found.profile_id from identity.identities as found
        where found.project_id = note_counted.project_id and found.kind = told.kind and found.value = told.value
        limit 1
      ) as known
      group by known.profile_id
      having sum(told.late_count) > 0
    ) as late;
  end if;

  for v_note in
    select noted.source, array_agg(noted.profile_id) as ids, array_agg(noted.reason) as reasons,
      array_agg(noted.aspects) as aspects
    from (
      select changed.id as profile_id, late.reason, known.aspects, coalesce(known.source, 'server') as source
      from (select distinct told.id from unnest(note_counted.changed_ids) as told (id)) as changed
      left join unnest(v_late_ids, v_reasons) as late (id, reason) on late.id = changed.id
      left join (
        select own.profile_id, case when bool_and(named.is_by_server) then 'server' else 'browser' end as source,
          jsonb_agg(distinct profiles.aspect('counter', condition.id::text)) as aspects
        from (
          select told.kind, told.value, bool_and(told.is_by_server) as is_by_server, array_agg(told.condition_id) as ids
          from unnest(note_counted.kinds, note_counted.identifiers, note_counted.by_servers, note_counted.condition_ids)
            as told (kind, value, is_by_server, condition_id)
          group by told.kind, told.value
        ) as named
        cross join lateral (
          select found.profile_id from identity.identities as found
          where found.project_id = note_counted.project_id and found.kind = named.kind and found.value = named.value
          limit 1
        ) as own
        cross join lateral unnest(named.ids) as condition (id)
        group by own.profile_id
      ) as known on known.profile_id = changed.id
    ) as noted
    group by noted.source
  loop
    perform profiles.note_changes(note_counted.project_id, v_note.ids, v_note.source, v_note.reasons, v_note.aspects);
  end loop;
end;
$$;
--! EndIncluded segments/note_counted.sql
