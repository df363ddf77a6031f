--! Previous: sha1:dfa46ca830c6d8e62bbd7908bec829fed9f5ca46
--! Hash: sha1:6abb17627dfed40a5778e5dede518569e7c6f4d6
--! Message: runs_wait_branch_and_say_why_they_end

-- A run may be started by hand, waits where it is, and ends for a reason.
alter table automations.runs alter column trigger_event_id drop not null;
alter table automations.runs alter column trigger_event_at drop not null;
alter table automations.runs add column if not exists waits_until timestamptz(3);
alter table automations.runs add column if not exists outcome text;
alter table automations.runs add column if not exists is_test boolean not null default false;
alter table automations.runs add column if not exists test_recipient text;
alter table automations.runs drop constraint if exists runs_status_is_known;
alter table automations.runs add constraint runs_status_is_known
  check (status in ('active', 'paused', 'ended', 'failed'));
create index if not exists runs_by_automation on automations.runs (project_id, automation_id, run_id);

-- The rows of all projects, which row-level security keeps from the owner too while it is forced.
alter table automations.runs no force row level security;
update automations.runs set outcome = 'completed' where status = 'ended' and outcome is null;
alter table automations.runs force row level security;

-- Which events wake which runs before their time: what the step waits for, and the goal.
create table if not exists automations.waits (
  project_id  uuid not null,
  run_id      uuid not null,
  for_what    text not null,
  event_name  text not null,
  identity_id uuid not null,
  primary key (project_id, run_id, for_what),
  foreign key (project_id, run_id) references automations.runs (project_id, run_id) on delete cascade,
  constraint waits_are_for_something_known check (for_what in ('step', 'goal'))
);
create index if not exists waits_by_event on automations.waits (project_id, event_name, identity_id);
create index if not exists waits_by_identity on automations.waits (project_id, identity_id);

-- Whom an automation did not take although the trigger and its filters would have: the last event for each reason.
create table if not exists automations.refusals (
  project_id    uuid not null,
  automation_id uuid not null,
  identity_id   uuid not null,
  reason        text not null,
  event_id      uuid not null,
  event_at      timestamptz(3) not null,
  refused_at    timestamptz(3) not null,
  primary key (project_id, automation_id, identity_id, reason),
  foreign key (project_id, automation_id) references automations.automations (project_id, automation_id)
    on delete cascade,
  constraint refusals_have_a_known_reason check (reason in ('late', 're_entry'))
);
create index if not exists refusals_by_identity on automations.refusals (project_id, identity_id);

select base.isolate_table('automations.waits');
select base.isolate_table('automations.refusals');
grant select, insert, delete on automations.waits to trunkline_runtime;
grant select, insert, update, delete on automations.refusals to trunkline_runtime;

select base.declare_columns('automations.runs', '{test_recipient}', '{}', '{waits_until,outcome,is_test}');
select base.declare_columns('automations.waits', '{}', '{}', '{project_id,run_id,for_what,event_name,identity_id}');
select base.declare_columns('automations.refusals', '{}', '{}',
  '{project_id,automation_id,identity_id,reason,event_id,event_at,refused_at}');

-- Analysts see how runs ended.
select base.open_to_analysts('automations.runs',
  '{project_id,run_id,automation_id,version,identity_id,trigger_event_id,trigger_event_at,status,step_id,wake_at,
    started_at,ended_at,outcome,is_test}');
--! Included analytics/runs.sql
-- Every way of a person through an automation.
create or replace view analytics.runs with (security_invoker = true) as
select
  run.run_id,
  run.automation_id,
  nullif(automation.name, '') as automation,
  run.version,
  identity.profile_id,
  run.trigger_event_id,
  run.trigger_event_at,
  run.status,
  nullif(run.step_id, '') as step_id,
  run.wake_at,
  run.started_at,
  run.ended_at,
  nullif(run.outcome, '') as outcome,
  run.is_test
from automations.runs as run
left join automations.automations as automation
  on automation.project_id = run.project_id and automation.automation_id = run.automation_id
left join identity.identities as identity
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id;

comment on view analytics.runs is 'Every way of a person through an automation';
comment on column analytics.runs.run_id is 'Id';
comment on column analytics.runs.automation_id is 'The automation';
comment on column analytics.runs.automation is 'Its name today';
comment on column analytics.runs.version is 'The version of it that the run follows to its end';
comment on column analytics.runs.profile_id is 'Whose run it is: their profile today';
comment on column analytics.runs.trigger_event_id is 'The event that started it; null when somebody did by hand';
comment on column analytics.runs.trigger_event_at is 'When that event occurred';
comment on column analytics.runs.status is 'active, paused, ended or failed';
comment on column analytics.runs.step_id is 'The step it is at; null when it has ended';
comment on column analytics.runs.wake_at is 'When it goes on, if it waits';
comment on column analytics.runs.started_at is 'When it was started';
comment on column analytics.runs.ended_at is 'When it ended';
comment on column analytics.runs.outcome is
  'How it ended: completed, converted, exited, unsubscribed, held_out, expired, archived, …';
comment on column analytics.runs.is_test is 'Whether somebody only tried the automation';

grant select on analytics.runs to trunkline_analyst;
--! EndIncluded analytics/runs.sql
