-- Question: how many people were active on each of the last 30 days?
-- Columns: day (UTC); people with an event on it; events. Days without events are there too.
with day as (
  select generate_series(date_trunc('day', now()) - interval '29 days', now(), interval '1 day') as day
),
activity as (
  select date_trunc('day', occurred_at) as day, count(distinct profile_id) as people, count(*) as events
  from analytics.timeline
  where occurred_at >= date_trunc('day', now()) - interval '29 days'
  group by date_trunc('day', occurred_at)
)
select day::date as day, coalesce(people, 0) as people, coalesce(events, 0) as events
from day
left join activity using (day)
order by day;
