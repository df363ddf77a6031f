--! Previous: sha1:bf722a4c71d2585441c88489035b4bbcab23898a
--! Hash: sha1:e72e3478448407abd20fa6e356654cfc73c3280f
--! Message: transactional_email_comes_first

-- The order in which sends of a provider are claimed: 0 transactional, 1 marketing that an event or a person caused,
-- 2 marketing of a run that a bulk start began.
alter table delivery.sends add column if not exists priority smallint not null default 1;
select base.declare_columns('delivery.sends', '{}', '{}', '{priority}');
grant select (priority, automation_id) on delivery.sends to trunkline_queue;
update delivery.sends set priority = 0 where category = 'transactional' and priority = 1;

-- Whether a bulk start began the run: the start of a whole segment.
alter table automations.runs add column if not exists is_bulk boolean not null default false;
select base.declare_columns('automations.runs', '{}', '{}', '{is_bulk}');

drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, uuid, integer, uuid,
  timestamptz, bytea, text, interval, text, text, jsonb, boolean, text, bytea);
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, interval);
--! Included delivery/list_queues.sql
-- Returns the automations that have queued sends of one provider and one priority. It jumps from one automation to the
-- next in an index: how much each has queued does not matter.
create or replace function delivery.list_queues(project_id uuid, provider_id uuid, priority integer)
returns uuid[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  v_queues uuid[];
begin
  v_queues := array(
    with recursive flow as (
      (
        select send.automation_id from delivery.sends as send
        where send.project_id = list_queues.project_id and send.provider_id = list_queues.provider_id
        and send.status = 'queued' and send.priority = list_queues.priority
        order by send.automation_id
        limit 1
      )
      union all
      select found.automation_id from flow
      cross join lateral (
        select send.automation_id from delivery.sends as send
        where send.project_id = list_queues.project_id and send.provider_id = list_queues.provider_id
        and send.status = 'queued' and send.priority = list_queues.priority
        and send.automation_id > flow.automation_id
        order by send.automation_id
        limit 1
      ) as found
    )
    select flow.automation_id from flow
  );
  return v_queues;
end;
$$;
--! EndIncluded delivery/list_queues.sql
--! Included delivery/take_due.sql
-- Locks due sends of one provider and one priority and returns their ids: at most so many, without those that were
-- taken before. Automations take turns, each oldest first, so that none waits behind the backlog of another.
--
-- Automations come in a random order: where there are more of them than sends, each has the same chance.
create or replace function delivery.take_due(
  project_id  uuid,
  provider_id uuid,
  priority    integer,
  taken       uuid[],
  sends_max   integer,
  at          timestamptz
)
returns uuid[]
language plpgsql volatile
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
declare
  v_taken  uuid[] := take_due.taken;
  v_left   integer := take_due.sends_max;
  v_share  integer;
  v_found  uuid[];
  v_queue  uuid;
  v_queues uuid[];
  v_going  uuid[];
begin
  if v_left <= 0 then
    return '{}';
  end if;
  v_queues := delivery.list_queues(take_due.project_id, take_due.provider_id, take_due.priority);
  if cardinality(v_queues) > 1 then
    v_queues := array(select flow.id from unnest(v_queues) as flow (id) order by random());
  end if;

  while v_left > 0 and cardinality(v_queues) > 0 loop
    v_share := greatest(1, v_left / cardinality(v_queues));
    v_going := '{}';
    foreach v_queue in array v_queues loop
      exit when v_left = 0;
      v_share := least(v_share, v_left);
      v_found := array(
        select send.send_id from delivery.sends as send
        where send.project_id = take_due.project_id and send.provider_id = take_due.provider_id
        and send.status = 'queued' and send.priority = take_due.priority and send.automation_id = v_queue
        and send.due_at <= take_due.at and send.expires_at > take_due.at
        and (send.lease_until is null or send.lease_until < take_due.at)
        and send.send_id <> all (v_taken)
        order by send.due_at, send.send_id
        limit v_share
        for update skip locked
      );
      v_taken := v_taken || v_found;
      v_left := v_left - cardinality(v_found);
      if cardinality(v_found) = v_share then
        v_going := v_going || v_queue;
      end if;
    end loop;
    v_queues := v_going;
  end loop;
  return v_taken[cardinality(take_due.taken) + 1 :];
end;
$$;
--! EndIncluded delivery/take_due.sql
--! Included delivery/choose_due.sql
-- Locks due sends of one provider and returns their ids, at most so many of them marketing.
--
-- Each priority comes before the next and leaves a quarter of the claim to those below, by chance where a quarter is no
-- whole number: nothing starves. What one priority does not use the others get.
create or replace function delivery.choose_due(
  project_id    uuid,
  provider_id   uuid,
  sends_max     integer,
  marketing_max integer,
  at            timestamptz
)
returns uuid[]
language plpgsql volatile
set search_path = ''
as $$
declare
  v_ids       uuid[] := '{}';
  v_found     uuid[];
  v_priority  integer;
  v_round     integer := 0;
  v_wanted    integer;
  v_emptied   integer[] := '{}';
  v_marketing integer := 0;
begin
  foreach v_priority in array '{0, 1, 2, 2, 1, 0}'::integer[] loop
    v_round := v_round + 1;
    exit when cardinality(v_ids) = choose_due.sends_max;
    continue when v_priority = any (v_emptied);
    v_wanted := choose_due.sends_max - cardinality(v_ids);
    if v_priority > 0 then
      v_wanted := least(v_wanted, choose_due.marketing_max - v_marketing);
    end if;
    if v_round <= 2 and exists (
      select from delivery.sends as lower
      where lower.project_id = choose_due.project_id and lower.provider_id = choose_due.provider_id
      and lower.status = 'queued' and lower.priority > v_priority
    ) then
      v_wanted := v_wanted - floor(v_wanted / 4.0 + random())::integer;
    end if;
    v_found := delivery.take_due(choose_due.project_id, choose_due.provider_id, priority => v_priority,
      taken => v_ids, sends_max => v_wanted, at => choose_due.at);
    v_ids := v_ids || v_found;
    if v_priority > 0 then
      v_marketing := v_marketing + cardinality(v_found);
    end if;
    if cardinality(v_found) < v_wanted then
      v_emptied := v_emptied || v_priority;
    end if;
  end loop;
  return v_ids;
end;
$$;
--! EndIncluded delivery/choose_due.sql
--! Included delivery/plan_send.sql
-- Inserts the one send intent of a run's step, or returns the one that is there.
--
-- The rows of the address and of its mailbox come first: suppressions and hand-offs lock them. A caller that plans
-- several sends locks all rows with suppression.lock_addresses before. A suppressed address is refused here, visibly. A
-- browser-triggered send is refused for any spelling of its mailbox; the other spellings are not locked. The hand-off
-- checks again. The identity is the one that the run was started for: it may leave the profile when a link is undone,
-- and is erased on its own then.
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
  traceparent       text default null,
  mailbox_key       bytea default null,
  is_bulk           boolean default false
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
  if plan_send.mailbox_key <> plan_send.address_key then
    insert into suppression.addresses (project_id, address_key)
    values (plan_send.project_id, plan_send.mailbox_key)
    on conflict do nothing;
  end if;
  v_stopped := suppression.stops_mail(plan_send.project_id, plan_send.address_key, plan_send.category);
  if v_stopped is null and plan_send.limits ? 'browser_triggered' then
    v_stopped := suppression.stops_any(project_id => plan_send.project_id,
      address_keys => delivery.list_spellings(plan_send.project_id, plan_send.mailbox_key),
      category => plan_send.category);
  end if;

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, category,
    status, status_reason, due_at, queued_at, expires_at, on_unknown, limits, is_test, traceparent, mailbox_key,
    priority)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown,
    plan_send.limits, plan_send.is_test, plan_send.traceparent, plan_send.mailbox_key,
    case when plan_send.category = 'transactional' then 0 when plan_send.is_bulk then 2 else 1 end)
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
--! Included delivery/claim_sends.sql
-- Leases due sends of one provider, so that workers do not prepare the same ones. Says of each whether its limits may
-- make it wait by now, or its automation; limits of a send planned a moment ago were checked then.
--
-- A lease only saves work: step_hand_offs decides what is handed off. A lease expires by the database's
-- clock when its owner dies. Nothing is leased while sending is held.
create or replace function delivery.claim_sends(
  project_id    uuid,
  provider_id   uuid,
  owner         text,
  sends_max     integer,
  marketing_max integer,
  lease_for     interval
)
returns table (
  send_id           uuid,
  identity_id       uuid,
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
  v_now        timestamptz := clock_timestamp();
  v_moment_ago timestamptz := v_now - interval '10 seconds';
  v_ids        uuid[];
begin
  if base.is_sending_held() then
    return;
  end if;

  v_ids := delivery.choose_due(claim_sends.project_id, claim_sends.provider_id, sends_max => claim_sends.sends_max,
    marketing_max => claim_sends.marketing_max, at => v_now);

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.identity_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1, send.is_test,
    (send.limits is not null and (send.status_reason is not null or send.queued_at < v_moment_ago))
      or exists (
        select from delivery.halts as halt
        where halt.project_id = claim_sends.project_id and halt.automation_id = send.automation_id and not send.is_test
      ),
    send.traceparent;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
