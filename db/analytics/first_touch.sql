-- Question: through which campaign did the people who signed up first come to us?
-- Columns: utm_source of the first page that the browser of their sign-up ever viewed, (none) without one; people
--   who signed up in the last 90 days; ordered, those of them who have ordered since.
with sign_up as (
  select distinct on (profile_id) profile_id, anonymous_id, occurred_at as at
  from analytics.timeline
  where event = 'user_signed_up' and occurred_at >= now() - interval '90 days'
  order by profile_id, occurred_at
),
first_page as (
  select distinct on (sign_up.profile_id) sign_up.profile_id, page.properties ->> 'utm_source' as utm_source
  from sign_up
  join analytics.events as page on page.anonymous_id = sign_up.anonymous_id and page.occurred_at <= sign_up.at
  where page.event = 'page_viewed' and page.occurred_at >= now() - interval '180 days'
  order by sign_up.profile_id, page.occurred_at, page.event_id
),
buyer as (
  select distinct profile_id
  from analytics.timeline
  where event = 'order_placed' and occurred_at >= now() - interval '90 days'
)
select
  coalesce(utm_source, '(none)') as utm_source,
  count(*) as people,
  count(buyer.profile_id) as ordered
from sign_up
left join first_page using (profile_id)
left join buyer using (profile_id)
group by coalesce(utm_source, '(none)')
order by people desc, utm_source;
