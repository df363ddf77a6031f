-- Question: how many people enter and leave each segment a day?
-- Columns: segment; day, in UTC, of the last 30; entered; left_it; without those that a new definition moved.
select segment, (changed_at at time zone 'UTC')::date as day,
  count(*) filter (where change = 'entered') as entered,
  count(*) filter (where change = 'left') as left_it
from analytics.segment_history
where cause <> 'fill' and changed_at >= now() - interval '30 days'
group by segment, day
order by segment, day;
