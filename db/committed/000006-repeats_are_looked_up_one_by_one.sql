--! Previous: sha1:597e0a22e478a04fed64f8e85b6364356253c282
--! Hash: sha1:4655e8f3858b858d7f73ac25d3fe2d0e099abeb3
--! Message: repeats_are_looked_up_one_by_one

--! Included ingest/first_events.sql
-- Which event each item of a flush became, in their order: the first one with its message id, or its own.
--
-- One look-up per item, whatever the planner takes the table for: a join may read every message id
-- of the project, as long as it has never been analysed.
create or replace function ingest.first_events(project_id uuid, event_ids uuid[], message_ids text[])
returns uuid[]
language sql stable
as $$
  select array_agg(coalesce(taken.event_id, item.event_id) order by item.ordinal)
  from unnest(first_events.event_ids, first_events.message_ids) with ordinality
    as item (event_id, message_id, ordinal)
  left join lateral (
    select known.event_id from ingest.message_ids as known
    where known.project_id = first_events.project_id and known.message_id = item.message_id
    limit 1
  ) as taken on true
$$;
--! EndIncluded ingest/first_events.sql
--! Included ingest/note_conflicts.sql
-- Marks the message ids that came again with another name, person or properties than the first time.
--
-- Called with a whole flush, after its events are stored: what a message id stands for is the event
-- that is kept. Times are not compared: a client that repeats itself may well stamp anew.
create or replace function ingest.note_conflicts(
  project_id    uuid,
  noted_at      timestamptz,
  event_ids     uuid[],
  message_ids   text[],
  names         text[],
  external_ids  text[],
  anonymous_ids text[],
  properties    jsonb[]
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_message_ids text[];
begin
  select array_agg(distinct item.message_id)
  into v_message_ids
  from unnest(note_conflicts.event_ids, note_conflicts.message_ids, note_conflicts.names, note_conflicts.external_ids,
    note_conflicts.anonymous_ids, note_conflicts.properties)
    as item (event_id, message_id, name, external_id, anonymous_id, properties)
  cross join lateral (
    select known.event_id, known.occurred_at from ingest.message_ids as known
    where known.project_id = note_conflicts.project_id and known.message_id = item.message_id
    limit 1
  ) as taken
  cross join lateral (
    select kept.name, kept.external_id, kept.anonymous_id, kept.properties from ingest.events as kept
    where kept.project_id = note_conflicts.project_id and kept.event_id = taken.event_id
    and kept.occurred_at = taken.occurred_at
    limit 1
  ) as event
  where taken.event_id <> item.event_id
  and (event.name, event.external_id, event.anonymous_id, event.properties)
    is distinct from (item.name, item.external_id, item.anonymous_id, item.properties);
  if v_message_ids is null then
    return;
  end if;

  -- In one order everywhere, and after all message ids are claimed, so that two flushes cannot deadlock.
  perform from ingest.message_ids as taken
  where taken.project_id = note_conflicts.project_id and taken.message_id = any (v_message_ids)
  order by taken.message_id
  for update;

  update ingest.message_ids as taken
  set conflicts = coalesce(taken.conflicts, 0) + 1, conflicted_at = note_conflicts.noted_at
  where taken.project_id = note_conflicts.project_id and taken.message_id = any (v_message_ids);
end;
$$;
--! EndIncluded ingest/note_conflicts.sql
--! Included ingest/accept_events.sql
-- Stores a flush of one project and notes the work it needs, or does neither.
--
-- Nobody is woken here: a NOTIFY inside this transaction would make every commit of the
-- server queue up behind this one. The caller wakes a worker after the commit; the sweeper
-- finds what a lost wake-up left behind.
--
-- Answers in request order. A repeated message id answers with the first event's id.
create or replace function ingest.accept_events(
  project_id    uuid,
  flush_id      uuid,
  event_ids     uuid[],
  message_ids   text[],
  names         text[],
  external_ids  text[],
  anonymous_ids text[],
  properties    jsonb[],
  occurred_ats  timestamptz[],
  key_kinds     text[],
  sources       text[]
)
returns table (stored_ids uuid[], duplicates boolean[])
language plpgsql volatile
set search_path = ''
as $$
declare
  v_received_at timestamptz := clock_timestamp();
  v_claimed     integer;
begin
  perform set_config('trunkline.project_id', accept_events.project_id::text, true);

  -- 1. Claim the message ids, in one order everywhere so that two flushes cannot deadlock.
  insert into ingest.message_ids (project_id, message_id, event_id, occurred_at)
  select accept_events.project_id, item.message_id, item.event_id, coalesce(item.occurred_at, v_received_at)
  from unnest(accept_events.message_ids, accept_events.event_ids, accept_events.occurred_ats)
    as item (message_id, event_id, occurred_at)
  where item.message_id is not null
  order by item.message_id, item.event_id
  on conflict do nothing;
  get diagnostics v_claimed = row_count;

  -- 2. Which event each item became: its own, unless a message id was taken.
  stored_ids := accept_events.event_ids;
  duplicates := array_fill(false, array[cardinality(accept_events.event_ids)]);
  if v_claimed < cardinality(array_remove(accept_events.message_ids, null)) then
    select ingest.first_events(accept_events.project_id, accept_events.event_ids, accept_events.message_ids)
    into stored_ids;
    select array_agg(item.stored_id <> item.event_id order by item.ordinal) into duplicates
    from unnest(stored_ids, accept_events.event_ids) with ordinality as item (stored_id, event_id, ordinal);
  end if;

  -- 3. Store the events that won.
  insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
    properties, source, key_kind)
  select accept_events.project_id, item.event_id, coalesce(item.occurred_at, v_received_at), v_received_at, item.name,
    item.external_id, item.anonymous_id, item.properties, item.source, item.key_kind
  from unnest(stored_ids, accept_events.event_ids, accept_events.names, accept_events.external_ids,
    accept_events.anonymous_ids, accept_events.properties, accept_events.occurred_ats, accept_events.key_kinds,
    accept_events.sources)
    as item (stored_id, event_id, name, external_id, anonymous_id, properties, occurred_at, key_kind, source)
  where item.event_id = item.stored_id;

  -- 4. Note the work.
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at
  from unnest(stored_ids, accept_events.event_ids, accept_events.occurred_ats)
    as item (stored_id, event_id, occurred_at)
  where item.event_id = item.stored_id
  having count(*) > 0;

  -- 5. A message id that came again should have brought the same event.
  if array_position(duplicates, true) is not null then
    perform ingest.note_conflicts(accept_events.project_id, v_received_at, accept_events.event_ids,
      accept_events.message_ids, accept_events.names, accept_events.external_ids, accept_events.anonymous_ids,
      accept_events.properties);
  end if;
  return next;
end;
$$;
--! EndIncluded ingest/accept_events.sql
--! Included identity/see_identifiers.sql
-- Makes the identities that are new, moves last_seen_at of the others, and answers with all of them.
--
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
returns table (identity_id uuid, profile_id uuid, kind text, value text, is_new boolean)
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
  where known.first_seen_at > excluded.first_seen_at or known.last_seen_at < excluded.last_seen_at;

  return query
  select known.identity_id, known.profile_id, known.kind, known.value, known.identity_id = seen.identity_id
  from unnest(see_identifiers.identity_ids, see_identifiers.kinds, see_identifiers.identifiers)
    as seen (identity_id, kind, value)
  cross join lateral (
    select found.identity_id, found.profile_id, found.kind, found.value
    from identity.identities as found
    where found.project_id = see_identifiers.project_id and found.kind = seen.kind and found.value = seen.value
    limit 1
  ) as known;
end;
$$;
--! EndIncluded identity/see_identifiers.sql

-- Ids do not compress: trying costs more than the rows themselves.
alter table ingest.pending alter column event_ids set storage external;
