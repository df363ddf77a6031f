-- Question: where in each automation are people now?
-- Columns: automation; version; status; step_id, where they are, null for those who went all the way; runs started
--   in the last 90 days; oldest, when the first of them was started.
select automation, version, status, step_id, count(*) as runs, min(started_at) as oldest
from analytics.runs
where started_at >= now() - interval '90 days'
group by automation, version, status, step_id
order by automation, version, status, step_id nulls last;
