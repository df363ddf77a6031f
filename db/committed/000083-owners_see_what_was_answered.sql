--! Previous: sha1:71b1d91c1c5d7684242e974a0821491c3c3427d4
--! Hash: sha1:0402b9de13d5d0879ee67754f37c88bef217be85
--! Message: owners_see_what_was_answered

-- What a provider answered when it was parked or held, without addresses and secrets: its owner reads it.
alter table providers.providers add column if not exists parked_answer jsonb;
alter table providers.paces add column if not exists held_answer jsonb;
select base.declare_columns('providers.providers', '{}', '{}', '{parked_answer}');
select base.declare_columns('providers.paces', '{}', '{}', '{held_answer}');

-- Deliveries that an endpoint refused for good in a row, and since when.
alter table automations.endpoints add column if not exists refused_count integer not null default 0;
alter table automations.endpoints add column if not exists refused_since timestamptz(3);
select base.declare_columns('automations.endpoints', '{}', '{}', '{refused_count, refused_since}');
