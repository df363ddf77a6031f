--! Previous: sha1:b441541fd665cd091575e61b7af61f790a43c206
--! Hash: sha1:fcb108c2aa2d20dd1d1a5bdc4dd8401aee332565
--! Message: pages_have_priorities_of_their_own

-- Email that a page caused has priorities of its own: a relay that hangs for it does not hold up other email. A claim
-- says also which email was refused while it showed what only a browser asserted: it is sent again without that.
drop function if exists delivery.choose_due(uuid, uuid, integer, integer, timestamptz);
--! Included delivery/choose_due.sql
-- Locks due sends of one provider and returns their ids. Bounds how many of them may be marketing, and of pages.
--
-- Each kind (two priorities) comes before the next and leaves a quarter of the claim to those below. Within a kind
-- email of pages comes second, and gets a quarter. Where a quarter is no whole number, chance decides: nothing starves.
-- What one priority does not use the others get.
create or replace function delivery.choose_due(
  project_id    uuid,
  provider_id   uuid,
  sends_max     integer,
  marketing_max integer,
  pages_max     integer,
  at            timestamptz
)
returns uuid[]
language plpgsql volatile
set search_path = ''
as $$
declare
  v_ids       uuid[] := '{}';
  v_found     uuid[];
  v_waiting   integer[];
  v_priority  integer;
  v_round     integer := 0;
  v_kind_max  integer;
  v_wanted    integer;
  v_marketing integer := 0;
  v_pages     integer := 0;
begin
  v_waiting := array(
    select lane.priority from generate_series(0, 5) as lane (priority)
    where exists (
      select from delivery.sends as send
      where send.project_id = choose_due.project_id and send.provider_id = choose_due.provider_id
      and send.status = 'queued' and send.priority = lane.priority
    )
  );
  foreach v_priority in array '{0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0}'::integer[] loop
    v_round := v_round + 1;
    exit when cardinality(v_ids) = choose_due.sends_max;
    v_wanted := choose_due.sends_max - cardinality(v_ids);
    if v_round > 6 then
      v_kind_max := choose_due.sends_max;
    elsif v_priority % 2 = 0 then
      v_kind_max := choose_due.sends_max
        - case when v_priority + 1 < any (v_waiting) then floor(v_wanted / 4.0 + random())::integer else 0 end;
    end if;
    continue when v_priority <> all (v_waiting);
    v_wanted := least(v_kind_max - cardinality(v_ids),
      case when v_priority >= 2 then choose_due.marketing_max - v_marketing end,
      case when v_priority % 2 = 1 then choose_due.pages_max - v_pages end);
    if v_round <= 6 and v_priority % 2 = 0 and v_priority + 1 = any (v_waiting) then
      v_wanted := v_wanted - least(floor(v_wanted / 4.0 + random())::integer, choose_due.pages_max - v_pages);
    end if;
    v_found := delivery.take_due(choose_due.project_id, choose_due.provider_id, priority => v_priority,
      taken => v_ids, sends_max => v_wanted, at => choose_due.at);
    v_ids := v_ids || v_found;
    v_marketing := v_marketing + case when v_priority >= 2 then cardinality(v_found) else 0 end;
    v_pages := v_pages + case when v_priority % 2 = 1 then cardinality(v_found) else 0 end;
    if cardinality(v_found) < v_wanted then
      v_waiting := array_remove(v_waiting, v_priority);
    end if;
  end loop;
  return v_ids;
end;
$$;
--! EndIncluded delivery/choose_due.sql
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, integer, interval);
--! Included delivery/claim_sends.sql
-- Leases due sends of one provider, so that workers do not prepare the same ones. Says of each whether its limits may
-- make it wait by now, or its automation; limits of a send planned a moment ago were checked then. Says also whether
-- only browsers had asserted its address when it was planned (`is_unconfirmed`), and whether a page may have chosen it:
-- so, or because no server started its run (`is_of_page`). One that was refused while it showed what only a browser
-- asserted is rendered without that (`is_bare`).
--
-- A lease only saves work: step_hand_offs decides what is handed off. A lease expires by the database's
-- clock when its owner dies. Nothing is leased while sending is held.
create or replace function delivery.claim_sends(
  project_id    uuid,
  provider_id   uuid,
  owner         text,
  sends_max     integer,
  marketing_max integer,
  pages_max     integer,
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
  traceparent       text,
  is_unconfirmed    boolean,
  is_of_page        boolean,
  is_bare           boolean
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
    marketing_max => claim_sends.marketing_max, pages_max => claim_sends.pages_max, at => v_now);

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
    send.traceparent, coalesce(send.limits ? 'unconfirmed', false),
    send.priority % 2 = 1, send.status_reason is not distinct from 'asserted_refused';
end;
$$;
--! EndIncluded delivery/claim_sends.sql
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
    case when plan_send.category = 'transactional' then 0 when plan_send.is_bulk then 4 else 2 end
      + coalesce(plan_send.limits ?| array['unconfirmed', 'browser_triggered'], false)::integer)
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
alter table delivery.sends alter column priority set default 2;
