--! Previous: sha1:54821c492ca420bef474cb540725851d90e93d8f
--! Hash: sha1:22f5a45af359f017ee0f8407c1c266544ff539af
--! Message: a_trace_goes_on_with_the_work

-- Enter migration here
-- The traces that requests brought (W3C Trace Context), kept with the note of the work and no longer: by the id of each
-- event whose request brought one; null where none did.
alter table ingest.pending add column if not exists traces jsonb;
alter table ingest.pending drop constraint if exists pending_traces_are_an_object;
alter table ingest.pending add constraint pending_traces_are_an_object
  check (jsonb_typeof(traces) = 'object') not valid;
select base.declare_columns('ingest.pending', '{}', '{}', '{traces}');

-- The trace of the event that started a run, and what it sends takes it along.
alter table automations.runs add column if not exists traceparent text;
alter table automations.runs drop constraint if exists runs_traceparent_is_well_formed;
alter table automations.runs add constraint runs_traceparent_is_well_formed
  check (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$') not valid;
select base.declare_columns('automations.runs', '{}', '{}', '{traceparent}');

alter table delivery.sends add column if not exists traceparent text;
alter table delivery.sends drop constraint if exists sends_traceparent_is_well_formed;
alter table delivery.sends add constraint sends_traceparent_is_well_formed
  check (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$') not valid;
select base.declare_columns('delivery.sends', '{}', '{}', '{traceparent}');

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
drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, uuid, integer, uuid,
  timestamptz, bytea, text, interval, text, text, jsonb, boolean);
--! Included delivery/plan_send.sql
-- Makes the one send intent of a run's step, or answers with the one that is there.
--
-- The address row is made first: from here on suppression and hand-off have something to lock.
-- An address that must be left alone already is refused here, visibly; the hand-off asks again. The identity is
-- whom the run was started for: it may leave the profile when a link is undone, and is erased on its own then.
create or replace function delivery.plan_send(
  project_id        uuid,
  send_id           uuid,
  automation_id     uuid,
  run_id            uuid,
  step_id           text,
  identity_id       uuid,
  profile_id        uuid,
  provider_id       uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  expires_after     interval,
  category          text,
  on_unknown        text default 'hold',
  limits            jsonb default null,
  is_test           boolean default false,
  traceparent       text default null
)
returns table (planned_id uuid, planned_status text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now     timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_stopped text;
begin
  perform suppression.know_address(plan_send.project_id, plan_send.address_key, plan_send.recipient);
  v_stopped := suppression.stops_mail(plan_send.project_id, plan_send.address_key, plan_send.category);

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, category,
    status, status_reason, due_at, queued_at, expires_at, on_unknown, limits, is_test, traceparent)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown,
    plan_send.limits, plan_send.is_test, plan_send.traceparent)
  on conflict on constraint sends_one_intent_per_step do nothing;

  return query
  select send.send_id, send.status
  from delivery.sends as send
  where send.project_id = plan_send.project_id
  and send.run_id = plan_send.run_id
  and send.step_id = plan_send.step_id;
end;
$$;
--! EndIncluded delivery/plan_send.sql
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, interval);
--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones; and says of each whether
-- its limits may keep it by now (of one that was planned a moment ago they were asked then), or its automation does.
--
-- A lease only saves work: what may be handed off is decided by step_hand_offs. It runs out by the
-- database's clock when its owner dies. Nothing is leased while sending is held.
create or replace function delivery.claim_sends(
  project_id  uuid,
  provider_id uuid,
  owner       text,
  sends_max   integer,
  lease_for   interval
)
returns table (
  send_id           uuid,
  profile_id        uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  automation_id     uuid,
  category          text,
  attempt           integer,
  is_test           boolean,
  may_be_limited    boolean,
  traceparent       text
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  if base.is_sending_held() then
    return;
  end if;

  select array_agg(due.send_id)
  into v_ids
  from (
    select send.send_id
    from delivery.sends as send
    where send.project_id = claim_sends.project_id
    and send.provider_id = claim_sends.provider_id
    and send.status = 'queued'
    and send.due_at <= v_now
    and send.expires_at > v_now
    and (send.lease_until is null or send.lease_until < v_now)
    order by send.due_at, send.send_id
    limit claim_sends.sends_max
    for update skip locked
  ) as due;

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1, send.is_test,
    (send.limits is not null and (send.status_reason is not null or send.queued_at < v_now - interval '10 seconds'))
      or exists (
        select from delivery.halts as halt
        where halt.project_id = claim_sends.project_id and halt.automation_id = send.automation_id and not send.is_test
      ),
    send.traceparent;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
