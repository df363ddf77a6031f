-- Question: how many people ordered within 7 days of a mail?
-- Columns: automation; template; sent, mails that providers took in the last 60 days; people who got one; converted,
--   those of them who ordered within 7 days of one; rate.
with bought as (
  select profile_id, occurred_at as at
  from analytics.timeline
  where event = 'order_placed' and occurred_at >= now() - interval '60 days'
)
select
  send.automation,
  send.template,
  count(distinct send.send_id) as sent,
  count(distinct send.profile_id) as people,
  count(distinct bought.profile_id) as converted,
  round(count(distinct bought.profile_id)::numeric / count(distinct send.profile_id), 3) as rate
from analytics.sends as send
left join bought
  on bought.profile_id = send.profile_id
  and bought.at > send.accepted_at and bought.at <= send.accepted_at + interval '7 days'
where send.accepted_at >= now() - interval '60 days'
group by send.automation, send.template
order by sent desc, automation, template;
