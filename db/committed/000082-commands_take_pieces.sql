--! Previous: sha1:25b1e6f30fd8bb7ea8fedc11311e3579aae6c63e
--! Hash: sha1:71b1d91c1c5d7684242e974a0821491c3c3427d4
--! Message: commands_take_pieces

-- Commands on automations whose effect on runs and sends is not wholly written. One row takes effect for every person
-- at once; jobs write the rest in pieces.
create table if not exists automations.commands (
  project_id    uuid not null,
  automation_id uuid not null,
  kind          text not null,
  to_version    integer,
  requested_at  timestamptz(3) not null,
  changed       integer not null,
  constraint commands_pkey primary key (project_id, automation_id, kind),
  foreign key (project_id, automation_id) references automations.automations (project_id, automation_id)
    on delete cascade,
  constraint commands_kind_is_known check (kind in ('resume', 'archive', 'move')),
  constraint commands_moves_have_a_version check ((kind = 'move') = (to_version is not null))
) with (fillfactor = 50);
create index if not exists commands_by_time on automations.commands (requested_at);
select base.isolate_table('automations.commands');
select base.open_to_queue('automations.commands');
select base.declare_columns('automations.commands', '{}', '{}',
  '{project_id,automation_id,kind,to_version,requested_at,changed}');
grant select, insert, update, delete on automations.commands to trunkline_runtime;
grant select (project_id, automation_id, requested_at) on automations.commands to trunkline_queue;
