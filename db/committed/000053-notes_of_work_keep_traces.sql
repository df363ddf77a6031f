--! Previous: sha1:cf6da53c920ba675c35800d91dee623230069478
--! Hash: sha1:ca5c801bef3ae228dd411b71897aea5e18ce6716
--! Message: notes_of_work_keep_traces

-- Enter migration here
-- The traces that requests brought (W3C Trace Context), kept with the note of the work and no longer: by the id of each
-- event whose request brought one; null where none did.
alter table ingest.pending add column if not exists traces jsonb;
alter table ingest.pending drop constraint if exists pending_traces_are_an_object;
alter table ingest.pending add constraint pending_traces_are_an_object
  check (jsonb_typeof(traces) = 'object') not valid;
select base.declare_columns('ingest.pending', '{}', '{}', '{traces}');

drop function if exists ingest.accept_events(uuid, uuid, uuid[], uuid[], text[], text[], text[], jsonb[], timestamptz[],
  text[], text[]);
--! Included ingest/accept_events.sql
-- Stores a flush of one project and notes the work it needs, or does neither.
--
-- Nobody is woken here: a NOTIFY inside this transaction would make every commit of the
-- server queue up behind this one. The caller wakes a worker after the commit; the sweeper
-- finds what a lost wake-up left behind.
--
-- Answers in request order. A repeated message id answers with the first event's id. `traces` are those that requests
-- brought, by event: they are noted with the work, and go with it.
create or replace function ingest.accept_events(
  project_id    uuid,
  flush_id      uuid,
  event_ids     uuid[],
  message_keys  uuid[],
  names         text[],
  external_ids  text[],
  anonymous_ids text[],
  properties    jsonb[],
  occurred_ats  timestamptz[],
  key_kinds     text[],
  sources       text[],
  traces        jsonb default null
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
  insert into ingest.message_ids (project_id, message_key, event_id, occurred_at)
  select accept_events.project_id, item.message_key, item.event_id, coalesce(item.occurred_at, v_received_at)
  from unnest(accept_events.message_keys, accept_events.event_ids, accept_events.occurred_ats)
    as item (message_key, event_id, occurred_at)
  where item.message_key is not null
  order by item.message_key, item.event_id
  on conflict do nothing;
  get diagnostics v_claimed = row_count;

  -- 2. Which event each item became: its own, unless a message id was taken.
  stored_ids := accept_events.event_ids;
  duplicates := array_fill(false, array[cardinality(accept_events.event_ids)]);
  if v_claimed < cardinality(array_remove(accept_events.message_keys, null)) then
    select ingest.first_events(accept_events.project_id, accept_events.event_ids, accept_events.message_keys)
    into stored_ids;
    if array_position(stored_ids, null) is not null then
      raise exception 'a message id was forgotten meanwhile' using errcode = 'serialization_failure';
    end if;
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
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at,
    traces)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at,
    accept_events.traces
  from unnest(stored_ids, accept_events.event_ids, accept_events.occurred_ats)
    as item (stored_id, event_id, occurred_at)
  where item.event_id = item.stored_id
  having count(*) > 0;

  -- 5. A message id that came again should have brought the same event.
  if array_position(duplicates, true) is not null then
    perform ingest.note_conflicts(accept_events.project_id, v_received_at, accept_events.event_ids,
      accept_events.message_keys, accept_events.names, accept_events.external_ids, accept_events.anonymous_ids,
      accept_events.properties);
  end if;
  return next;
end;
$$;
--! EndIncluded ingest/accept_events.sql
--! Included ingest/split_flush.sql
-- Puts two flushes of half the events each in the place of one that holds several; answers whether it did.
--
-- A flush of one event is left as it is. Both halves are due at once, and their ids come after everybody's
-- who waits already. They keep the time range of the whole: it only says in which months their events are. Each
-- takes along the traces of its own events.
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
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at,
    traces)
  values
    (split_flush.project_id, split_flush.first_id, v_flush.event_ids[:v_half], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at, v_flush.traces - v_flush.event_ids[v_half + 1:]::text[]),
    (split_flush.project_id, split_flush.second_id, v_flush.event_ids[v_half + 1:], v_flush.occurred_from,
      v_flush.occurred_to, v_flush.received_at, v_flush.traces - v_flush.event_ids[:v_half]::text[]);
  return true;
end;
$$;
--! EndIncluded ingest/split_flush.sql
