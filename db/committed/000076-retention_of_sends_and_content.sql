--! Previous: sha1:bf722a4c71d2585441c88489035b4bbcab23898a
--! Hash: sha1:a2c45149348fb6ad746acdca82a92f5815e9a2ad
--! Message: retention_of_sends_and_content

-- A relay of the operator's own network may go without a login. Rows from before satisfied a stricter check.
alter table providers.providers drop constraint if exists providers_are_complete;
alter table providers.providers add constraint providers_are_complete check (
  case provider
    when 'smtp' then num_nulls(smtp_host, smtp_port, smtp_secure) = 0 and num_nonnulls(region, access_key_id) = 0
    when 'relay_api' then num_nonnulls(smtp_host, smtp_port, smtp_secure, username, region, access_key_id) = 0
    else num_nulls(region, access_key_id) = 0
      and num_nonnulls(smtp_host, smtp_port, smtp_secure, username) = 0
  end
) not valid;

-- Whether a provider was outside this machine and the operator's networks when it was saved; null from before.
alter table providers.providers add column if not exists is_outside boolean;
