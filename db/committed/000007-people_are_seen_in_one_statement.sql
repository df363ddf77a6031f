--! Previous: sha1:4655e8f3858b858d7f73ac25d3fe2d0e099abeb3
--! Hash: sha1:fa82ae32a00e4e8ac39bdcedb26e5967c897fa48
--! Message: people_are_seen_in_one_statement

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
    where known.identity_id is null or known.first_seen_at > seen.first_at or known.last_seen_at < seen.last_at
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
--! Included profiles/see_events.sql
-- Sees everybody whom the events of some flushes name; answers with those nobody knows yet, in the order
-- that identities are locked in.
create or replace function profiles.see_events(project_id uuid, flush_ids uuid[])
returns table (kind text, value text, first_seen_at timestamptz, last_seen_at timestamptz)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_kinds  text[];
  v_values text[];
  v_firsts timestamptz[];
  v_lasts  timestamptz[];
begin
  select array_agg(named.kind), array_agg(named.value), array_agg(named.first_at), array_agg(named.last_at)
  into v_kinds, v_values, v_firsts, v_lasts
  from (
    select seen.kind, seen.value, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at
    from ingest.pending_events(project_id => see_events.project_id, flush_ids => see_events.flush_ids) as event
    cross join lateral (
      values ('external', event.external_id), ('anonymous', event.anonymous_id)
    ) as seen (kind, value)
    where seen.value is not null
    group by seen.kind, seen.value
    order by seen.kind, seen.value
  ) as named;

  return query
  select unknown.kind, unknown.value, unknown.first_seen_at, unknown.last_seen_at
  from identity.move_seen(project_id => see_events.project_id, kinds => v_kinds, identifiers => v_values,
    first_seen_ats => v_firsts, last_seen_ats => v_lasts) as unknown;
end;
$$;
--! EndIncluded profiles/see_events.sql
