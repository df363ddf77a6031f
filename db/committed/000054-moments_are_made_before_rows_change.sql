--! Previous: sha1:ca5c801bef3ae228dd411b71897aea5e18ce6716
--! Hash: sha1:4d90d8110af19d19a63feee8583e991aa13575ea
--! Message: moments_are_made_before_rows_change

-- Enter migration here
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
  v_now        timestamptz := clock_timestamp();
  v_moment_ago timestamptz := v_now - interval '10 seconds';
  v_ids        uuid[];
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
    (send.limits is not null and (send.status_reason is not null or send.queued_at < v_moment_ago))
      or exists (
        select from delivery.halts as halt
        where halt.project_id = claim_sends.project_id and halt.automation_id = send.automation_id and not send.is_test
      ),
    send.traceparent;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
--! Included delivery/weigh_attempts.sql
-- Moves sends on, of which an attempt ended that was not accepted. Answers which, and to where.
--
-- All attempts of a send say together where it goes, so it does not matter in which order their owners find out:
-- 1. one was taken: accepted; feedback has proved that one was, where one may have been: accepted
-- 2. the last was not taken and may be tried again: queued, for retry_after_seconds of its outcome from now. One that
--    was given up as unknown may when its owner knows that it did not begin, or when it may be sent again anyway
-- 3. one may have been taken: unknown, and due again after that time if it was planned to be sent again; held where
--    the last was refused
-- 4. none was taken: ended by what had stopped it meanwhile; cancelled when its person was erased; else rejected, or
--    not_sent when it was unknown
create or replace function delivery.weigh_attempts(project_id uuid, send_ids uuid[], outcomes jsonb)
returns table (moved_id uuid, moved_to text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now        timestamptz := clock_timestamp();
  v_unresolved uuid[] := coalesce(delivery.list_unresolved(weigh_attempts.project_id, weigh_attempts.send_ids), '{}');
  v_ids        uuid[];
  v_attempts   integer[];
  v_outcomes   text[];
  v_due_ats    timestamptz[];
begin
  -- Before the change: a moment plus an interval is stable, and may come out differently where a row is.
  select array_agg(ended.send_id), array_agg(ended.attempt), array_agg(ended.outcome),
    array_agg(v_now + make_interval(secs => ended.retry_after_seconds))
  into v_ids, v_attempts, v_outcomes, v_due_ats
  from jsonb_to_recordset(weigh_attempts.outcomes) as ended (send_id uuid, attempt integer, outcome text,
    retry_after_seconds float8);

  return query
  update delivery.sends as send
  set status = case
      when send.accepted_at is not null or stands.is_proved then 'accepted'
      when stands.is_again and send.recipient is not null then 'queued'
      when stands.is_unresolved then 'unknown'
      when stands.stopped_as is not null then stands.stopped_as
      when stands.is_again then 'cancelled'
      when send.status = 'handing_off' then stands.outcome
      else 'not_sent'
    end,
    status_reason = case
      when send.accepted_at is not null then null
      when stands.is_proved then 'outcome_unknown'
      when stands.stopped_as is not null then send.status_reason
      else stands.reason
    end,
    accepted_at = case
      when send.accepted_at is not null then send.accepted_at
      when stands.is_proved then least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at)
    end,
    due_at = case
      when stands.stopped_as is not null or ended.attempt <> send.attempt_count then send.due_at
      when ended.outcome = 'rejected' then 'infinity'
      else coalesce(ended.due_at, send.due_at)
    end,
    lease_owner = null,
    lease_until = null
  from (
    select known.send_id, last.outcome, last.reason, unresolved.is_so as is_unresolved, stop.stopped_as,
      num_nonnulls(known.delivered_at, known.bounced_at, known.complained_at, known.taken_at) > 0
        and (last.outcome <> 'rejected' or unresolved.is_so) as is_proved,
      stop.stopped_as is null and (last.outcome = 'not_started' or (last.outcome = 'deferred'
        and (known.status = 'handing_off' or known.on_unknown = 'resend'))) as is_again
    from delivery.sends as known
    join delivery.attempts as last
      on last.project_id = weigh_attempts.project_id and last.send_id = known.send_id
      and last.attempt = known.attempt_count and last.outcome is not null
    cross join lateral (select known.send_id = any (v_unresolved) as is_so) as unresolved
    cross join lateral (
      select case when known.status = 'unknown' then delivery.end_for(known.status_reason) end as stopped_as
    ) as stop
    where known.project_id = weigh_attempts.project_id
    and known.send_id = any (weigh_attempts.send_ids)
    and (known.status = 'handing_off' or (known.status = 'unknown' and last.ended_at is not null))
  ) as stands, unnest(v_ids, v_attempts, v_outcomes, v_due_ats) as ended (send_id, attempt, outcome, due_at)
  where send.project_id = weigh_attempts.project_id
  and send.send_id = stands.send_id
  and ended.send_id = stands.send_id
  and ended.outcome <> 'accepted'
  returning send.send_id, send.status;
end;
$$;
--! EndIncluded delivery/weigh_attempts.sql
