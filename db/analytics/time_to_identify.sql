-- Question: how long do new visitors take until we know who they are?
-- Columns: source, what linked them to a person (identify, alias, console, or "(still unknown)"); visitors, anonymous
--   ids first seen in the last 90 days; within_a_day and within_a_week of that, the linked ones; median_days until then.
with visitor as (
  select value as anonymous_id, first_seen_at
  from analytics.identities
  where kind = 'anonymous' and first_seen_at >= now() - interval '90 days'
),
known as (
  select visitor.first_seen_at, link.source, link.created_at - visitor.first_seen_at as after
  from visitor
  left join analytics.links as link on link.anonymous_id = visitor.anonymous_id and link.status = 'active'
)
select
  coalesce(source, '(still unknown)') as source,
  count(*) as visitors,
  count(*) filter (where after < interval '1 day') as within_a_day,
  count(*) filter (where after < interval '7 days') as within_a_week,
  round((percentile_cont(0.5) within group (order by extract(epoch from after)) / 86400)::numeric, 2) as median_days
from known
group by source
order by visitors desc, source;
