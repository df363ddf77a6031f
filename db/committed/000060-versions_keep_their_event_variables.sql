--! Previous: sha1:78da31a81ac9837b17e34086d8f36c588028543e
--! Hash: sha1:e7ed4513463e0b659c12ae8c4c692343d2b1208c
--! Message: versions_keep_their_event_variables

-- Enter migration here

-- What a version says of an event is found once, in a thread, and kept with it: the version never changes.
alter table rendering.templates add column if not exists event_variables text[] not null default '{}';
select base.declare_columns('rendering.templates', '{}', '{}', '{event_variables}');
