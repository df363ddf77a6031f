-- Question: which categories are ordered, by how many people, and what are they worth?
-- Columns: category, a property of order_placed; orders in the last 90 days; people; revenue, the sum of the
--   property amount where that is a number.
select
  properties ->> 'category' as category,
  count(*) as orders,
  count(distinct profile_id) as people,
  sum(case when jsonb_typeof(properties -> 'amount') = 'number' then (properties ->> 'amount')::numeric end) as revenue
from analytics.timeline
where event = 'order_placed' and occurred_at >= now() - interval '90 days'
group by properties ->> 'category'
order by orders desc, category;
