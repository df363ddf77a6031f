--! Previous: sha1:923c86333749068937799e2f358e66cac3fd18d8
--! Hash: sha1:04dd0df78bea0c47e05b96848164301191f03ae9
--! Message: segments_start_runs_and_steps_tell_endpoints

-- Runs start by segments, and by whole segments; steps tell endpoints that a customer names.

alter table automations.runs add column if not exists trigger_entry bigint;
alter table automations.runs add column if not exists may_call boolean not null default true;
select base.declare_columns('automations.runs', '{}', '{}', '{trigger_entry,may_call}');

-- Which automations start runs when somebody comes into a segment, or goes: by what is written after an entry.
create table if not exists automations.segment_triggers (
  project_id    uuid not null,
  automation_id uuid not null,
  version       integer not null,
  segment_id    uuid not null,
  change        text not null,
  after_entry   bigint not null,
  primary key (project_id, automation_id),
  foreign key (project_id, automation_id, version)
    references automations.versions (project_id, automation_id, version) on delete cascade,
  constraint segment_triggers_are_of_a_known_change check (change in ('entered', 'left'))
);
select base.isolate_table('automations.segment_triggers');
select base.declare_columns('automations.segment_triggers', '{}', '{}',
  '{project_id,automation_id,version,segment_id,change,after_entry}');
grant select, insert, update, delete on automations.segment_triggers to trunkline_runtime;

-- How far the history of a project's segments was read. Whoever reads on holds the row.
create table if not exists automations.segment_readers (
  project_id uuid not null,
  seen_entry bigint not null,
  primary key (project_id)
) with (fillfactor = 50);
select base.isolate_table('automations.segment_readers');
select base.open_to_queue('automations.segment_readers');
select base.declare_columns('automations.segment_readers', '{}', '{}', '{project_id,seen_entry}');
grant select, insert, update on automations.segment_readers to trunkline_runtime;
grant select (project_id, seen_entry) on automations.segment_readers to trunkline_queue;
grant select (project_id, last_entry) on segments.projects to trunkline_queue;

-- A run may wait for its person to come into a segment.
alter table automations.waits alter column event_name drop not null;
alter table automations.waits add column if not exists segment_id uuid;
alter table automations.waits drop constraint if exists waits_name_one_thing;
alter table automations.waits add constraint waits_name_one_thing check (num_nonnulls(event_name, segment_id) = 1);
create index if not exists waits_by_segment on automations.waits (project_id, segment_id, identity_id)
  where segment_id is not null;
select base.declare_columns('automations.waits', '{}', '{}', '{segment_id}');

alter table automations.refusals alter column event_id drop not null;
alter table automations.refusals add column if not exists entry bigint;
alter table automations.refusals drop constraint if exists refusals_name_what_came;
alter table automations.refusals add constraint refusals_name_what_came check (num_nonnulls(event_id, entry) = 1);
select base.declare_columns('automations.refusals', '{}', '{}', '{entry}');

-- Starts of everybody in a segment: how far each has come.
create table if not exists automations.segment_starts (
  project_id    uuid not null,
  start_id      uuid not null,
  automation_id uuid not null,
  segment_id    uuid not null,
  status        text not null,
  walked_to     uuid not null,
  examined      integer not null default 0,
  started       integer not null default 0,
  kept_out      integer not null default 0,
  requested_at  timestamptz(3) not null,
  ended_at      timestamptz(3),
  primary key (project_id, start_id),
  foreign key (project_id, automation_id) references automations.automations (project_id, automation_id)
    on delete cascade,
  constraint segment_starts_have_a_known_status check (status in ('running', 'done', 'cancelled'))
);
create index if not exists segment_starts_running on automations.segment_starts (requested_at) where status = 'running';
create index if not exists segment_starts_by_automation on automations.segment_starts (project_id, automation_id);
select base.isolate_table('automations.segment_starts');
select base.open_to_queue('automations.segment_starts');
select base.declare_columns('automations.segment_starts', '{}', '{}',
  '{project_id,start_id,automation_id,segment_id,status,walked_to,examined,started,kept_out,requested_at,ended_at}');
grant select, insert, update on automations.segment_starts to trunkline_runtime;
grant select (project_id, start_id, status, requested_at) on automations.segment_starts to trunkline_queue;

-- Whom webhook steps tell, and what they prove themselves by.
create table if not exists automations.endpoints (
  project_id      uuid not null,
  endpoint_id     uuid not null,
  name            text not null,
  url             text not null,
  status          text not null,
  disabled_reason text,
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  primary key (project_id, endpoint_id),
  constraint endpoints_have_a_known_status check (status in ('active', 'disabled'))
);
select base.isolate_table('automations.endpoints');
select base.declare_columns('automations.endpoints', '{}', '{}',
  '{project_id,endpoint_id,name,url,status,disabled_reason,created_at,updated_at}');
grant select, insert, update, delete on automations.endpoints to trunkline_runtime;

create table if not exists automations.endpoint_secrets (
  project_id  uuid not null,
  endpoint_id uuid not null,
  secret_id   uuid not null,
  key_version integer not null,
  sealed      bytea not null,
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3),
  primary key (project_id, endpoint_id, secret_id),
  foreign key (project_id, endpoint_id) references automations.endpoints (project_id, endpoint_id) on delete cascade
);
select base.isolate_table('automations.endpoint_secrets');
select base.declare_columns('automations.endpoint_secrets', '{}', '{sealed}',
  '{project_id,endpoint_id,secret_id,key_version,created_at,expires_at}');
grant select, insert, update, delete on automations.endpoint_secrets to trunkline_runtime;

-- The one call of a run's step: what is tried again is tried under the same id.
create table if not exists automations.calls (
  project_id   uuid not null,
  call_id      uuid not null,
  run_id       uuid not null,
  step_id      text not null,
  endpoint_id  uuid not null,
  status       text not null,
  attempts     integer not null default 0,
  lease_until  timestamptz(3),
  retry_at     timestamptz(3),
  http_status  integer,
  reason       text,
  queued_at    timestamptz(3) not null,
  expires_at   timestamptz(3) not null,
  primary key (project_id, call_id),
  constraint calls_one_per_step unique (project_id, run_id, step_id),
  foreign key (project_id, run_id) references automations.runs (project_id, run_id) on delete cascade,
  constraint calls_have_a_known_status check (status in ('queued', 'calling', 'waiting', 'delivered', 'failed'))
) with (fillfactor = 80);
create index if not exists calls_open on automations.calls (project_id, endpoint_id, queued_at)
  where status in ('queued', 'calling');
select base.isolate_table('automations.calls');
select base.declare_columns('automations.calls', '{}', '{}', '{project_id,call_id,run_id,step_id,endpoint_id,status,
  attempts,lease_until,retry_at,http_status,reason,queued_at,expires_at}');
grant select, insert, update on automations.calls to trunkline_runtime;
