--! Previous: sha1:e02503d7d7954d61cbc3af7920e60af3a1306dce
--! Hash: sha1:e3e353aeab7b4c82dc817da8262975f73cb853a7
--! Message: what_fails_waits_alone

-- A flush whose one event cannot be processed waits for its next try, longer each time, and holds up nobody else.
alter table ingest.pending add column if not exists failure_count integer not null default 0;
alter table ingest.pending add column if not exists retry_at timestamptz(3);
alter table ingest.pending drop constraint if exists pending_waits_after_failing;
alter table ingest.pending add constraint pending_waits_after_failing
  check ((retry_at is null) = (failure_count = 0));

-- Each flush is in one of the two, so a new one still costs one entry.
drop index if exists ingest.pending_by_arrival;
create index if not exists pending_by_arrival on ingest.pending (received_at) where retry_at is null;
create index if not exists pending_by_retry on ingest.pending (retry_at) where retry_at is not null;
grant select (retry_at) on ingest.pending to trunkline_queue;

--! Included ingest/claim_flushes.sql
-- Takes the oldest flushes that are due and nobody else is working on, until the transaction ends.
--
-- Ids are time-ordered, so oldest first is the order of the primary key. All are due at once, except one
-- whose event could not be processed: that one waits for its next try (ingest.pending.retry_at).
create or replace function ingest.claim_flushes(project_id uuid, flushes_max integer)
returns setof uuid
language sql volatile
as $$
  select pending.flush_id
  from ingest.pending
  where pending.project_id = claim_flushes.project_id
  and (pending.retry_at is null or pending.retry_at <= statement_timestamp())
  order by pending.flush_id
  limit claim_flushes.flushes_max
  for update skip locked
$$;
--! EndIncluded ingest/claim_flushes.sql
--! Included ingest/split_flush.sql
-- Puts two flushes of half the events each in the place of one that holds several; answers whether it did.
--
-- A flush of one event is left as it is. Both halves are due at once, and their ids come after everybody's
-- who waits already. They keep the time range of the whole: it only says in which months their events are.
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
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at)
  values
    (split_flush.project_id, split_flush.first_id, v_flush.event_ids[:v_half], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at),
    (split_flush.project_id, split_flush.second_id, v_flush.event_ids[v_half + 1:], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at);
  return true;
end;
$$;
--! EndIncluded ingest/split_flush.sql

-- Whoever is only named by an alias was seen by nobody yet. The rows that are there have both times.
alter table identity.identities alter column first_seen_at drop not null;
alter table identity.identities alter column last_seen_at drop not null;
alter table identity.identities drop constraint if exists identities_seen_first_and_last;
alter table identity.identities add constraint identities_seen_first_and_last
  check ((first_seen_at is null) = (last_seen_at is null)) not valid;

--! Included identity/see_identifiers.sql
-- Makes the identities that are new, moves when the others were seen, and answers with all of them.
--
-- Times that are null move nothing: an alias names people whom nobody need have seen yet.
-- A new identity gets a profile id of its own; the profile's row is the profiles room's to make.
-- Sorted by (kind, value) so that two claims cannot deadlock. Found again one by one, because a join may read
-- every identity of the project as long as the table has never been analysed.
create or replace function identity.see_identifiers(
  project_id     uuid,
  identity_ids   uuid[],
  profile_ids    uuid[],
  kinds          text[],
  identifiers    text[],
  first_seen_ats timestamptz[],
  last_seen_ats  timestamptz[]
)
returns table (identity_id uuid, profile_id uuid, kind text, value text, is_new boolean, is_erasing boolean)
language plpgsql volatile
set search_path = ''
as $$
begin
  insert into identity.identities as known (project_id, identity_id, kind, value, profile_id, own_profile_id,
    first_seen_at, last_seen_at)
  select see_identifiers.project_id, seen.identity_id, seen.kind, seen.value, seen.profile_id, seen.profile_id,
    seen.first_seen_at, seen.last_seen_at
  from unnest(see_identifiers.identity_ids, see_identifiers.profile_ids, see_identifiers.kinds,
    see_identifiers.identifiers, see_identifiers.first_seen_ats, see_identifiers.last_seen_ats)
    as seen (identity_id, profile_id, kind, value, first_seen_at, last_seen_at)
  order by seen.kind, seen.value
  on conflict on constraint identities_are_unique do update
  set first_seen_at = least(known.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  where (known.first_seen_at, known.last_seen_at) is distinct from
    (least(known.first_seen_at, excluded.first_seen_at), greatest(known.last_seen_at, excluded.last_seen_at));

  return query
  select known.identity_id, known.profile_id, known.kind, known.value, known.identity_id = seen.identity_id,
    known.erasure_id is not null
  from unnest(see_identifiers.identity_ids, see_identifiers.kinds, see_identifiers.identifiers)
    as seen (identity_id, kind, value)
  cross join lateral (
    select found.identity_id, found.profile_id, found.kind, found.value, found.erasure_id
    from identity.identities as found
    where found.project_id = see_identifiers.project_id and found.kind = seen.kind and found.value = seen.value
    limit 1
  ) as known;
end;
$$;
--! EndIncluded identity/see_identifiers.sql
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
      select found.identity_id, found.first_seen_at, found.last_seen_at from identity.identities as found
      where found.project_id = move_seen.project_id and found.kind = seen.kind and found.value = seen.value
      limit 1
    ) as known on true
    where known.identity_id is null or (known.first_seen_at, known.last_seen_at) is distinct from
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
--! Included analytics/identities.sql
-- Every identifier that was seen or named, and the profile it belongs to today.
create or replace view analytics.identities with (security_invoker = true) as
select
  identity.identity_id,
  identity.profile_id,
  identity.kind,
  nullif(identity.value, '') as value,
  identity.first_seen_at,
  identity.last_seen_at
from identity.identities as identity;

comment on view analytics.identities is 'Every identifier that was seen or named, and the profile it belongs to today';
comment on column analytics.identities.identity_id is 'Id';
comment on column analytics.identities.profile_id is 'The profile it belongs to today';
comment on column analytics.identities.kind is 'external or anonymous';
comment on column analytics.identities.value is 'The external_id or anonymous_id itself';
comment on column analytics.identities.first_seen_at is
  'The earliest occurred_at of its events, or null as long as it was only named by an alias';
comment on column analytics.identities.last_seen_at is
  'The latest occurred_at of its events, or null like first_seen_at';

grant select on analytics.identities to trunkline_analyst;
--! EndIncluded analytics/identities.sql
--! Included analytics/profiles.sql
-- Everybody, as they are known today: one row per profile that has an identity.
create or replace view analytics.profiles with (security_invoker = true) as
select
  profile.profile_id,
  known.external_id,
  nullif(profile.email, '') as email,
  profile.traits,
  profile.tags || '{}'::text[] as tags,
  known.first_seen_at,
  known.last_seen_at,
  profile.created_at,
  profile.updated_at
from profiles.profiles as profile
join (
  select identity.project_id, identity.profile_id,
    min(identity.value) filter (where identity.kind = 'external') as external_id,
    min(identity.first_seen_at) as first_seen_at,
    max(identity.last_seen_at) as last_seen_at
  from identity.identities as identity
  group by identity.project_id, identity.profile_id
) as known
  on known.project_id = profile.project_id and known.profile_id = profile.profile_id;

comment on view analytics.profiles is 'Everybody, as they are known today';
comment on column analytics.profiles.profile_id is 'Id';
comment on column analytics.profiles.external_id is
  'The customer''s own id of the person, or null for an anonymous visitor';
comment on column analytics.profiles.email is 'Where mail goes to';
comment on column analytics.profiles.traits is 'What is known: traits ->> ''plan''';
comment on column analytics.profiles.tags is 'Tags, such as those that bounces put on';
comment on column analytics.profiles.first_seen_at is
  'The earliest occurred_at of their events, or null as long as nobody has seen them';
comment on column analytics.profiles.last_seen_at is
  'The latest occurred_at of their events, or null like first_seen_at';
comment on column analytics.profiles.created_at is 'When the profile was made';
comment on column analytics.profiles.updated_at is 'When its traits or tags changed last';

grant select on analytics.profiles to trunkline_analyst;
--! EndIncluded analytics/profiles.sql

-- Which of two texts is the greater is the same on every server.
--! Included profiles/set_traits.sql
-- Keeps what an identity was told about itself, where it beats what is kept already.
--
-- The same rule as fold_profile, so that arrival order cannot matter. Texts are compared byte by byte, so
-- that the language of a server cannot either.
create or replace function profiles.set_traits(
  project_id  uuid,
  identity_id uuid,
  traits      jsonb,
  set_at      timestamptz,
  authority   text
)
returns void
language sql volatile
as $$
  insert into profiles.traits as kept (project_id, identity_id, key, value, set_at, authority)
  select set_traits.project_id, set_traits.identity_id, told.key, told.value, set_traits.set_at, set_traits.authority
  from jsonb_each(set_traits.traits) as told
  order by told.key
  on conflict (project_id, identity_id, key) do update
  set value = excluded.value, set_at = excluded.set_at, authority = excluded.authority
  where (excluded.authority = 'server', excluded.set_at, excluded.value::text collate "C")
    > (kept.authority = 'server', kept.set_at, kept.value::text collate "C")
$$;
--! EndIncluded profiles/set_traits.sql
--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text, byte by byte. A null value removes the trait. Writes nothing when nothing changed.
-- The identities are read under the profile's lock: whoever links or undoes folds again after us.
-- Answers with the address before and after.
create or replace function profiles.fold_profile(project_id uuid, profile_id uuid, at timestamptz)
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
    and trait.project_id = fold_profile.project_id
    order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text collate "C" desc
  ) as winner;

  v_email := nullif(btrim(v_traits ->> 'email'), '');

  update profiles.profiles as profile
  set traits = v_traits, email = v_email, updated_at = fold_profile.at
  where profile.project_id = fold_profile.project_id
  and profile.profile_id = fold_profile.profile_id
  and (profile.traits, profile.email) is distinct from (v_traits, v_email);

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql

select base.declare_columns('ingest.pending', '{}', '{}', '{failure_count,retry_at}');
