--! Previous: sha1:0269824cba6ddf5b75637baafe088bec0ecb425d
--! Hash: sha1:597e0a22e478a04fed64f8e85b6364356253c282
--! Message: keys_are_remembered_and_limits_shared

-- base: which api processes live, so that each knows its share of a rate limit ---------------------

grant usage on schema base to trunkline_runtime;

create table if not exists base.api_processes (
  process_id   uuid primary key,
  heartbeat_at timestamptz(3) not null
);

grant select, insert, update, delete on base.api_processes to trunkline_runtime;

-- http: what was answered to requests that carried an Idempotency-Key ------------------------------
-- The key and the request are kept as keyed hashes, the answer sealed with what follows from the key.

create schema if not exists http;
grant usage on schema http to trunkline_runtime;

create table if not exists http.idempotency_keys (
  project_id    uuid not null,
  key_hash      bytea not null,
  fingerprint   bytea not null,
  repetition_id uuid not null,
  claim_id      uuid not null,
  claimed_until timestamptz(3),
  created_at    timestamptz(3) not null,
  answer        bytea,
  primary key (project_id, key_hash),
  constraint idempotency_keys_are_hashed check (length(key_hash) = 32 and length(fingerprint) = 32)
);

select base.isolate_table('http.idempotency_keys');
grant select, insert, update, delete on http.idempotency_keys to trunkline_runtime;

--! Included http/claim_key.sql
-- Claims an Idempotency-Key for whoever runs its request, or says what became of that request.
--
-- claimed: run it, under the repetition id. A request that was tried before without an answer keeps
-- the id of its first try, so that what it has stored already is recognised.
-- answered: here is what was answered. in_use: somebody runs it now. reused: that was another request.
create or replace function http.claim_key(
  project_id    uuid,
  key_hash      bytea,
  fingerprint   bytea,
  claim_id      uuid,
  lease_seconds integer,
  kept_hours    integer
)
returns table (state text, repetition_id uuid, answer bytea)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now      timestamptz := clock_timestamp();
  v_until    timestamptz := v_now + make_interval(secs => claim_key.lease_seconds);
  v_known    http.idempotency_keys;
  v_is_free  boolean;
  v_is_spent boolean;
begin
  perform set_config('trunkline.project_id', claim_key.project_id::text, true);

  loop
    insert into http.idempotency_keys (project_id, key_hash, fingerprint, repetition_id, claim_id, claimed_until,
      created_at)
    values (claim_key.project_id, claim_key.key_hash, claim_key.fingerprint, claim_key.claim_id, claim_key.claim_id,
      v_until, v_now)
    on conflict on constraint idempotency_keys_pkey do nothing;
    if found then
      return query select 'claimed', claim_key.claim_id, null::bytea;
      return;
    end if;

    select known.* into v_known
    from http.idempotency_keys as known
    where known.project_id = claim_key.project_id and known.key_hash = claim_key.key_hash
    for update;
    -- Whoever had it may have let go of it meanwhile.
    exit when found;
  end loop;

  v_is_free := v_known.claimed_until is null or v_known.claimed_until <= v_now;
  v_is_spent := v_is_free and v_known.created_at <= v_now - make_interval(hours => claim_key.kept_hours);
  if v_is_spent then
    v_known.repetition_id := claim_key.claim_id;
    v_known.created_at := v_now;
  elsif v_known.fingerprint <> claim_key.fingerprint then
    return query select 'reused', null::uuid, null::bytea;
    return;
  elsif v_known.answer is not null then
    return query select 'answered', v_known.repetition_id, v_known.answer;
    return;
  elsif not v_is_free then
    return query select 'in_use', null::uuid, null::bytea;
    return;
  end if;

  update http.idempotency_keys as known
  set fingerprint = claim_key.fingerprint, repetition_id = v_known.repetition_id, claim_id = claim_key.claim_id,
    claimed_until = v_until, created_at = v_known.created_at, answer = null
  where known.project_id = claim_key.project_id and known.key_hash = claim_key.key_hash;
  return query select 'claimed', v_known.repetition_id, null::bytea;
end;
$$;
--! EndIncluded http/claim_key.sql

-- ingest: message ids that came again with another event -------------------------------------------
-- Null almost always, which takes no room.

alter table ingest.message_ids add column if not exists conflicts integer;
alter table ingest.message_ids add column if not exists conflicted_at timestamptz(3);
create index if not exists message_ids_by_conflict on ingest.message_ids (project_id, conflicted_at desc, message_id)
  where conflicted_at is not null;
grant update (conflicts, conflicted_at) on ingest.message_ids to trunkline_runtime;

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
  join ingest.message_ids as taken
    on taken.project_id = note_conflicts.project_id and taken.message_id = item.message_id
  join ingest.events as event
    on event.project_id = note_conflicts.project_id and event.event_id = taken.event_id
    and event.occurred_at = taken.occurred_at
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
  v_stored      uuid[];
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

  -- 2. Which event each item became: its own, or the first one with its message id.
  select array_agg(coalesce(taken.event_id, item.event_id) order by item.ordinal)
  into v_stored
  from unnest(accept_events.event_ids, accept_events.message_ids) with ordinality
    as item (event_id, message_id, ordinal)
  left join ingest.message_ids as taken
    on taken.project_id = accept_events.project_id and taken.message_id = item.message_id;

  -- 3. Store the events that won.
  insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
    properties, source, key_kind)
  select accept_events.project_id, item.event_id, coalesce(item.occurred_at, v_received_at), v_received_at, item.name,
    item.external_id, item.anonymous_id, item.properties, item.source, item.key_kind
  from unnest(v_stored, accept_events.event_ids, accept_events.names, accept_events.external_ids,
    accept_events.anonymous_ids, accept_events.properties, accept_events.occurred_ats, accept_events.key_kinds,
    accept_events.sources)
    as item (stored_id, event_id, name, external_id, anonymous_id, properties, occurred_at, key_kind, source)
  where item.event_id = item.stored_id;

  -- 4. Note the work.
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at
  from unnest(v_stored, accept_events.event_ids, accept_events.occurred_ats) as item (stored_id, event_id, occurred_at)
  where item.event_id = item.stored_id
  having count(*) > 0;

  stored_ids := v_stored;
  select array_agg(item.stored_id <> item.event_id order by item.ordinal)
  into duplicates
  from unnest(v_stored, accept_events.event_ids) with ordinality as item (stored_id, event_id, ordinal);

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
