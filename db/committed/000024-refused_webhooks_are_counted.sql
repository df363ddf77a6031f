--! Previous: sha1:9be31d18dc982bce7ebbcea8e8dd9baf76cf051d
--! Hash: sha1:37cc109130dfad11be28766ad2b697bc01c3d1b5
--! Message: refused_webhooks_are_counted

-- How often posts to a webhook were refused, and why the last one was. Nothing of what they said is kept, and no
-- webhook has more than one row.
create table if not exists feedback.refusals (
  project_id      uuid not null,
  source          text not null,
  refused_count   bigint not null,
  last_reason     text not null,
  last_refused_at timestamptz(3) not null,
  constraint refusals_pkey primary key (project_id, source),
  constraint refusals_are_of_something check (refused_count > 0),
  constraint refusals_have_the_name_of_an_error check (last_reason ~ '^[a-z_]{1,50}$')
);
select base.isolate_table('feedback.refusals');
grant select, insert, update on feedback.refusals to trunkline_runtime;
select base.declare_columns('feedback.refusals', '{}', '{}',
  '{project_id,source,refused_count,last_reason,last_refused_at}');
