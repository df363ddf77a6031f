--! Previous: sha1:37cc109130dfad11be28766ad2b697bc01c3d1b5
--! Hash: sha1:0e3af6d9a5daa522141ea583ec884d11c75a1f65
--! Message: unsubscribes_are_open_to_analysts

-- Analysts see who is unsubscribed, and every reason of a suppression by its name.
select base.open_to_analysts('suppression.addresses',
  '{project_id, address_key, email, reason, source, suppressed_at, unsubscribed_at, resubscribed_at}');
select base.open_to_analysts('suppression.history',
  '{project_id, history_id, address_key, change, source, changed_at}');
--! Included analytics/suppressions.sql
-- Every address that must be left alone today, and why.
create or replace view analytics.suppressions with (security_invoker = true) as
select
  nullif(address.email, '') as email,
  address.reason,
  nullif(address.source, '') as source,
  address.suppressed_at
from suppression.addresses as address
where address.suppressed_at is not null;

comment on view analytics.suppressions is 'Every address that must be left alone today, and why';
comment on column analytics.suppressions.email is 'The address; null once its person was erased';
comment on column analytics.suppressions.reason is
  'The strongest: complaint, hard_bounce, provider_suppressed, soft_bounces or manual';
comment on column analytics.suppressions.source is 'Who said so, such as a provider''s webhook';
comment on column analytics.suppressions.suppressed_at is 'Since when';

grant select on analytics.suppressions to trunkline_analyst;
--! EndIncluded analytics/suppressions.sql
--! Included analytics/unsubscribes.sql
-- Every address that gets no marketing mail today because its owner does not want it.
create or replace view analytics.unsubscribes with (security_invoker = true) as
select
  nullif(address.email, '') as email,
  (
    select nullif(said.source, '') from suppression.history as said
    where said.project_id = address.project_id and said.address_key = address.address_key
    and said.change = 'unsubscribed'
    order by said.changed_at desc, said.history_id desc
    limit 1
  ) as source,
  address.unsubscribed_at
from suppression.addresses as address
where address.unsubscribed_at >= coalesce(address.resubscribed_at, '-infinity');

comment on view analytics.unsubscribes is 'Every address that gets no marketing mail today, as its owner wishes';
comment on column analytics.unsubscribes.email is 'The address; null once its person was erased';
comment on column analytics.unsubscribes.source is
  'Who said so last: link (the link of a mail), a provider''s webhook, api, console or import';
comment on column analytics.unsubscribes.unsubscribed_at is 'Since when';

grant select on analytics.unsubscribes to trunkline_analyst;
--! EndIncluded analytics/unsubscribes.sql
