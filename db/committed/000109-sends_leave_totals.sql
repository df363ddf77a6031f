--! Previous: sha1:df2fbeb71a49932587e7a545120fbd753fcf84bf
--! Hash: sha1:00380da994d9f1998e11d357a58605d377fb29e4
--! Message: sends_leave_totals

-- Enter migration here

-- How many emails of each automation retention removed, so that counts do not drop.
create table if not exists delivery.send_totals (
  project_id    uuid not null,
  automation_id uuid not null,
  sends         bigint not null,
  accepted      bigint not null,
  primary key (project_id, automation_id)
) with (fillfactor = 50);
select base.isolate_table('delivery.send_totals');
select base.declare_columns('delivery.send_totals', '{}', '{}', '{project_id,automation_id,sends,accepted}');
grant select, insert, update, delete on delivery.send_totals to trunkline_runtime;
