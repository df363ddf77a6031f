--! Previous: sha1:8f4d152fe177a08687b478cfbc5e43571f80f267
--! Hash: sha1:a17c9f5b80624a2c49b3548f8443e080f458d019
--! Message: a_probe_has_an_owner

-- Enter migration here
-- Whose probe a circuit waits for: it is given back when its owner dies.
alter table providers.paces add column if not exists probed_by text;
select base.declare_columns('providers.paces', '{}', '{}', '{probed_by}');
grant select (probed_by) on providers.paces to trunkline_queue;

-- Since when, not when it was said last.
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
  least(address.unsubscribed_at, (
    select min(said.changed_at) from suppression.history as said
    where said.project_id = address.project_id and said.address_key = address.address_key
    and said.change = 'unsubscribed' and said.changed_at >= coalesce(address.resubscribed_at, '-infinity')
  ))::timestamptz(3) as unsubscribed_at
from suppression.addresses as address
where address.unsubscribed_at >= coalesce(address.resubscribed_at, '-infinity');

comment on view analytics.unsubscribes is 'Every address that gets no marketing mail today, as its owner wishes';
comment on column analytics.unsubscribes.email is 'The address; null once its person was erased';
comment on column analytics.unsubscribes.source is
  'Who said so last: link (the link of a mail), a provider''s webhook, api, console or import';
comment on column analytics.unsubscribes.unsubscribed_at is 'Since when, however often it was said since';

grant select on analytics.unsubscribes to trunkline_analyst;
--! EndIncluded analytics/unsubscribes.sql
