--! Previous: sha1:9a9e082470e02d6637959e2fc1dae77a3791ab29
--! Hash: sha1:c8a8a4525b0a2056ac5a62007fec2eca8a7f1898
--! Message: postponed_people_keep_their_notes

-- A person who cannot be evaluated is evaluated again with the notes of the changes that the evaluation was for.
alter table segments.wakeups add column if not exists noted jsonb;
select base.declare_columns('segments.wakeups', '{}', '{}', '{noted}');
