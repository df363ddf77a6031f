--! Previous: sha1:83983528f15fa6f66b159cab53838915cc6be006
--! Hash: sha1:d30654f28dd4e055c8e925f3abcc2817b395ee87
--! Message: soft_bounces_are_apart_from_others

-- Enter migration here
-- A soft bounce may be followed by a delivery, so the bounce that stands is made of two: the first bounce that is not soft,
-- and the last soft one. Both are null in sends from before.
alter table delivery.sends add column if not exists firm_bounced_at timestamptz(3);
alter table delivery.sends add column if not exists soft_bounced_at timestamptz(3);
select base.declare_columns('delivery.sends', '{}', '{}', '{firm_bounced_at,soft_bounced_at}');

-- A project may go back from signatures to the webhook token.
grant delete on feedback.signing_keys to trunkline_runtime;

--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome we never learned proves that the provider took it, also when it waits
-- already to be handed over again, and whatever has stopped it; 'taken' says no more. Answers whether it proved that
-- now. bounced_at is the bounce that stands: the first that is not soft, else the last soft bounce without a later
-- delivery. A send with a bounced_at from before soft bounces were told apart keeps it.
create or replace function delivery.record_feedback(project_id uuid, send_id uuid, fact text, occurred_at timestamptz)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_send      record;
  v_is_proved boolean;
  v_delivered timestamptz;
  v_firm      timestamptz;
  v_soft      timestamptz;
  v_taken     timestamptz;
begin
  select send.status, send.delivered_at, send.bounced_at, send.firm_bounced_at, send.soft_bounced_at, send.taken_at
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
  case record_feedback.fact
    when 'delivered' then v_delivered := least(v_delivered, record_feedback.occurred_at);
    when 'bounced' then v_firm := least(v_firm, record_feedback.occurred_at);
    when 'soft_bounced' then
      v_soft := greatest(v_soft, record_feedback.occurred_at);
      v_taken := least(v_taken, record_feedback.occurred_at);
    when 'taken' then v_taken := least(v_taken, record_feedback.occurred_at);
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
  return v_is_proved;
end;
$$;
--! EndIncluded delivery/record_feedback.sql
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
  nullif(notice.reason, '') as reason,
  notice.is_foreign
from feedback.notices as notice
left join suppression.addresses as address
  on address.project_id = notice.project_id and address.address_key = notice.address_key;

comment on view analytics.feedback is 'Everything that providers told about messages, one row per notice';
comment on column analytics.feedback.occurred_at is 'When, by the clock of the provider';
comment on column analytics.feedback.received_at is 'When we were told';
comment on column analytics.feedback.source is 
  'The provider''s webhook; hand_off/ and the provider''s kind of what was said while it was given the message';
comment on column analytics.feedback.kind is
  'delivered, bounced, deferred, complained, unsubscribed, rejected, failed, auto_reply, opened, clicked or unknown';
comment on column analytics.feedback.bounce_type is 'hard, soft or block; null for what is no bounce';
comment on column analytics.feedback.send_id is 'The send it is about; null when it could not be matched';
comment on column analytics.feedback.email is 'The address it is about, where it is known';
comment on column analytics.feedback.reason is 'What the provider says of the cause';
comment on column analytics.feedback.is_foreign is
  'True for a message that this project did not hand to that service: the notice has no effect and no address';

grant select on analytics.feedback to trunkline_analyst;
--! EndIncluded analytics/feedback.sql
