--! Previous: sha1:8caa824a6068809ca0c8a8b0e2be849829460304
--! Hash: sha1:4979028f127d1e9716d7ebd8c742822d8ccfd515
--! Message: postponed_people_keep_their_notes

-- A person who cannot be evaluated is evaluated again with the notes of the changes that the evaluation was for.
alter table segments.wakeups add column if not exists noted jsonb;
select base.declare_columns('segments.wakeups', '{}', '{}', '{noted}');
