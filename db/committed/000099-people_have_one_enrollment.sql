--! Previous: sha1:adea261952ae93efb57e1d8bae964b6100feb77c
--! Hash: sha1:3de451d158ac26db732cd382184b4381253157cb
--! Message: people_have_one_enrollment

-- Enter migration here

-- Runs that ended because their person has an older run in the same automation, and where each of them was: an undo of
-- the link restores it there. A row stays after that, because it says when one run stood for two.
create table if not exists automations.run_merges (
  project_id  uuid not null,
  run_id      uuid not null,
  into_run_id uuid not null,
  status      text not null,
  step_id     text not null,
  wake_at     timestamptz(3) not null,
  waits_until timestamptz(3),
  merged_at   timestamptz(3) not null,
  undone_at   timestamptz(3),
  constraint run_merges_pkey primary key (project_id, run_id, into_run_id),
  foreign key (project_id, run_id) references automations.runs (project_id, run_id) on delete cascade,
  constraint run_merges_keep_a_known_status check (status in ('active', 'paused', 'failed'))
);
select base.isolate_table('automations.run_merges');
select base.declare_columns('automations.run_merges', '{}', '{}',
  '{project_id,run_id,into_run_id,status,step_id,wake_at,waits_until,merged_at,undone_at}');
grant select, insert, update, delete on automations.run_merges to trunkline_runtime;

-- People whose runs have to be compared, because an identity joined or left them. Their runs wait until a job has done
-- it, so that no email overtakes the comparison.
create table if not exists automations.pending_merges (
  project_id uuid not null,
  profile_id uuid not null,
  walked_to  uuid not null,
  is_undo    boolean not null,
  noted_at   timestamptz(3) not null,
  constraint pending_merges_pkey primary key (project_id, profile_id)
) with (fillfactor = 50);
create index if not exists pending_merges_by_time on automations.pending_merges (noted_at);
select base.isolate_table('automations.pending_merges');
select base.open_to_queue('automations.pending_merges');
select base.declare_columns('automations.pending_merges', '{}', '{}',
  '{project_id,profile_id,walked_to,is_undo,noted_at}');
grant select, insert, update, delete on automations.pending_merges to trunkline_runtime;
grant select (project_id, profile_id, noted_at) on automations.pending_merges to trunkline_queue;

--! Included delivery/end_for.sql
-- The end of a send that waits and is stopped for this reason; null of what stops none.
create or replace function delivery.end_for(stop text)
returns text
language sql immutable
as $$
  select case
    when end_for.stop in ('suppressed', 'unsubscribed') then 'suppressed'
    when end_for.stop in ('cancelled', 'erased', 'provider_deleted', 'automation_archived', 'automation_deleted',
      'frequency_cap', 'recipient_cap', 'unconfirmed_address', 'run_merged', 'sent_by_other_run') then 'cancelled'
    when end_for.stop in ('expired', 'failed_render') then end_for.stop
  end;
$$;
--! EndIncluded delivery/end_for.sql
--! Included analytics/runs.sql
-- Every way of a person through an automation that is not deleted.
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
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id
where automation.status is distinct from 'deleting';

comment on view analytics.runs is 'Every way of a person through an automation that is not deleted';
comment on column analytics.runs.run_id is 'Id';
comment on column analytics.runs.automation_id is 'The automation';
comment on column analytics.runs.automation is 'Its name today';
comment on column analytics.runs.version is 'The version of it that the run follows to its end';
comment on column analytics.runs.profile_id is 'Whose run it is: their profile today';
comment on column analytics.runs.trigger_event_id is 'The event that started it; null when a person started it by hand';
comment on column analytics.runs.trigger_event_at is 'When that event occurred';
comment on column analytics.runs.status is 'active, paused, ended or failed';
comment on column analytics.runs.step_id is 'The step it is at; null when it has ended';
comment on column analytics.runs.wake_at is 'When it goes on, if it waits';
comment on column analytics.runs.started_at is 'When it was started';
comment on column analytics.runs.ended_at is 'When it ended';
comment on column analytics.runs.outcome is
  'How it ended: completed, converted, exited, unsubscribed, held_out, expired, archived, merged into an older run, …';
comment on column analytics.runs.is_test is 'Whether it is only a test of the automation';

grant select on analytics.runs to trunkline_analyst;
--! EndIncluded analytics/runs.sql
