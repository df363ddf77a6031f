-- Question: of the people who viewed a page in the last 30 days, how many signed up within 7 days of it, and how
--   many of those ordered within 7 days of signing up?
-- Columns: step; event; people who got there; of_first, their share of those who began.
with viewed as (
  select profile_id, min(occurred_at) as at
  from analytics.timeline
  where event = 'page_viewed' and occurred_at >= now() - interval '30 days'
  group by profile_id
),
signed_up as (
  select profile_id, min(occurred_at) as at
  from analytics.timeline
  join viewed using (profile_id)
  where event = 'user_signed_up' and occurred_at >= now() - interval '30 days'
  and occurred_at >= viewed.at and occurred_at < viewed.at + interval '7 days'
  group by profile_id
),
ordered as (
  select profile_id
  from analytics.timeline
  join signed_up using (profile_id)
  where event = 'order_placed' and occurred_at >= now() - interval '30 days'
  and occurred_at >= signed_up.at and occurred_at < signed_up.at + interval '7 days'
  group by profile_id
),
counted (step, event, people) as (
  select 1, 'page_viewed', count(*) from viewed
  union all
  select 2, 'user_signed_up', count(*) from signed_up
  union all
  select 3, 'order_placed', count(*) from ordered
)
select step, event, people, round(people::numeric / nullif(max(people) over (), 0), 3) as of_first
from counted
order by step;
