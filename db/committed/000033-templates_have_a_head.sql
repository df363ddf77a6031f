--! Previous: sha1:d8c7bfe1b819a78a7cca625f9baeab85dcf574cb
--! Hash: sha1:923c86333749068937799e2f358e66cac3fd18d8
--! Message: templates_have_a_head

-- What a template is today. Its versions never change; this row does, and whoever changes it holds it.
create table if not exists rendering.heads (
  project_id     uuid not null,
  template_id    uuid not null,
  name           text not null,
  latest_version integer not null,
  archived_at    timestamptz(3),
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  primary key (project_id, template_id),
  constraint heads_versions_count_from_one check (latest_version >= 1)
);
select base.isolate_table('rendering.heads');
grant select, insert, update on rendering.heads to trunkline_runtime;
select base.declare_columns('rendering.heads', '{}', '{}',
  '{project_id,template_id,name,latest_version,archived_at,created_at,updated_at}');

insert into rendering.heads (project_id, template_id, name, latest_version, created_at, updated_at)
select template.project_id, template.template_id, (array_agg(template.name order by template.version desc))[1],
  max(template.version), min(template.created_at), max(template.created_at)
from rendering.templates as template
group by template.project_id, template.template_id
on conflict do nothing;

alter table rendering.templates
  add column if not exists sample jsonb,
  drop constraint if exists templates_head_fkey,
  add constraint templates_head_fkey foreign key (project_id, template_id)
    references rendering.heads (project_id, template_id) on delete cascade;
select base.declare_columns('rendering.templates', '{}', '{}', '{sample}');
