-- Question: how long after signing up do people place their first order?
-- Columns: signed_up, people who signed up in the last 180 days; ordered, those who ordered since; median_hours and
--   p90_hours from the one to the other.
with sign_up as (
  select profile_id, min(occurred_at) as at
  from analytics.timeline
  where event = 'user_signed_up' and occurred_at >= now() - interval '180 days'
  group by profile_id
),
first_order as (
  select profile_id, min(occurred_at) as at
  from analytics.timeline
  where event = 'order_placed' and occurred_at >= now() - interval '180 days'
  group by profile_id
),
taken as (
  select sign_up.profile_id, extract(epoch from first_order.at - sign_up.at) / 3600 as hours
  from sign_up
  left join first_order on first_order.profile_id = sign_up.profile_id and first_order.at >= sign_up.at
)
select
  count(*) as signed_up,
  count(hours) as ordered,
  round(percentile_cont(0.5) within group (order by hours)::numeric, 1) as median_hours,
  round(percentile_cont(0.9) within group (order by hours)::numeric, 1) as p90_hours
from taken;
