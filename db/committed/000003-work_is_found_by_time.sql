--! Previous: sha1:2cdaca2a4715f58251e0e7bca4441198f8ff45f8
--! Hash: sha1:eab0344fb3d9e1bb58791614166b4aff794af0f5
--! Message: work_is_found_by_time

-- What the sweeper reads across projects is found by time, however much waits.
create index if not exists pending_by_arrival on ingest.pending (received_at);
create index if not exists runs_by_wake on automations.runs (wake_at) where status = 'active';
create index if not exists sends_by_due on delivery.sends (due_at) where status = 'queued';
create index if not exists sends_by_expiry on delivery.sends (expires_at) where status = 'queued';
create index if not exists sends_by_hand_off on delivery.sends (handed_off_at) where status = 'handing_off';
drop index if exists delivery.sends_in_flight;

-- The send log by automation, and by the states that are rare: never a walk over everything that went well.
create index if not exists sends_by_automation on delivery.sends (project_id, automation_id, send_id);
create index if not exists sends_by_rare_status on delivery.sends (project_id, status, send_id)
  where status <> 'accepted';
create index if not exists sends_bounced on delivery.sends (project_id, send_id) where bounced_at is not null;
create index if not exists sends_complained on delivery.sends (project_id, send_id) where complained_at is not null;

-- The sweeper hints only at providers that can send, and expires what waited too long at any of them.
grant select (project_id, provider_id, status) on providers.providers to trunkline_queue;
grant usage on schema providers to trunkline_queue;
grant select (expires_at) on delivery.sends to trunkline_queue;
select base.open_to_queue('providers.providers');

-- A run that cannot be walked is tried again later, and given up in the end; nobody waits for it.
alter table automations.runs add column if not exists failure_count integer not null default 0;
alter table automations.runs drop constraint if exists runs_status_is_known;
alter table automations.runs add constraint runs_status_is_known check (status in ('active', 'ended', 'failed'));

--! Included delivery/settle_lost.sql
-- Ends hand-offs whose outcome will never be known. What was only leased comes back by itself.
--
-- A send in handing_off may be with the provider already: it becomes unknown, never queued.
-- Its owner is known to be dead, or has been silent for longer than any hand-off may take.
create or replace function delivery.settle_lost(project_id uuid, dead_owners text[], silent_for interval)
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
  set status = case when num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at) > 0
      then 'accepted' else 'unknown' end,
    status_reason = 'outcome_unknown',
    accepted_at = least(send.delivered_at, send.bounced_at, send.complained_at),
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
    order by send.due_at
    limit claim_sends.sends_max
    for update skip locked
  ) as due;

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.attempt_count + 1;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
--! Included delivery/record_outcome.sql
-- Writes what became of an attempt and moves the send on.
--
-- accepted, rejected: final. deferred, not_started: definitely not taken, back to the queue for
-- retry_after from now. unknown: held, unless feedback has proved meanwhile that the provider took
-- it. An attempt that was given up as unknown while its owner was silent still learns a definite
-- answer; it goes back to the queue from there only when its owner knows that it did not begin.
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
        and num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at) > 0 then 'accepted'
      when record_outcome.outcome = 'unknown' then 'unknown'
      when record_outcome.outcome = 'not_started' then 'queued'
      when send.status = 'unknown' then 'not_sent'
      when record_outcome.outcome = 'deferred' then 'queued'
      else record_outcome.outcome
    end,
    status_reason = record_outcome.reason,
    due_at = case when record_outcome.retry_after is null then send.due_at
      else v_now + record_outcome.retry_after end,
    accepted_at = case record_outcome.outcome
      when 'accepted' then v_now
      when 'rejected' then send.accepted_at
      else least(send.delivered_at, send.bounced_at, send.complained_at)
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
--! Included ingest/claim_flushes.sql
-- Takes the oldest flushes nobody else is working on, until the transaction ends.
--
-- Ids are time-ordered, so oldest first is the order of the primary key.
create or replace function ingest.claim_flushes(project_id uuid, flushes_max integer)
returns setof uuid
language sql volatile
as $$
  select pending.flush_id
  from ingest.pending
  where pending.project_id = claim_flushes.project_id
  order by pending.flush_id
  limit claim_flushes.flushes_max
  for update skip locked
$$;
--! EndIncluded ingest/claim_flushes.sql
