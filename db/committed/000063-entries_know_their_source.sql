--! Previous: sha1:a0f0c57ce1426bc7b4367f01bd2a97e1954bcdc9
--! Hash: sha1:44dc1d94ab443ad4bd2fabe138eae0a0d6ea8e20
--! Message: entries_know_their_source

-- Enter migration here
-- Who caused an entry of the history: a server, a browser, or null where that is not known.
alter table segments.history add column if not exists source text;
select base.declare_columns('segments.history', '{}', '{}', '{source}');
