-- Question: which people that we can write to have not been seen for 30 days?
-- Columns: external_id; email; last_seen_at; days_silent. The most recent ones first, at most 1000; suppressed
--   addresses are left out.
select
  profile.external_id,
  profile.email,
  profile.last_seen_at,
  (extract(epoch from now() - profile.last_seen_at) / 86400)::integer as days_silent
from analytics.profiles as profile
where profile.last_seen_at < now() - interval '30 days'
and profile.email is not null
and not exists (
  select from analytics.suppressions as suppression where lower(suppression.email) = lower(profile.email)
)
order by profile.last_seen_at desc, profile.profile_id
limit 1000;
