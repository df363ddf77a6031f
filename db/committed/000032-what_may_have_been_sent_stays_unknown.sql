--! Previous: sha1:9a49fee538efcd6c9f9a8d2d46479ac0d9e3dd6f
--! Hash: sha1:d8c7bfe1b819a78a7cca625f9baeab85dcf574cb
--! Message: what_may_have_been_sent_stays_unknown

-- Enter migration here
--! Included analytics/feedback.sql
-- Everything that providers told about messages, one row per notice.
create or replace view analytics.feedback with (security_invoker = true) as
select
  notice.occurred_at,
  notice.received_at,
  nullif(notice.source, '') as source,
  notice.kind,
  notice.bounce_type,
  notice.send_id,
  nullif(address.email, '') as email,
  nullif(notice.reason, '') as reason
from feedback.notices as notice
left join suppression.addresses as address
  on address.project_id = notice.project_id and address.address_key = notice.address_key;

comment on view analytics.feedback is 'Everything that providers told about messages, one row per notice';
comment on column analytics.feedback.occurred_at is 'When, by the clock of the provider';
comment on column analytics.feedback.received_at is 'When we were told';
comment on column analytics.feedback.source is 
  'The provider''s webhook; hand_off/ and the provider''s kind of what was said while it was given the message';
comment on column analytics.feedback.kind is
  'delivered, bounced, deferred, complained, unsubscribed, rejected, opened, clicked or unknown';
comment on column analytics.feedback.bounce_type is 'hard, soft or block; null for what is no bounce';
comment on column analytics.feedback.send_id is 'The send it is about; null when it could not be matched';
comment on column analytics.feedback.email is 'The address it is about, where it is known';
comment on column analytics.feedback.reason is 'What the provider says of the cause';

grant select on analytics.feedback to trunkline_analyst;
--! EndIncluded analytics/feedback.sql
--! Included delivery/list_unresolved.sql
-- Of some sends those of which a hand-off may have been taken: nobody knows what came of it, and nobody has said.
--
-- Another one than the attempt that is named with each, if one is.
create or replace function delivery.list_unresolved(project_id uuid, send_ids uuid[], besides integer[] default null)
returns uuid[]
language sql stable
as $$
  select array_agg(asked.send_id)
  from unnest(list_unresolved.send_ids, list_unresolved.besides) as asked (send_id, attempt)
  cross join lateral (
    select from delivery.attempts as tried
    where tried.project_id = list_unresolved.project_id
    and tried.send_id = asked.send_id
    and tried.attempt is distinct from asked.attempt
    and tried.outcome = 'unknown'
    and tried.reason is distinct from 'resolved'
    limit 1
  ) as unresolved;
$$;
--! EndIncluded delivery/list_unresolved.sql
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
  v_now   timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_ids   uuid[];
  v_begun uuid[] := '{}';
  v_taken uuid[];
begin
  select array_agg(begun.send_id)
  into v_ids
  from jsonb_to_recordset(begin_hand_offs.begins) as begun (send_id uuid);
  if num_nonnulls(variadic begin_hand_offs.stopped) > 0 then
    v_taken := delivery.list_unresolved(begin_hand_offs.project_id, v_ids);
  end if;
  for begun_id, decision in
    update delivery.sends as send
    set status = decided.status,
      status_reason = decided.stopped,
      due_at = case when decided.status = 'unknown' then 'infinity' else send.due_at end,
      subject = case when decided.stopped is null then decided.subject end,
      attempt_count = case when decided.stopped is null then decided.attempt else send.attempt_count end,
      handed_off_at = case when decided.stopped is null then v_now else send.handed_off_at end,
      lease_owner = case when decided.stopped is null then send.lease_owner end,
      lease_until = case when decided.stopped is null then send.lease_until end
    from (
      select begun.send_id, begun.owner, begun.attempt, begun.subject, begun.stopped,
        case
          when begun.stopped is null then 'handing_off'
          when begun.send_id = any (v_taken) then 'unknown'
          when begun.stopped = 'erased' then 'cancelled'
          when begun.stopped = 'expired' then 'expired'
          else 'suppressed'
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
--! Included delivery/step_hand_offs.sql
-- Writes what became of some attempts and begins others, all in one commit: what free lanes of one turn wait for
-- at the same moment. Answers what begin_hand_offs says of each that begins. What ends is noted, to be observed on
-- its person's timeline together with what other steps end (delivery.ended).
--
-- Every person is locked before any address, every address before any send, each kind in its own order: the order
-- of all who need several. One statement of the client, so one transaction.
create or replace function delivery.step_hand_offs(project_id uuid, step_id uuid, outcomes jsonb, begins jsonb)
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_begin_ids uuid[];
  v_end_ids   uuid[];
  v_ended_ids uuid[] := '{}';
  v_keys      bytea[];
  v_stopped   text[];
begin
  perform set_config('trunkline.project_id', step_hand_offs.project_id::text, true);

  select array_agg(ended.send_id)
  into v_end_ids
  from jsonb_to_recordset(step_hand_offs.outcomes) as ended (send_id uuid);
  select array_agg(begun.send_id), array_agg(decode(begun.address_key, 'hex'))
  into v_begin_ids, v_keys
  from jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid, address_key text);

  if v_begin_ids is not null then
    v_stopped := delivery.stop_hand_offs(project_id => step_hand_offs.project_id, send_ids => v_begin_ids,
      address_keys => v_keys);
  end if;

  perform from delivery.sends as send
  where send.project_id = step_hand_offs.project_id and send.send_id = any (v_end_ids || v_begin_ids)
  order by send.send_id
  for no key update;

  if v_end_ids is not null then
    select coalesce(array_agg(moved.moved_id), '{}')
    into v_ended_ids
    from delivery.record_outcomes(project_id => step_hand_offs.project_id,
      outcomes => step_hand_offs.outcomes) as moved
    where moved.moved_to not in ('queued', 'unknown');
  end if;
  if v_begin_ids is not null then
    for begun_id, decision in
      select begun.begun_id, begun.decision
      from delivery.begin_hand_offs(project_id => step_hand_offs.project_id, begins => step_hand_offs.begins,
        stopped => v_stopped) as begun
    loop
      if decision not in ('handing_off', 'unknown') then
        v_ended_ids := v_ended_ids || begun_id;
      end if;
      return next;
    end loop;
  end if;

  if v_ended_ids <> '{}' then
    insert into delivery.ended (project_id, step_id, send_ids, ended_at)
    values (step_hand_offs.project_id, step_hand_offs.step_id, v_ended_ids, clock_timestamp());
  end if;
end;
$$;
--! EndIncluded delivery/step_hand_offs.sql
--! Included delivery/record_outcomes.sql
-- Writes what became of attempts and moves their sends on. Answers which sends moved, and to where.
--
-- accepted, rejected: final. deferred, not_started: definitely not taken, back to the queue for
-- retry_after_seconds from now. unknown: held, unless feedback has proved meanwhile that the provider took
-- it; due again after that time if it was planned to be sent again. An attempt that was given up as unknown
-- while its owner was silent still learns a definite answer; it goes back to the queue from there only when
-- its owner knows that it did not begin, or when it may be sent again anyway. Without a recipient, because
-- the person was erased meanwhile, what would go back to the queue is cancelled. Where an earlier hand-off may
-- have been taken, no later one that was not makes it an end: unknown, and held. An owner who learns that its
-- message was taken ends also what waits to be sent again.
create or replace function delivery.record_outcomes(project_id uuid, outcomes jsonb)
returns table (moved_id uuid, moved_to text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
  -- Of which another hand-off than the one that ended may have been taken.
  v_taken uuid[];
begin
  select array_agg(ended.send_id),
    delivery.list_unresolved(record_outcomes.project_id,
      array_agg(ended.send_id) filter (where ended.outcome <> 'accepted'),
      array_agg(ended.attempt) filter (where ended.outcome <> 'accepted'))
  into v_ids, v_taken
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text);
  update delivery.attempts as tried
  set ended_at = v_now, outcome = ended.outcome, reason = ended.reason, provider_message_id = ended.provider_message_id
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text)
  where tried.project_id = record_outcomes.project_id
  and tried.send_id = any (v_ids)
  and tried.send_id = ended.send_id
  and tried.attempt = ended.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');

  return query
  update delivery.sends as send
  set status = case
      when ended.outcome = 'accepted' then 'accepted'
      when (ended.outcome <> 'rejected' or send.send_id = any (v_taken))
        and num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0 then 'accepted'
      when ended.outcome = 'unknown' then 'unknown'
      when send.send_id = any (v_taken) and (ended.outcome = 'rejected' or send.recipient is null
        or (send.status = 'unknown' and send.on_unknown = 'hold' and ended.outcome = 'deferred')) then 'unknown'
      when ended.outcome = 'not_started' and send.recipient is null then 'cancelled'
      when ended.outcome = 'not_started' then 'queued'
      when send.status = 'unknown' and (ended.outcome = 'rejected' or send.on_unknown = 'hold') then 'not_sent'
      when ended.outcome = 'deferred' and send.recipient is null then 'cancelled'
      when ended.outcome = 'deferred' then 'queued'
      else ended.outcome
    end,
    status_reason = ended.reason,
    due_at = case when ended.outcome = 'rejected' then 'infinity'
      else coalesce(v_now + make_interval(secs => ended.retry_after_seconds), send.due_at) end,
    accepted_at = case
      when ended.outcome = 'accepted' then v_now
      when ended.outcome = 'rejected' and not coalesce(send.send_id = any (v_taken), false) then send.accepted_at
      else least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at)
    end,
    provider_message_id = coalesce(ended.provider_message_id, send.provider_message_id),
    lease_owner = null,
    lease_until = null
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text, retry_after_seconds float8)
  where send.project_id = record_outcomes.project_id
  and send.send_id = any (v_ids)
  and send.send_id = ended.send_id
  and send.attempt_count = ended.attempt
  and (send.status in ('handing_off', 'unknown') or (send.status = 'queued' and ended.outcome = 'accepted'))
  returning send.send_id, send.status;
end;
$$;
--! EndIncluded delivery/record_outcomes.sql
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome we never learned proves that the provider took it, also when it waits
-- already to be handed over again; 'taken' says no more. Answers whether it proved that now.
create or replace function delivery.record_feedback(project_id uuid, send_id uuid, fact text, occurred_at timestamptz)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_before text;
  v_after  text;
  v_again  boolean;
begin
  select send.status into v_before from delivery.sends as send
  where send.project_id = record_feedback.project_id and send.send_id = record_feedback.send_id
  for no key update;

  select v_before = 'queued' and exists (
    select from delivery.attempts as tried
    where tried.project_id = record_feedback.project_id
    and tried.send_id = record_feedback.send_id
    and tried.outcome = 'unknown'
  ) into v_again;

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
      when send.status = 'unknown' or v_again
        or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(send.accepted_at, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case
      when send.status = 'unknown' then 'accepted'
      when v_again then 'accepted'
      else send.status
    end,
    status_reason = case
      when v_again then 'outcome_unknown'
      else send.status_reason
    end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id
  returning send.status into v_after;
  return v_before <> v_after and v_after = 'accepted';
end;
$$;
--! EndIncluded delivery/record_feedback.sql
