-- Question: on which plans are our people, and how many of them were here in the last 30 days?
-- Columns: plan, a trait; people; active, those with an event in the last 30 days; with_address, those with an email.
select
  coalesce(traits ->> 'plan', '(none)') as plan,
  count(*) as people,
  count(*) filter (where last_seen_at >= now() - interval '30 days') as active,
  count(email) as with_address
from analytics.profiles
group by coalesce(traits ->> 'plan', '(none)')
order by people desc, plan;
