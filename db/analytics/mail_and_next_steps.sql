-- Question: who got which mail in the last 7 days, and what did they do in the 24 hours after it?
-- Columns: recipient; template; accepted_at, when the provider took it; status; next_steps, the events since in
--   their order, at most 20.
select
  send.recipient,
  send.template,
  send.accepted_at,
  send.status,
  coalesce(
    (array_agg(entry.event order by entry.occurred_at, entry.event_id) filter (where entry.event is not null))[1:20],
    '{}'
  ) as next_steps
from analytics.sends as send
left join analytics.timeline as entry
  on entry.profile_id = send.profile_id
  and entry.occurred_at >= now() - interval '7 days'
  and entry.occurred_at > send.accepted_at
  and entry.occurred_at <= send.accepted_at + interval '24 hours'
where send.accepted_at >= now() - interval '7 days'
group by send.send_id, send.recipient, send.template, send.accepted_at, send.status
order by send.accepted_at desc, send.send_id
limit 1000;
