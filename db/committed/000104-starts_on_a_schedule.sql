--! Previous: sha1:7a34b805a56107beabdadf560bb538e0daa6a90f
--! Hash: sha1:42f2739b19c61ccd30a60f8d0f32e5d253eac3bc
--! Message: starts_on_a_schedule

-- Enter migration here

-- The next occurrence of each automation whose trigger is a schedule. `occurrence` is the local date and time of it,
-- null once there is none. `next_at` is when it begins: in the zone of the automation, or in the first zone that has it.
create table if not exists automations.schedules (
  project_id    uuid not null,
  automation_id uuid not null,
  version       integer not null,
  status        text not null,
  occurrence    text,
  next_at       timestamptz(3),
  constraint schedules_pkey primary key (project_id, automation_id),
  constraint schedules_automation_fkey foreign key (project_id, automation_id)
    references automations.automations (project_id, automation_id) on delete cascade,
  constraint schedules_have_a_known_status check (status in ('active', 'paused')),
  constraint schedules_have_a_moment check ((occurrence is null) = (next_at is null))
);
create index if not exists schedules_next on automations.schedules (project_id, next_at)
  where status = 'active' and next_at is not null;
select base.isolate_table('automations.schedules');
select base.open_to_queue('automations.schedules');
select base.declare_columns('automations.schedules', '{}', '{}',
  '{project_id,automation_id,version,status,occurrence,next_at}');
grant select, insert, update, delete on automations.schedules to trunkline_runtime;
grant select (project_id, status, next_at) on automations.schedules to trunkline_queue;

-- A start by a schedule says for which occurrence it is, when that was due, whose clock it goes by, how many people it
-- starts in an hour, when it may start more, and why it started no people.
alter table automations.segment_starts
  add column if not exists occurrence text,
  add column if not exists occurs_at timestamptz(3),
  add column if not exists zone text,
  add column if not exists per_hour integer,
  add column if not exists due_at timestamptz(3),
  add column if not exists reason text;
select base.declare_columns('automations.segment_starts', '{}', '{}',
  '{occurrence,occurs_at,zone,per_hour,due_at,reason}');
grant select (due_at) on automations.segment_starts to trunkline_queue;
