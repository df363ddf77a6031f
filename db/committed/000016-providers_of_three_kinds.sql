--! Previous: sha1:acefe2876cf697fd53c97f92d26a408df371ec67
--! Hash: sha1:88a257100de6ffd2c1cfef645c451dc3e654ace8
--! Message: providers_of_three_kinds

-- A record of any of the three kinds: each has its own settings and one sealed secret.
do $$
begin
  if exists (
    select from information_schema.columns
    where table_schema = 'providers' and table_name = 'providers' and column_name = 'password'
  ) then
    alter table providers.providers rename column password to secret;
  end if;
end;
$$;
alter table providers.providers
  add column if not exists region text,
  add column if not exists access_key_id text,
  alter column secret set not null,
  drop constraint if exists providers_smtp_is_complete,
  drop constraint if exists providers_are_complete;
alter table providers.providers add constraint providers_are_complete check (
  case provider
    when 'smtp' then num_nulls(smtp_host, smtp_port, smtp_secure, username) = 0
      and num_nonnulls(region, access_key_id) = 0
    when 'relay_api' then num_nonnulls(smtp_host, smtp_port, smtp_secure, username, region, access_key_id) = 0
    else num_nulls(region, access_key_id) = 0
      and num_nonnulls(smtp_host, smtp_port, smtp_secure, username) = 0
  end
);
select base.declare_columns('providers.providers', '{}', '{secret}', '{region, access_key_id}');
