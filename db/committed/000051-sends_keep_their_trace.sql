--! Previous: sha1:8193bd9902ad7f60956ad4cd76695569d658e5d8
--! Hash: sha1:a5d42acf3a4fcd9e460b578e486f06585cabc2ff
--! Message: sends_keep_their_trace

-- Enter migration here
-- The trace of the event that started the run of a send. A table at a time: what works meanwhile locks them in other orders.
alter table delivery.sends add column if not exists traceparent text;
alter table delivery.sends drop constraint if exists sends_traceparent_is_well_formed;
alter table delivery.sends add constraint sends_traceparent_is_well_formed
  check (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$') not valid;
select base.declare_columns('delivery.sends', '{}', '{}', '{traceparent}');

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
