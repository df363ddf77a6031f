--! Previous: sha1:0aa77835e6db3ee60058f64cddbca94b6523fbd8
--! Hash: sha1:7fc978b7f7ba95b4b3e4b986266011f3d64ddd10
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

-- How long a project keeps what it sent; null is the default.
alter table delivery.settings add column if not exists content_days integer;
alter table delivery.settings add column if not exists sends_months integer;
alter table delivery.settings drop constraint if exists settings_content_days_are_bounded;
alter table delivery.settings add constraint settings_content_days_are_bounded
  check (content_days between 1 and 3650) not valid;
alter table delivery.settings drop constraint if exists settings_sends_months_are_bounded;
alter table delivery.settings add constraint settings_sends_months_are_bounded
  check (sends_months between 2 and 120) not valid;

-- When the subject, the content and the answers of providers were removed.
alter table delivery.sends add column if not exists content_removed_at timestamptz(3);
grant delete on delivery.sends to trunkline_runtime;
grant delete on automations.calls to trunkline_runtime;
grant delete on feedback.notices to trunkline_runtime;

select base.declare_columns('providers.providers', '{}', '{}', '{is_outside}');
select base.declare_columns('delivery.settings', '{}', '{}', '{content_days,sends_months}');
select base.declare_columns('delivery.sends', '{}', '{}', '{content_removed_at}');

-- Where a provider is warming up, the sweeper looks for what a dead worker took of its day.
grant select (ramp_day) on providers.paces to trunkline_queue;
