--! Previous: sha1:a5d42acf3a4fcd9e460b578e486f06585cabc2ff
--! Hash: sha1:cf6da53c920ba675c35800d91dee623230069478
--! Message: runs_keep_their_trace

-- Enter migration here
-- The trace of the event that started a run.
alter table automations.runs add column if not exists traceparent text;
alter table automations.runs drop constraint if exists runs_traceparent_is_well_formed;
alter table automations.runs add constraint runs_traceparent_is_well_formed
  check (traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$') not valid;
select base.declare_columns('automations.runs', '{}', '{}', '{traceparent}');
