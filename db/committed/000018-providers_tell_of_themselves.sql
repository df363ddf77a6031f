--! Previous: sha1:efa1205ce71faa989c7e70eced5a295103b403a2
--! Hash: sha1:519354cfdbde75d4c3c76b47ea1b51d34a9624af
--! Message: providers_tell_of_themselves

-- What a provider record tells of itself: which state of it was proved, and what its last test came to.
alter table providers.providers
  add column if not exists revision integer not null default 1,
  add column if not exists tested_at timestamptz(3),
  add column if not exists test_id uuid,
  add column if not exists test_failure text,
  add column if not exists test_message_id text,
  add column if not exists test_took_ms integer;
select base.declare_columns('providers.providers', '{}', '{}',
  '{revision, tested_at, test_id, test_failure, test_message_id, test_took_ms}');
