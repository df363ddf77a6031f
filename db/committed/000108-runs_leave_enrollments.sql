--! Previous: sha1:b876a59351e2e1a0f4a4bc2ee496d7cc8db95f16
--! Hash: sha1:df2fbeb71a49932587e7a545120fbd753fcf84bf
--! Message: runs_leave_enrollments

-- Enter migration here

-- What re-entry needs of runs that retention removed: the first and the last run of an identity in an automation, and
-- one row for each value of a property that lets a person in once (its digest; '' is that of no value).
create table if not exists automations.enrollments (
  project_id       uuid not null,
  automation_id    uuid not null,
  identity_id      uuid not null,
  digest           text not null,
  run_id           uuid not null,
  started_at       timestamptz(3) not null,
  first_run_id     uuid not null,
  first_started_at timestamptz(3) not null,
  primary key (project_id, automation_id, identity_id, digest),
  foreign key (project_id, automation_id) references automations.automations on delete cascade,
  foreign key (project_id, identity_id) references identity.identities on delete cascade
);
create index if not exists enrollments_by_identity on automations.enrollments (project_id, identity_id);
select base.isolate_table('automations.enrollments');
select base.declare_columns('automations.enrollments', '{digest}', '{}',
  '{project_id,automation_id,identity_id,run_id,started_at,first_run_id,first_started_at}');
grant select, insert, update, delete on automations.enrollments to trunkline_runtime;

-- How many runs retention removed, so that counts do not drop.
create table if not exists automations.run_totals (
  project_id    uuid not null,
  automation_id uuid not null,
  version       integer not null,
  outcome       text not null,
  runs          bigint not null,
  primary key (project_id, automation_id, version, outcome),
  foreign key (project_id, automation_id) references automations.automations on delete cascade
) with (fillfactor = 50);
select base.isolate_table('automations.run_totals');
select base.declare_columns('automations.run_totals', '{}', '{}',
  '{project_id,automation_id,version,outcome,runs}');
grant select, insert, update, delete on automations.run_totals to trunkline_runtime;
