-- Question: of the people first seen in a week, how many came back in each week after it?
-- Columns: cohort, the Monday of the week they were first seen in; weeks since; people in the cohort; active, those
--   with an event in that week; share.
with member as (
  select profile_id, date_trunc('week', first_seen_at) as cohort
  from analytics.profiles
  where first_seen_at >= date_trunc('week', now()) - interval '8 weeks'
),
size as (
  select cohort, count(*) as people from member group by cohort
),
active as (
  select distinct profile_id, date_trunc('week', occurred_at) as week
  from analytics.timeline
  where occurred_at >= date_trunc('week', now()) - interval '8 weeks'
)
select
  cohort::date as cohort,
  (extract(epoch from week - cohort) / 604800)::integer as weeks,
  people,
  count(*) as active,
  round(count(*)::numeric / people, 3) as share
from member
join active using (profile_id)
join size using (cohort)
group by cohort, week, people
order by cohort, week;
