--! Previous: sha1:0c18563863100f20a35f6633ce6e770accbfdc52
--! Hash: sha1:5af52b34ea6258be393b2f41e48d7f1b9495ed1b
--! Message: runs_begin_later

-- Enter migration here

-- Which start of a whole segment began a run, and when the run begins that a schedule starts by the clock of its person.
alter table automations.runs
  add column if not exists start_id uuid,
  add column if not exists begins_at timestamptz(3);
select base.declare_columns('automations.runs', '{}', '{}', '{start_id,begins_at}');
