--! Previous: sha1:ac948b9ff707a170ced2e150522f93b4e095da6a
--! Hash: sha1:8f4d152fe177a08687b478cfbc5e43571f80f267
--! Message: what_is_observed_is_not_seen

-- Enter migration here
-- When the service itself last observed something of somebody in a month that nothing else of theirs is in.
alter table identity.identities add column if not exists observed_at timestamptz(3);
select base.declare_columns('identity.identities', '{}', '{}', '{observed_at}');
drop function if exists identity.move_seen(uuid, text[], text[], timestamptz[], timestamptz[]);
--! Included identity/move_seen.sql
-- Moves when known identities were first and last seen; answers with the identifiers that nobody has yet.
--
-- What the service itself observes of somebody, such as email_sent, is no sign of them. It moves observed_at, and only
-- where a month begins that nothing of theirs was in: most of what is written of a person is such, and all that it
-- has to say is which months their timeline is in.
--
-- One look-up per identifier and one update per identity that moves, each by its key: whatever the planner
-- takes the table for, the work grows with who was seen, never with who is known. They are given in the
-- order (kind, value), so that two claims lock in one order.
create or replace function identity.move_seen(
  project_id     uuid,
  kinds          text[],
  identifiers    text[],
  first_seen_ats timestamptz[],
  last_seen_ats  timestamptz[],
  observed_ats   timestamptz[]
)
returns table (kind text, value text, first_seen_at timestamptz, last_seen_at timestamptz)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_seen  record;
  v_month timestamptz;
begin
  for v_seen in
    select seen.kind, seen.value, seen.first_at, seen.last_at, seen.observed_at, known.identity_id
    from unnest(move_seen.kinds, move_seen.identifiers, move_seen.first_seen_ats, move_seen.last_seen_ats,
      move_seen.observed_ats) as seen (kind, value, first_at, last_at, observed_at)
    left join lateral (
      select found.identity_id, found.first_seen_at, found.last_seen_at, found.observed_at, found.erasure_id
      from identity.identities as found
      where found.project_id = move_seen.project_id and found.kind = seen.kind and found.value = seen.value
      limit 1
    ) as known on true
    -- Who is being erased is touched in any case: whoever ends that holds them, and may be about to commit.
    where known.identity_id is null or known.erasure_id is not null
    or known.first_seen_at is null or seen.first_at < known.first_seen_at or seen.last_at > known.last_seen_at
    or date_trunc('month', seen.observed_at, 'UTC') > greatest(known.last_seen_at, known.observed_at, seen.last_at)
  loop
    v_month := date_trunc('month', v_seen.observed_at, 'UTC');
    -- Whoever nobody has seen is seen by whatever comes first.
    update identity.identities as known
    set first_seen_at = least(known.first_seen_at, v_seen.first_at),
      last_seen_at = greatest(known.last_seen_at, v_seen.last_at,
        case when known.last_seen_at is null then v_seen.observed_at end),
      observed_at = case
        when v_month > greatest(known.last_seen_at, known.observed_at, v_seen.last_at) then v_seen.observed_at
        else known.observed_at
      end
    where known.project_id = move_seen.project_id and known.identity_id = v_seen.identity_id;
    -- Also unknown: whoever was erased while we waited.
    if not found then
      kind := v_seen.kind;
      value := v_seen.value;
      first_seen_at := v_seen.first_at;
      last_seen_at := greatest(v_seen.last_at, v_seen.observed_at);
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
  v_observed         timestamptz[];
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
    array_agg(named.last_at), array_agg(named.observed_at)
  into v_externals, v_devices, v_firsts, v_lasts, v_observed
  from (
    select event.external_id, event.anonymous_id, min(event.occurred_at) as first_at,
      max(event.occurred_at) filter (where event.source <> 'system') as last_at,
      max(event.occurred_at) filter (where event.source = 'system') as observed_at
    from ingest.pending_events(project_id => see_events.project_id, flush_ids => see_events.flush_ids) as event
    group by event.external_id, event.anonymous_id
  ) as named;

  perform ingest.remember_devices(project_id => see_events.project_id, anonymous_ids => v_devices,
    external_ids => v_externals, but_of => v_erased_externals);

  select array_agg(named.kind), array_agg(named.value), array_agg(named.first_at), array_agg(named.last_at),
    array_agg(named.observed_at)
  into v_kinds, v_values, v_firsts, v_lasts, v_observed
  from (
    select seen.kind, seen.value, min(pair.first_at) as first_at, max(pair.last_at) as last_at,
      max(pair.observed_at) as observed_at
    from unnest(v_externals, v_devices, v_firsts, v_lasts, v_observed)
      as pair (external_id, anonymous_id, first_at, last_at, observed_at)
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
    first_seen_ats => v_firsts, last_seen_ats => v_lasts, observed_ats => v_observed) as unknown;
end;
$$;
--! EndIncluded profiles/see_events.sql
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
  'The latest occurred_at of its events, but those of the service itself such as email_sent; null like first_seen_at';

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
  'The latest occurred_at of their events, but those of the service itself such as email_sent; null like first_seen_at';
comment on column analytics.profiles.created_at is 'When the profile was made';
comment on column analytics.profiles.updated_at is 'When its traits or tags changed last';

grant select on analytics.profiles to trunkline_analyst;
--! EndIncluded analytics/profiles.sql
