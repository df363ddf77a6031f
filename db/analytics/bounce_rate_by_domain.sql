-- Question: at which domains do our mails bounce?
-- Columns: domain of the recipient; sent, what providers took in the last 90 days; bounced; complained; bounce_rate.
select
  lower(split_part(recipient, '@', 2)) as domain,
  count(*) as sent,
  count(*) filter (where bounced_at is not null) as bounced,
  count(*) filter (where complained_at is not null) as complained,
  round(count(*) filter (where bounced_at is not null)::numeric / count(*), 3) as bounce_rate
from analytics.sends
where accepted_at >= now() - interval '90 days' and recipient is not null
group by lower(split_part(recipient, '@', 2))
order by bounced desc, sent desc, domain
limit 50;
