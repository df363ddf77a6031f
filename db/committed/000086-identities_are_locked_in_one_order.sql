--! Previous: sha1:f41a0059bad36c33fc82d4ffa8a719ddca1a6c1c
--! Hash: sha1:150bcc418b9e43974aecd16d987e57df62d1b5da
--! Message: identities_are_locked_in_one_order

drop function if exists profiles.see_events(uuid, uuid[]);
drop function if exists identity.move_seen(uuid, text[], text[], timestamptz[], timestamptz[], timestamptz[]);
--! Included identity/move_seen.sql
-- Moves when known identities were first and last seen, up to the first identifier without an identity. Returns that
-- identifier and all that follow it, each with whether it is known. The caller makes and moves their identities.
--
-- An event that the service itself observes, such as email_sent, is no sign of the person. It moves observed_at, and
-- only where it is the first of a month: most events are such, and observed_at only says which months a timeline has.
--
-- One look-up per identifier and one update per identity that moves, each by its key: whatever the planner
-- takes the table for, the work grows with who was seen, never with who is known. They are given in the
-- order (kind, value), and every transaction locks identities in that order, so that no two of them deadlock.
-- Moving the known ones and then making the others would lock the known ones first, whatever their order.
create or replace function identity.move_seen(
  project_id     uuid,
  kinds          text[],
  identifiers    text[],
  first_seen_ats timestamptz[],
  last_seen_ats  timestamptz[],
  observed_ats   timestamptz[]
)
returns table (
  kind          text,
  value         text,
  first_seen_at timestamptz,
  last_seen_at  timestamptz,
  observed_at   timestamptz,
  is_known      boolean
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_seen      record;
  v_month     timestamptz;
  v_has_ended boolean := false;
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
    -- A person who is being erased is touched in any case: the end of the erase locks them, and may commit soon.
    where known.identity_id is null or known.erasure_id is not null
    or known.first_seen_at is null or seen.first_at < known.first_seen_at or seen.last_at > known.last_seen_at
    or date_trunc('month', seen.observed_at, 'UTC') > greatest(known.last_seen_at, known.observed_at, seen.last_at)
  loop
    if not v_has_ended then
      v_month := date_trunc('month', v_seen.observed_at, 'UTC');
      -- An identity that was never seen is seen by whatever comes first.
      update identity.identities as known
      set first_seen_at = least(known.first_seen_at, v_seen.first_at),
        last_seen_at = greatest(known.last_seen_at, v_seen.last_at,
          case when known.last_seen_at is null then v_seen.observed_at end),
        observed_at = case
          when v_month > greatest(known.last_seen_at, known.observed_at, v_seen.last_at) then v_seen.observed_at
          else known.observed_at
        end
      where known.project_id = move_seen.project_id and known.identity_id = v_seen.identity_id;
      continue when found;
      -- Also without an identity: one that was erased while the update waited.
      v_has_ended := true;
      v_seen.identity_id := null;
    end if;
    kind := v_seen.kind;
    value := v_seen.value;
    first_seen_at := v_seen.first_at;
    is_known := v_seen.identity_id is not null;
    -- A new identity was last seen by whatever came last.
    last_seen_at := greatest(v_seen.last_at, case when not is_known then v_seen.observed_at end);
    observed_at := v_seen.observed_at;
    return next;
  end loop;
end;
$$;
--! EndIncluded identity/move_seen.sql
--! Included profiles/see_events.sql
-- Sees the people that the events of some flushes name. Returns what `identity.move_seen` leaves, in the order in which
-- identities are locked. Remembers which known people were seen with which devices.
--
-- It remembers nothing of people who are being erased, and removes their devices from the events of others at once. So
-- an erase that has waited for the transactions before it needs one look for each device.
create or replace function profiles.see_events(project_id uuid, flush_ids uuid[])
returns table (
  kind text, value text, first_seen_at timestamptz, last_seen_at timestamptz, observed_at timestamptz, is_known boolean
)
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
  select * from identity.move_seen(project_id => see_events.project_id, kinds => v_kinds, identifiers => v_values,
    first_seen_ats => v_firsts, last_seen_ats => v_lasts, observed_ats => v_observed);
end;
$$;
--! EndIncluded profiles/see_events.sql
