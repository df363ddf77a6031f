-- Question: what happens most, and to how many people?
-- Columns: event; events in the last 30 days; people; per_person, events for each of them.
select
  event,
  count(*) as events,
  count(distinct profile_id) as people,
  round(count(*)::numeric / nullif(count(distinct profile_id), 0), 1) as per_person
from analytics.timeline
where occurred_at >= now() - interval '30 days'
group by event
order by events desc, event
limit 50;
