--! Previous: sha1:4655e8f3858b858d7f73ac25d3fe2d0e099abeb3
--! Hash: sha1:3e3ca42eca473b757e50fe4b9bac7b279162e47d
--! Message: people_are_seen_in_one_statement

--! Included identity/move_seen.sql
-- Moves when known identities were first and last seen; answers with the identifiers that nobody has yet.
--
-- Identifiers are looked up by their key, and what moves is updated by its key: whatever the planner
-- takes the tables for, the work grows with who was seen, never with who is known. They are given in
-- the order (kind, value), so that two claims lock in one order.
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
set enable_nestloop = off
set jit = off
as $$
declare
  v_unknown integer[];
  v_ids     uuid[];
  v_firsts  timestamptz[];
  v_lasts   timestamptz[];
  v_moved   integer;
begin
  loop
    select array_agg(seen.ordinal) filter (where known.identity_id is null),
      array_agg(known.identity_id) filter (where known.identity_id is not null),
      array_agg(seen.first_at) filter (where known.identity_id is not null),
      array_agg(seen.last_at) filter (where known.identity_id is not null)
    into v_unknown, v_ids, v_firsts, v_lasts
    from unnest(move_seen.kinds, move_seen.identifiers, move_seen.first_seen_ats, move_seen.last_seen_ats)
      with ordinality as seen (kind, value, first_at, last_at, ordinal)
    left join lateral (
      select found.identity_id, found.first_seen_at, found.last_seen_at from identity.identities as found
      where found.project_id = move_seen.project_id and found.kind = seen.kind and found.value = seen.value
      limit 1
    ) as known on true
    where known.identity_id is null or known.first_seen_at > seen.first_at or known.last_seen_at < seen.last_at;

    update identity.identities as known
    set first_seen_at = least(known.first_seen_at, moved.first_at),
      last_seen_at = greatest(known.last_seen_at, moved.last_at)
    from unnest(v_ids, v_firsts, v_lasts) as moved (identity_id, first_at, last_at)
    where known.project_id = move_seen.project_id
    and known.identity_id = any (v_ids) and known.identity_id = moved.identity_id;

    -- Whoever was erased meanwhile is looked for again, and unknown now.
    get diagnostics v_moved = row_count;
    exit when v_moved = coalesce(cardinality(v_ids), 0);
  end loop;

  return query
  select move_seen.kinds[at], move_seen.identifiers[at], move_seen.first_seen_ats[at], move_seen.last_seen_ats[at]
  from unnest(v_unknown) as at;
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
