--! Previous: sha1:08e2aa4602c86820748e13120e7257fbd737726c
--! Hash: sha1:b408f31c37ddeba5815d6fe27844eb74c12acc58
--! Message: times_are_looked_at_before_what_they_change

--! Included delivery/hold_restored.sql
-- Ends what waited when a backup was restored, and was due by then: it may have been handed over in the time that
-- the backup does not know of, so it is unknown, as a hand-off whose outcome nobody heard. What such a hand-off would
-- count is counted. Answers how many; who has more asks again.
create or replace function delivery.hold_restored(
  project_id   uuid,
  restored_at  timestamptz,
  resend_after interval,
  sends_max    integer
)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_due_at timestamptz := clock_timestamp() + hold_restored.resend_after;
  v_count  integer;
begin
  update delivery.sends as send
  set status = 'unknown',
    status_reason = 'restored',
    attempt_count = send.attempt_count + 1,
    handed_off_at = greatest(send.queued_at, least(send.due_at, hold_restored.restored_at)),
    due_at = v_due_at,
    lease_owner = null,
    lease_until = null
  where send.project_id = hold_restored.project_id
  and send.send_id = any (array(
    select waiting.send_id
    from delivery.sends as waiting
    where waiting.project_id = hold_restored.project_id
    and waiting.status = 'queued'
    and waiting.queued_at < hold_restored.restored_at
    and (waiting.due_at < hold_restored.restored_at or waiting.status_reason = 'ramp')
    order by waiting.send_id
    limit hold_restored.sends_max
    for update
  ));
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
--! EndIncluded delivery/hold_restored.sql
