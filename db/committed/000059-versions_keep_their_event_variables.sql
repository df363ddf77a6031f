--! Previous: sha1:0ff61d00a09672e14856e37063da72db0848d99c
--! Hash: sha1:9ee5ca6c97e1b854c27c38dbc7c6aed32dd3766c
--! Message: versions_keep_their_event_variables

-- Enter migration here

-- What a version says of an event is found once, in a thread, and kept with it: the version never changes.
alter table rendering.templates add column if not exists event_variables text[] not null default '{}';
select base.declare_columns('rendering.templates', '{}', '{}', '{event_variables}');
