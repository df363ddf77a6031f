--! Previous: sha1:74d3f414e4152a3560c7adc8869125e8a5759c49
--! Hash: sha1:b876a59351e2e1a0f4a4bc2ee496d7cc8db95f16
--! Message: sends_say_opens_and_clicks

-- Enter migration here

-- When the provider reported the first open and the first click of an email.
alter table delivery.sends
  add column if not exists opened_at timestamptz(3),
  add column if not exists clicked_at timestamptz(3);
select base.declare_columns('delivery.sends', '{}', '{}', '{opened_at,clicked_at}');
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome is unknown proves that the provider accepted it, also when it waits already to be
-- handed over again, and whatever has stopped it. 'taken', 'opened' and 'clicked' prove no more. Returns whether it
-- proved that now, and whether this is the first complaint of the send, or its first bounce that is not soft.
--
-- bounced_at is the bounce that stands: the first that is not soft, else the last soft bounce without a later
-- delivery. A send with a bounced_at from before soft bounces were told apart keeps it.
create or replace function delivery.record_feedback(
  project_id    uuid,
  send_id       uuid,
  fact          text,
  occurred_at   timestamptz,
  out is_proved boolean,
  out is_first  boolean
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_send      record;
  v_is_proved boolean;
  v_is_first  boolean;
  v_delivered timestamptz;
  v_firm      timestamptz;
  v_soft      timestamptz;
  v_taken     timestamptz;
begin
  select send.status, send.delivered_at, send.bounced_at, send.firm_bounced_at, send.soft_bounced_at, send.taken_at,
    send.complained_at
  into v_send from delivery.sends as send
  where send.project_id = record_feedback.project_id and send.send_id = record_feedback.send_id
  for no key update;

  v_is_proved := v_send.status = 'unknown' or (v_send.status = 'queued' and exists (
    select from delivery.attempts as tried
    where tried.project_id = record_feedback.project_id
    and tried.send_id = record_feedback.send_id
    and tried.outcome = 'unknown'
  ));
  v_delivered := v_send.delivered_at;
  v_soft := v_send.soft_bounced_at;
  v_taken := v_send.taken_at;
  v_firm := coalesce(v_send.firm_bounced_at, case when v_soft is null then v_send.bounced_at end);
  v_is_first := case record_feedback.fact
    when 'bounced' then v_firm is null
    when 'complained' then v_send.complained_at is null
    else false
  end;
  case record_feedback.fact
    when 'delivered' then v_delivered := least(v_delivered, record_feedback.occurred_at);
    when 'bounced' then v_firm := least(v_firm, record_feedback.occurred_at);
    when 'soft_bounced' then
      v_soft := greatest(v_soft, record_feedback.occurred_at);
      v_taken := least(v_taken, record_feedback.occurred_at);
    when 'taken', 'opened', 'clicked' then v_taken := least(v_taken, record_feedback.occurred_at);
    else null;
  end case;

  update delivery.sends as send
  set delivered_at = v_delivered,
    firm_bounced_at = v_firm,
    soft_bounced_at = v_soft,
    bounced_at = coalesce(v_firm, case when v_delivered is null or v_soft > v_delivered then v_soft end),
    complained_at = case when record_feedback.fact = 'complained'
      then least(send.complained_at, record_feedback.occurred_at) else send.complained_at end,
    taken_at = v_taken,
    opened_at = case when record_feedback.fact = 'opened'
      then least(send.opened_at, record_feedback.occurred_at) else send.opened_at end,
    clicked_at = case when record_feedback.fact = 'clicked'
      then least(send.clicked_at, record_feedback.occurred_at) else send.clicked_at end,
    -- Accepted on the strength of feedback alone is accepted since the earliest fact.
    accepted_at = case
      when v_is_proved or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(v_delivered, v_firm, send.complained_at, v_taken, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case when v_is_proved then 'accepted' else send.status end,
    status_reason = case when v_is_proved then 'outcome_unknown' else send.status_reason end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id;
  is_proved := v_is_proved;
  is_first := v_is_first;
end;
$$;
--! EndIncluded delivery/record_feedback.sql
