--! Previous: sha1:67b0e8144990c7b0b89b721f490926e79634c49e
--! Hash: sha1:9c7882ca6734d11c491182a9cdc9caabb8fd8d47
--! Message: arms_outlive_their_runs

-- Enter migration here


-- By which profile the arm of a split was chosen, of run logs that retention removed: of each identity, the first run's.
create table if not exists automations.arms (
  project_id    uuid not null,
  automation_id uuid not null,
  identity_id   uuid not null,
  step_id       text not null,
  profile_id    uuid,
  run_id        uuid not null,
  started_at    timestamptz(3) not null,
  primary key (project_id, automation_id, identity_id, step_id),
  foreign key (project_id, automation_id) references automations.automations on delete cascade,
  foreign key (project_id, identity_id) references identity.identities on delete cascade
);
create index if not exists arms_by_identity on automations.arms (project_id, identity_id);
select base.isolate_table('automations.arms');
select base.declare_columns('automations.arms', '{}', '{}',
  '{project_id,automation_id,identity_id,step_id,profile_id,run_id,started_at}');
grant select, insert, update, delete on automations.arms to trunkline_runtime;
