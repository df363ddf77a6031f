--! Previous: sha1:abf9934f56964f14f29182768cd68f3014bf7c08
--! Hash: sha1:f2957c349dc16a56aadca285f15e624538e17263
--! Message: requests_are_forgotten

-- Enter migration here

--! Included admin/forget_requests.sql
-- Forgets access requests that were decided, and invitations that ended, before a moment and two years ago; answers how
-- many.
--
-- The one way in which they go: the runtime role may only add, read and decide. Whatever it asks for, two years stay,
-- as in the audit log. So many rows at most.
create or replace function admin.forget_requests(before timestamptz, rows_max integer)
returns integer
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  v_before timestamptz := least(forget_requests.before, now() - interval '24 months');
  v_decided integer;
  v_ended   integer;
begin
  delete from admin.access_requests as request
  where request.access_request_id = any (array(
    select decided.access_request_id from admin.access_requests as decided
    where decided.status <> 'waiting' and decided.decided_at < v_before
    limit forget_requests.rows_max
    for update skip locked
  ));
  get diagnostics v_decided = row_count;

  delete from admin.invitations as invitation
  where invitation.invitation_id = any (array(
    select ended.invitation_id from admin.invitations as ended
    where coalesce(ended.accepted_at, ended.revoked_at, ended.expires_at) < v_before
    limit forget_requests.rows_max
    for update skip locked
  ));
  get diagnostics v_ended = row_count;
  return v_decided + v_ended;
end;
$$;

revoke all on function admin.forget_requests(timestamptz, integer) from public;
grant execute on function admin.forget_requests(timestamptz, integer) to trunkline_runtime;
--! EndIncluded admin/forget_requests.sql
