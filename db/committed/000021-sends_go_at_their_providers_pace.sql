--! Previous: sha1:50c7ad38318b11a4f9c08b494cb33ee858d135dd
--! Hash: sha1:925d2708d535b6b585ae5e890f42fab935d73468
--! Message: sends_go_at_their_providers_pace

-- Sends go at the rate that their provider takes, and an outcome that is not known may be tried again.
alter table delivery.sends add column if not exists on_unknown text not null default 'hold',
  drop constraint if exists sends_on_unknown_is_known,
  add constraint sends_on_unknown_is_known check (on_unknown in ('hold', 'resend'));
select base.declare_columns('delivery.sends', '{}', '{}', '{on_unknown}');
-- Room for a row's next versions beside it, for a send is leased, prepared and ended within moments.
alter table delivery.sends set (fillfactor = 60);
alter table delivery.attempts set (fillfactor = 80);

-- Oldest first, and of one moment in the order in which they were planned.
drop index if exists delivery.sends_due;
create index sends_due on delivery.sends (project_id, provider_id, due_at, send_id) where status = 'queued';
drop index if exists delivery.sends_unknown_due;
create index sends_unknown_due on delivery.sends (project_id, provider_id, due_at)
  where status = 'unknown';

alter table providers.providers
  add column if not exists rate_per_second real,
  add column if not exists ramp_started_on date,
  add column if not exists ramp_stages integer[],
  drop constraint if exists providers_rate_is_positive,
  add constraint providers_rate_is_positive check (rate_per_second > 0),
  drop constraint if exists providers_ramp_is_complete,
  add constraint providers_ramp_is_complete
    check (num_nonnulls(ramp_started_on, ramp_stages) in (0, 2) and cardinality(ramp_stages) > 0);
select base.declare_columns('providers.providers', '{}', '{}', '{rate_per_second, ramp_started_on, ramp_stages}');

-- How fast a provider may be used just now: shared by all workers, at most one update per claim.
create table if not exists providers.paces (
  project_id    uuid not null,
  provider_id   uuid not null,
  -- Up to here the rate is given away.
  next_at       timestamptz(3),
  learned_rate  real,
  learned_at    timestamptz(3),
  failure_count integer not null default 0,
  opened_until  timestamptz(3),
  ramp_day      date,
  ramp_count    integer not null default 0,
  -- Before this nothing can be claimed: nobody need look.
  wakes_at      timestamptz(3),
  primary key (project_id, provider_id),
  foreign key (project_id, provider_id) references providers.providers on delete cascade,
  constraint paces_learned_are_complete check ((learned_rate is null) = (learned_at is null)),
  constraint paces_learned_rate_is_positive check (learned_rate > 0)
) with (fillfactor = 50);
select base.isolate_table('providers.paces');
select base.declare_columns('providers.paces', '{}', '{}', '{project_id, provider_id, next_at, learned_rate, learned_at,
  failure_count, opened_until, ramp_day, ramp_count, wakes_at}');
grant select, insert, update, delete on providers.paces to trunkline_runtime;
grant select (project_id, provider_id, wakes_at) on providers.paces to trunkline_queue;
select base.open_to_queue('providers.paces');

--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones.
--
-- A lease only saves work: what may be handed off is decided by begin_hand_off. It runs out by the
-- database's clock when its owner dies.
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
  attempt           integer
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
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
    send.attempt_count + 1;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, uuid, integer, uuid,
  timestamptz, bytea, text, interval, text);
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
  on_unknown        text default 'hold'
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
    status, status_reason, due_at, queued_at, expires_at, on_unknown)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown)
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
--! Included delivery/record_outcome.sql
-- Writes what became of an attempt and moves the send on.
--
-- accepted, rejected: final. deferred, not_started: definitely not taken, back to the queue for
-- retry_after from now. unknown: held, unless feedback has proved meanwhile that the provider took
-- it; due again after retry_after if it was planned to be sent again. An attempt that was given up as unknown
-- while its owner was silent still learns a definite answer; it goes back to the queue from there only when
-- its owner knows that it did not begin, or when it may be sent again anyway. Without a recipient, because
-- the person was erased meanwhile, what would go back to the queue is cancelled.
create or replace function delivery.record_outcome(
  project_id          uuid,
  send_id             uuid,
  attempt             integer,
  outcome             text,
  reason              text,
  provider_message_id text,
  retry_after         interval
)
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now    timestamptz := clock_timestamp();
  v_status text;
begin
  perform set_config('trunkline.project_id', record_outcome.project_id::text, true);

  update delivery.sends as send
  set status = case
      when record_outcome.outcome = 'accepted' then 'accepted'
      when record_outcome.outcome <> 'rejected'
        and num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0 then 'accepted'
      when record_outcome.outcome = 'unknown' then 'unknown'
      when record_outcome.outcome = 'not_started' and send.recipient is null then 'cancelled'
      when record_outcome.outcome = 'not_started' then 'queued'
      when send.status = 'unknown' and (record_outcome.outcome = 'rejected' or send.on_unknown = 'hold') then 'not_sent'
      when record_outcome.outcome = 'deferred' and send.recipient is null then 'cancelled'
      when record_outcome.outcome = 'deferred' then 'queued'
      else record_outcome.outcome
    end,
    status_reason = record_outcome.reason,
    due_at = case when record_outcome.retry_after is null then send.due_at
      else v_now + record_outcome.retry_after end,
    accepted_at = case record_outcome.outcome
      when 'accepted' then v_now
      when 'rejected' then send.accepted_at
      else least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at)
    end,
    provider_message_id = coalesce(record_outcome.provider_message_id, send.provider_message_id),
    lease_owner = null,
    lease_until = null
  where send.project_id = record_outcome.project_id
  and send.send_id = record_outcome.send_id
  and send.attempt_count = record_outcome.attempt
  and send.status in ('handing_off', 'unknown')
  returning send.status into v_status;

  update delivery.attempts as tried
  set ended_at = v_now, outcome = record_outcome.outcome, reason = record_outcome.reason,
    provider_message_id = record_outcome.provider_message_id
  where tried.project_id = record_outcome.project_id
  and tried.send_id = record_outcome.send_id
  and tried.attempt = record_outcome.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');

  return coalesce(v_status, 'lost');
end;
$$;
--! EndIncluded delivery/record_outcome.sql
drop function if exists delivery.settle_lost(uuid, text[], interval);
--! Included delivery/settle_lost.sql
-- Ends hand-offs whose outcome will never be known. What was only leased comes back by itself.
--
-- A send in handing_off may be with the provider already: it becomes unknown, never queued. One that was planned
-- to be sent again is so after resend_after, unless feedback has come by then.
-- Its owner is known to be dead, or has been silent for longer than any hand-off may take.
create or replace function delivery.settle_lost(
  project_id   uuid,
  dead_owners  text[],
  silent_for   interval,
  resend_after interval
)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now  timestamptz := clock_timestamp();
  v_lost delivery.sends[];
begin
  select array_agg(lost)
  into v_lost
  from (
    select send.*
    from delivery.sends as send
    where send.project_id = settle_lost.project_id
    and send.status = 'handing_off'
    and (send.lease_owner = any (settle_lost.dead_owners) or send.handed_off_at < v_now - settle_lost.silent_for)
    for update skip locked
  ) as lost;

  update delivery.sends as send
  set status = case when num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0
      then 'accepted' else 'unknown' end,
    status_reason = 'outcome_unknown',
    due_at = v_now + settle_lost.resend_after,
    accepted_at = least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at),
    lease_owner = null,
    lease_until = null
  where send.project_id = settle_lost.project_id
  and send.send_id in (select lost.send_id from unnest(v_lost) as lost);

  update delivery.attempts as tried
  set ended_at = v_now, outcome = 'unknown', reason = 'outcome_unknown'
  where tried.project_id = settle_lost.project_id
  and (tried.send_id, tried.attempt) in (select lost.send_id, lost.attempt_count from unnest(v_lost) as lost);

  return coalesce(cardinality(v_lost), 0);
end;
$$;
--! EndIncluded delivery/settle_lost.sql
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome we never learned proves that the provider took it, also when it waits
-- already to be handed over again; 'taken' says no more.
create or replace function delivery.record_feedback(project_id uuid, send_id uuid, fact text, occurred_at timestamptz)
returns void
language sql volatile
as $$
  update delivery.sends as send
  set delivered_at = case when record_feedback.fact = 'delivered'
      then least(send.delivered_at, record_feedback.occurred_at) else send.delivered_at end,
    bounced_at = case when record_feedback.fact = 'bounced'
      then least(send.bounced_at, record_feedback.occurred_at) else send.bounced_at end,
    complained_at = case when record_feedback.fact = 'complained'
      then least(send.complained_at, record_feedback.occurred_at) else send.complained_at end,
    taken_at = case when record_feedback.fact = 'taken'
      then least(send.taken_at, record_feedback.occurred_at) else send.taken_at end,
    -- Accepted on the strength of feedback alone is accepted since the earliest fact.
    accepted_at = case
      when send.status = 'unknown' or (send.status = 'queued' and send.on_unknown = 'resend' and send.attempt_count > 0)
        or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(send.accepted_at, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case
      when send.status = 'unknown' then 'accepted'
      when send.status = 'queued' and send.on_unknown = 'resend' and send.attempt_count > 0 then 'accepted'
      else send.status
    end,
    status_reason = case
      when send.status = 'queued' and send.on_unknown = 'resend' and send.attempt_count > 0 then 'outcome_unknown'
      else send.status_reason
    end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id
$$;
--! EndIncluded delivery/record_feedback.sql
--! Included profiles/hold_living.sql
-- Locks many people as profiles.is_erased locks one of them: who asks it of each afterwards waits for nobody.
--
-- In the order of all locks, and as weakly as it does: all identities first, by kind and value, then the profiles.
create or replace function profiles.hold_living(project_id uuid, identity_ids uuid[], profile_ids uuid[])
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  perform from identity.identities as known
  where known.project_id = hold_living.project_id and known.identity_id = any (hold_living.identity_ids)
  order by known.kind, known.value
  for key share;

  perform from profiles.profiles as profile
  where profile.project_id = hold_living.project_id and profile.profile_id = any (hold_living.profile_ids)
  order by profile.profile_id
  for share;
end;
$$;
--! EndIncluded profiles/hold_living.sql
--! Included delivery/step_hand_offs.sql
-- Writes what became of some attempts and begins others, all in one commit: what free lanes of one turn wait for
-- at the same moment. Answers what begin_hand_off says of each.
--
-- Every person is locked before any address, every address before any send, each kind in its own order: the order
-- of all who need several.
create or replace function delivery.step_hand_offs(project_id uuid, outcomes jsonb, begins jsonb)
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_outcomes integer := jsonb_array_length(step_hand_offs.outcomes);
  v_begins   integer := jsonb_array_length(step_hand_offs.begins);
begin
  perform set_config('trunkline.project_id', step_hand_offs.project_id::text, true);

  if v_begins > 1 then
    perform profiles.hold_living(step_hand_offs.project_id, array_agg(send.identity_id), array_agg(send.profile_id))
    from delivery.sends as send
    join jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid) on begun.send_id = send.send_id
    where send.project_id = step_hand_offs.project_id;
    perform suppression.stops_mail(step_hand_offs.project_id, address.address_key, 'transactional')
    from (
      select distinct decode(begun.address_key, 'hex') as address_key
      from jsonb_to_recordset(step_hand_offs.begins) as begun (address_key text)
      order by address_key
    ) as address;
  end if;

  if v_begins + v_outcomes > 1 then
    perform from delivery.sends as send
    where send.project_id = step_hand_offs.project_id
    and send.send_id in (
      select stepped.send_id
      from jsonb_to_recordset(step_hand_offs.outcomes || step_hand_offs.begins) as stepped (send_id uuid)
    )
    order by send.send_id
    for no key update;
  end if;

  perform delivery.record_outcome(step_hand_offs.project_id, ended.send_id, ended.attempt, ended.outcome, ended.reason,
    ended.provider_message_id, make_interval(secs => ended.retry_after_seconds))
  from jsonb_to_recordset(step_hand_offs.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text, retry_after_seconds float8);

  return query
  select begun.send_id, delivery.begin_hand_off(step_hand_offs.project_id, begun.send_id,
    decode(begun.address_key, 'hex'), begun.owner, begun.attempt, begun.message_id)
  from jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid, address_key text, owner text,
    attempt integer, message_id text);
end;
$$;
--! EndIncluded delivery/step_hand_offs.sql
