--! Previous: sha1:44dc1d94ab443ad4bd2fabe138eae0a0d6ea8e20
--! Hash: sha1:756a3d9d3cf5f16289748623b7b4094a53dd2d87
--! Message: runs_know_their_source

-- Enter migration here
-- Who caused a run: a server, a browser, the service itself, or null where that is not known.
alter table automations.runs add column if not exists source text;
select base.declare_columns('automations.runs', '{}', '{}', '{source}');
