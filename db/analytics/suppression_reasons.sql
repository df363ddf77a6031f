-- Question: how many addresses must we leave alone, why, and who told us?
-- Columns: reason; source; addresses; first_at and last_at, when the first and the last of them were suppressed.
select reason, source, count(*) as addresses, min(suppressed_at) as first_at, max(suppressed_at) as last_at
from analytics.suppressions
group by reason, source
order by addresses desc, reason, source;
