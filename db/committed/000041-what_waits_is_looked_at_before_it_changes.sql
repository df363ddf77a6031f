--! Previous: sha1:70c8681d6505e4fd60ff49a8e3af8ff743170091
--! Hash: sha1:08e2aa4602c86820748e13120e7257fbd737726c
--! Message: what_waits_is_looked_at_before_it_changes

--! Included delivery/put_off_sends.sql
-- Lets those of some leased sends wait whose limits keep them for now, as if nobody had claimed them; answers which.
--
-- A look before they are rendered, which holds nobody: whatever goes on is asked again when it is handed over.
create or replace function delivery.put_off_sends(project_id uuid, send_ids uuid[], owner text)
returns setof uuid
language plpgsql volatile
set search_path = ''
as $$
declare
  v_ids    uuid[];
  v_stops  text[];
  v_untils timestamptz[];
begin
  select array_agg(put_off_sends.send_ids[limited.place]), array_agg(limited.stop), array_agg(limited.wait_until)
  into v_ids, v_stops, v_untils
  from delivery.limit_hand_offs(
    project_id => put_off_sends.project_id,
    send_ids => put_off_sends.send_ids,
    stopped => array_fill(null::text, array[cardinality(put_off_sends.send_ids)]),
    are_together => false
  ) as limited
  where limited.wait_until is not null;

  return query
  update delivery.sends as send
  set status_reason = waiting.stop, due_at = waiting.wait_until, lease_owner = null, lease_until = null
  from unnest(v_ids, v_stops, v_untils) as waiting (send_id, stop, wait_until)
  where send.project_id = put_off_sends.project_id
  and send.send_id = waiting.send_id
  and send.status = 'queued' and send.lease_owner = put_off_sends.owner
  returning send.send_id;
end;
$$;
--! EndIncluded delivery/put_off_sends.sql
