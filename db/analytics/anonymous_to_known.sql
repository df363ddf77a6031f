-- Question: how many of each week's new visitors told us who they are?
-- Columns: week, its Monday; visitors, anonymous ids first seen in it; known, those that came with an external_id
--   in some event since; share.
with visitor as (
  select value as anonymous_id, date_trunc('week', first_seen_at) as week
  from analytics.identities
  where kind = 'anonymous' and first_seen_at >= date_trunc('week', now()) - interval '8 weeks'
),
known as (
  select distinct anonymous_id
  from analytics.events
  where external_id is not null and anonymous_id is not null
  and occurred_at >= date_trunc('week', now()) - interval '8 weeks'
)
select
  week::date as week,
  count(*) as visitors,
  count(known.anonymous_id) as known,
  round(count(known.anonymous_id)::numeric / count(*), 3) as share
from visitor
left join known using (anonymous_id)
group by week
order by week;
