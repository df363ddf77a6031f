--! Previous: sha1:996abc836afe116238183bef918a725545ec9aed
--! Hash: sha1:bbf63252a6fe9e9b21d0ee1268a3f4a30b7f2ba0
--! Message: a_project_is_used_by_a_function

-- Enter migration here
--! Included base/use_project.sql
-- Makes a project the one whose rows this transaction may see and change; with the transaction that ends.
--
-- A function, because a sharded database needs another one: there the setting has to reach the connections to the
-- shards, which it does by the statement SET LOCAL alone (db/citus/distribute.sql).
create or replace function base.use_project(project_id uuid)
returns text
language sql volatile
as $$
  select set_config('trunkline.project_id', use_project.project_id::text, true)
$$;
--! EndIncluded base/use_project.sql
