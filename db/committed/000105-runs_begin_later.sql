--! Previous: sha1:42f2739b19c61ccd30a60f8d0f32e5d253eac3bc
--! Hash: sha1:2844eb65d743390cb1e7fdbd1b9dfdd90243acd3
--! Message: runs_begin_later

-- Enter migration here

-- Which start of a whole segment began a run, and when the run begins that a schedule starts by the clock of its person.
alter table automations.runs
  add column if not exists start_id uuid,
  add column if not exists begins_at timestamptz(3);
select base.declare_columns('automations.runs', '{}', '{}', '{start_id,begins_at}');
