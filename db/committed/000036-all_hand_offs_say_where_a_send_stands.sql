--! Previous: sha1:594550b006f065f0680cca6b8ac80efa558c7de8
--! Hash: sha1:0ca3a285b6724c738d792a54f4b65cb92324364c
--! Message: all_hand_offs_say_where_a_send_stands

drop function if exists delivery.list_unresolved(uuid, uuid[], integer[]);
--! Included delivery/list_unresolved.sql
-- Of some sends those of which a hand-off may have been taken: nobody knows what came of it, and nobody has said.
-- Null when there is none.
create or replace function delivery.list_unresolved(project_id uuid, send_ids uuid[])
returns uuid[]
language sql stable
as $$
  select array_agg(asked.send_id)
  from unnest(list_unresolved.send_ids) as asked (send_id)
  cross join lateral (
    select from delivery.attempts as tried
    where tried.project_id = list_unresolved.project_id
    and tried.send_id = asked.send_id
    and tried.outcome = 'unknown'
    and tried.reason is distinct from 'resolved'
    limit 1
  ) as unresolved;
$$;
--! EndIncluded delivery/list_unresolved.sql
--! Included delivery/end_for.sql
-- The end of a send that waits and is stopped for this reason; null of what stops none.
create or replace function delivery.end_for(stop text)
returns text
language sql immutable
as $$
  select case
    when end_for.stop in ('suppressed', 'unsubscribed') then 'suppressed'
    when end_for.stop in ('cancelled', 'erased', 'provider_deleted') then 'cancelled'
    when end_for.stop in ('expired', 'failed_render') then end_for.stop
  end;
$$;
--! EndIncluded delivery/end_for.sql
--! Included delivery/stop_sends.sql
-- Ends those of some sends that wait, for a reason that delivery.end_for knows. Answers which waited.
--
-- Where an earlier hand-off may have been taken, it is unknown instead, and held: nobody may say that it was not sent.
-- What is said of an end besides its reason is not said then.
create or replace function delivery.stop_sends(project_id uuid, send_ids uuid[], stop text, said text default null)
returns table (stopped_id uuid)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_ids        uuid[];
  v_unresolved uuid[];
begin
  select array_agg(waiting.send_id), array_agg(waiting.send_id) filter (where waiting.attempt_count > 0)
  into v_ids, v_unresolved
  from (
    select send.send_id, send.attempt_count
    from delivery.sends as send
    where send.project_id = stop_sends.project_id
    and send.send_id = any (stop_sends.send_ids)
    and send.status = 'queued'
    order by send.send_id
    for update
  ) as waiting;
  v_unresolved := coalesce(delivery.list_unresolved(stop_sends.project_id, v_unresolved), '{}');

  return query
  update delivery.sends as send
  set status = case when send.send_id = any (v_unresolved) then 'unknown' else delivery.end_for(stop_sends.stop) end,
    status_reason = case when send.send_id = any (v_unresolved) then stop_sends.stop
      else coalesce(stop_sends.said, stop_sends.stop) end,
    due_at = case when send.send_id = any (v_unresolved) then 'infinity' else send.due_at end,
    lease_owner = null,
    lease_until = null
  where send.project_id = stop_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id;
end;
$$;
--! EndIncluded delivery/stop_sends.sql
--! Included delivery/begin_hand_offs.sql
-- Marks sends as about to be given to the provider, or ends those that something stops.
--
-- Each with what stop_hand_offs said of it, in the same order. Answers 'handing_off' when the caller now owns this
-- attempt; 'cancelled' (the person is erased), 'suppressed' (or unsubscribed from mail of this category) or
-- 'expired' when the send has ended; 'unknown' when it would have, and an earlier hand-off of it may have been
-- taken. Nothing of a send that is no longer the caller's to hand off.
create or replace function delivery.begin_hand_offs(project_id uuid, begins jsonb, stopped text[])
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  -- After the wait for the people and the addresses: a lease may have run out meanwhile.
  v_now        timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_ids        uuid[];
  v_begun      uuid[] := '{}';
  v_unresolved uuid[];
begin
  select array_agg(begun.send_id)
  into v_ids
  from jsonb_to_recordset(begin_hand_offs.begins) as begun (send_id uuid);
  if num_nonnulls(variadic begin_hand_offs.stopped) > 0 then
    v_unresolved := delivery.list_unresolved(begin_hand_offs.project_id, v_ids);
  end if;
  for begun_id, decision in
    update delivery.sends as send
    set status = decided.status,
      status_reason = decided.stopped,
      due_at = case when decided.status = 'unknown' then 'infinity' else send.due_at end,
      -- Whoever looks for a message that may be out looks for its subject.
      subject = case
        when decided.stopped is null then decided.subject
        when decided.status = 'unknown' and decided.stopped <> 'erased' then send.subject
      end,
      attempt_count = case when decided.stopped is null then decided.attempt else send.attempt_count end,
      handed_off_at = case when decided.stopped is null then v_now else send.handed_off_at end,
      lease_owner = case when decided.stopped is null then send.lease_owner end,
      lease_until = case when decided.stopped is null then send.lease_until end
    from (
      select begun.send_id, begun.owner, begun.attempt, begun.subject, begun.stopped,
        case
          when begun.stopped is null then 'handing_off'
          when begun.send_id = any (v_unresolved) then 'unknown'
          else delivery.end_for(begun.stopped)
        end as status
      from rows from (
        jsonb_to_recordset(begin_hand_offs.begins) as (send_id uuid, owner text, attempt integer, subject text),
        unnest(begin_hand_offs.stopped)
      ) as begun (send_id, owner, attempt, subject, stopped)
    ) as decided
    where send.project_id = begin_hand_offs.project_id
    and send.send_id = any (v_ids)
    and send.send_id = decided.send_id
    and send.status = 'queued'
    and send.lease_owner = decided.owner
    and send.lease_until > v_now
    and send.attempt_count = decided.attempt - 1
    returning send.send_id, send.status
  loop
    if decision = 'handing_off' then
      v_begun := v_begun || begun_id;
    end if;
    return next;
  end loop;

  insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at)
  select begin_hand_offs.project_id, begun.send_id, begun.attempt, begun.message_id, begun.owner, v_now
  from jsonb_to_recordset(begin_hand_offs.begins) as begun (send_id uuid, owner text, attempt integer, message_id text)
  where begun.send_id = any (v_begun);
end;
$$;
--! EndIncluded delivery/begin_hand_offs.sql
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
begin
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
      else coalesce(v_now + make_interval(secs => ended.retry_after_seconds), send.due_at)
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
  ) as stands, jsonb_to_recordset(weigh_attempts.outcomes) as ended (send_id uuid, attempt integer, outcome text,
    retry_after_seconds float8)
  where send.project_id = weigh_attempts.project_id
  and send.send_id = stands.send_id
  and ended.send_id = stands.send_id
  and ended.outcome <> 'accepted'
  returning send.send_id, send.status;
end;
$$;
--! EndIncluded delivery/weigh_attempts.sql
--! Included delivery/record_outcomes.sql
-- Writes what became of attempts and moves their sends on. Answers which sends moved, and to where.
--
-- accepted: final, whichever of the attempts it was. While another is in flight it is noted on the send, and comes true
-- when that one ends. Of any other outcome all attempts together say where the send goes (delivery.weigh_attempts).
-- What somebody has said of an attempt stays on it; what its owner finds out comes beside it.
create or replace function delivery.record_outcomes(project_id uuid, outcomes jsonb)
returns table (moved_id uuid, moved_to text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now       timestamptz := clock_timestamp();
  v_ids       uuid[];
  v_not_taken uuid[];
begin
  select array_agg(ended.send_id), array_agg(ended.send_id) filter (where ended.outcome <> 'accepted')
  into v_ids, v_not_taken
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, outcome text);

  update delivery.attempts as tried
  set ended_at = v_now,
    outcome = ended.outcome,
    reason = case when tried.reason = 'resolved' then tried.reason else ended.reason end,
    provider_message_id = ended.provider_message_id
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text)
  where tried.project_id = record_outcomes.project_id
  and tried.send_id = any (v_ids)
  and tried.send_id = ended.send_id
  and tried.attempt = ended.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');

  for moved_id, moved_to in
    update delivery.sends as send
    set status = case when send.status = 'handing_off' and send.attempt_count <> ended.attempt then send.status
        else 'accepted' end,
      status_reason = ended.reason,
      accepted_at = v_now,
      provider_message_id = coalesce(ended.provider_message_id, send.provider_message_id),
      lease_owner = case when send.status = 'handing_off' and send.attempt_count <> ended.attempt
        then send.lease_owner end,
      lease_until = case when send.status = 'handing_off' and send.attempt_count <> ended.attempt
        then send.lease_until end
    from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text,
      reason text, provider_message_id text)
    where send.project_id = record_outcomes.project_id
    and send.send_id = any (v_ids)
    and send.send_id = ended.send_id
    and ended.outcome = 'accepted'
    -- Not "in" these three: by the index of rare states it would go through all that wait.
    and (send.status in ('handing_off', 'unknown')
      or (send.status = 'queued' and ended.attempt <= send.attempt_count))
    returning send.send_id, send.status
  loop
    if moved_to = 'accepted' then
      return next;
    end if;
  end loop;

  if v_not_taken is not null then
    return query
    select moved.moved_id, moved.moved_to
    from delivery.weigh_attempts(record_outcomes.project_id, v_not_taken, record_outcomes.outcomes) as moved;
  end if;
end;
$$;
--! EndIncluded delivery/record_outcomes.sql
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome we never learned proves that the provider took it, also when it waits
-- already to be handed over again, and whatever has stopped it; 'taken' says no more. Answers whether it proved that
-- now.
create or replace function delivery.record_feedback(project_id uuid, send_id uuid, fact text, occurred_at timestamptz)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_status    text;
  v_is_proved boolean;
begin
  select send.status into v_status from delivery.sends as send
  where send.project_id = record_feedback.project_id and send.send_id = record_feedback.send_id
  for no key update;

  v_is_proved := v_status = 'unknown' or (v_status = 'queued' and exists (
    select from delivery.attempts as tried
    where tried.project_id = record_feedback.project_id
    and tried.send_id = record_feedback.send_id
    and tried.outcome = 'unknown'
  ));

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
      when v_is_proved or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case when v_is_proved then 'accepted' else send.status end,
    status_reason = case when v_is_proved then 'outcome_unknown' else send.status_reason end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id;
  return v_is_proved;
end;
$$;
--! EndIncluded delivery/record_feedback.sql
--! Included delivery/settle_lost.sql
-- Ends hand-offs whose outcome will never be known; answers which. What was only leased comes back by itself.
--
-- A send in handing_off may be with the provider already: it becomes unknown, never queued. One that was planned
-- to be sent again is so after resend_after, unless feedback has come by then. What feedback has proved already is
-- accepted, and so is what the owner of an earlier hand-off knows to be taken.
-- Its owner is known to be dead, or has been silent for longer than any hand-off may take.
create or replace function delivery.settle_lost(
  project_id   uuid,
  dead_owners  text[],
  silent_for   interval,
  resend_after interval
)
returns uuid[]
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now  timestamptz := clock_timestamp();
  v_lost delivery.sends[];
  v_ids  uuid[];
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
  set status = case
      when num_nonnulls(send.accepted_at, send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0
        then 'accepted'
      else 'unknown'
    end,
    status_reason = case when send.accepted_at is null then 'outcome_unknown' end,
    due_at = v_now + settle_lost.resend_after,
    accepted_at = coalesce(send.accepted_at,
      least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at)),
    lease_owner = null,
    lease_until = null
  where send.project_id = settle_lost.project_id
  and send.send_id in (select lost.send_id from unnest(v_lost) as lost);

  update delivery.attempts as tried
  set ended_at = v_now, outcome = 'unknown', reason = 'outcome_unknown'
  where tried.project_id = settle_lost.project_id
  and (tried.send_id, tried.attempt) in (select lost.send_id, lost.attempt_count from unnest(v_lost) as lost);

  select array(select lost.send_id from unnest(v_lost) as lost) into v_ids;
  return v_ids;
end;
$$;
--! EndIncluded delivery/settle_lost.sql
