-- Question: what became of the mails of each automation?
-- Columns: automation; status, the strongest fact known; sends of the last 30 days; share of the automation's.
select
  automation,
  status,
  count(*) as sends,
  round(count(*)::numeric / sum(count(*)) over (partition by automation), 3) as share
from analytics.sends
where queued_at >= now() - interval '30 days'
group by automation, status
order by automation, sends desc, status;
