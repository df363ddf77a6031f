-- Question: over whose mail did people unsubscribe in the last 90 days, and who of them still is?
-- Columns: automation, null when no mail of ours was named; unsubscribes; people; still, how many of these people are
--   unsubscribed today.
select
  send.automation,
  count(*) as unsubscribes,
  count(distinct entry.profile_id) as people,
  count(distinct entry.profile_id) filter (where lower(profile.email) in (
    select lower(gone.email) from analytics.unsubscribes as gone
  )) as still
from analytics.timeline as entry
left join analytics.sends as send on send.send_id = (entry.properties ->> 'send_id')::uuid
left join analytics.profiles as profile on profile.profile_id = entry.profile_id
where entry.event = 'email_unsubscribed' and entry.source = 'system' and entry.occurred_at > now() - interval '90 days'
group by send.automation
order by unsubscribes desc, send.automation;
