--! Previous: sha1:441e061379adad889a0219ec3734458542a42e72
--! Hash: sha1:f41a0059bad36c33fc82d4ffa8a719ddca1a6c1c
--! Message: runs_go_first

alter table automations.runs add column if not exists goes_first boolean not null default false;
select base.declare_columns('automations.runs', '{}', '{}', '{goes_first}');
