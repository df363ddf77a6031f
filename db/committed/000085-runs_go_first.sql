--! Previous: sha1:5165694d5e07c1804a8f80ad4b9e3ad249dbc9b6
--! Hash: sha1:b4b7c3225f3a29103ff75dbe4f9ec26c156ad4c4
--! Message: runs_go_first

alter table automations.runs add column goes_first boolean not null default false;
select base.declare_columns('automations.runs', '{}', '{}', '{goes_first}');
