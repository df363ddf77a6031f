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

--!include delivery/record_outcomes.sql
