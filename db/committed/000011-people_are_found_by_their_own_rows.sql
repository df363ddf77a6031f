--! Previous: sha1:e3e353aeab7b4c82dc817da8262975f73cb853a7
--! Hash: sha1:15310767fff7658674ddea27f192c8676ab7d585
--! Message: people_are_found_by_their_own_rows

-- Whoever removes an identity looks for the links that lead to it.
create index if not exists links_by_external on identity.links (project_id, external_identity_id);

-- An address is looked up as it is compared, in lower case. It is a column, because under row-level security
-- an index serves only comparisons that cannot tell a secret, and `lower` is not known for one.
alter table profiles.profiles add column if not exists address text generated always as (lower(email)) stored;
drop index if exists profiles.profiles_by_email;
create index if not exists profiles_by_address on profiles.profiles (project_id, address, profile_id)
  where address is not null;
select base.declare_columns('profiles.profiles', '{address}', '{}', '{}');
