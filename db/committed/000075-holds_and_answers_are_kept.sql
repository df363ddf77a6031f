--! Previous: sha1:d30654f28dd4e055c8e925f3abcc2817b395ee87
--! Hash: sha1:bf722a4c71d2585441c88489035b4bbcab23898a
--! Message: holds_and_answers_are_kept

-- Enter migration here
-- Why a provider takes nothing of the account for now, and the newest identical refusals.
alter table providers.paces add column if not exists held_reason text;
alter table providers.paces add column if not exists refused_digest text;
alter table providers.paces add column if not exists refused_count integer not null default 0;
select base.declare_columns('providers.paces', '{}', '{}', '{held_reason, refused_digest, refused_count}');

-- What the provider answered to each delivery attempt, fit to be shown.
alter table delivery.attempts add column if not exists reply_code smallint;
alter table delivery.attempts add column if not exists reply_enhanced text;
alter table delivery.attempts add column if not exists reply_text text;
alter table delivery.attempts add column if not exists queue_id text;
select base.declare_columns('delivery.attempts', '{reply_text}', '{}', '{reply_code, reply_enhanced, queue_id}');

--! Included delivery/record_outcomes.sql
-- Writes on attempts what became of them. What that makes of their sends is for move_sends and weigh_attempts to say.
--
-- A resolution by a person stays on an attempt; the outcome that its worker reports is written beside it.
create or replace function delivery.record_outcomes(project_id uuid, send_ids uuid[], outcomes jsonb, at timestamptz)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  update delivery.attempts as tried
  set ended_at = record_outcomes.at,
    outcome = ended.outcome,
    reason = case when tried.reason = 'resolved' then tried.reason else ended.reason end,
    provider_message_id = ended.provider_message_id,
    reply_code = ended.reply_code,
    reply_enhanced = ended.reply_enhanced,
    -- Of a person who was erased meanwhile nothing comes back.
    reply_text = (
      select ended.reply_text from delivery.sends as send
      where send.project_id = tried.project_id and send.send_id = tried.send_id and send.recipient is not null
    ),
    queue_id = ended.queue_id
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text, reply_code smallint, reply_enhanced text, reply_text text, queue_id text)
  where tried.project_id = record_outcomes.project_id
  and tried.send_id = any (record_outcomes.send_ids)
  and tried.send_id = ended.send_id
  and tried.attempt = ended.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');
end;
$$;
--! EndIncluded delivery/record_outcomes.sql
