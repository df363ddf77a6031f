--! Previous: sha1:4f8f6f1a1e87609db04bca791f0059d6557caab8
--! Hash: sha1:9dc471a954b2b725969b59a3655aa92363d5443d
--! Message: refused_words_are_left_out

-- An email that was refused while it showed what only a browser asserted is sent again without that.
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, integer, integer, interval);
--! Included delivery/claim_sends.sql
-- Leases due sends of one provider, so that workers do not prepare the same ones. Says of each whether its limits may
-- make it wait by now, or its automation; limits of a send planned a moment ago were checked then. Says also whether
-- only browsers had asserted its address when it was planned (`is_unconfirmed`), and whether a page may have chosen it:
-- so, or because no server started its run (`is_of_page`). One that was refused while it showed what only a browser
-- asserted is rendered without that (`is_bare`).
--
-- A lease only saves work: step_hand_offs decides what is handed off. A lease expires by the database's
-- clock when its owner dies. Nothing is leased while sending is held.
create or replace function delivery.claim_sends(
  project_id    uuid,
  provider_id   uuid,
  owner         text,
  sends_max     integer,
  marketing_max integer,
  pages_max     integer,
  lease_for     interval
)
returns table (
  send_id           uuid,
  identity_id       uuid,
  profile_id        uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  automation_id     uuid,
  category          text,
  attempt           integer,
  is_test           boolean,
  may_be_limited    boolean,
  traceparent       text,
  is_unconfirmed    boolean,
  is_of_page        boolean,
  is_bare           boolean
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now        timestamptz := clock_timestamp();
  v_moment_ago timestamptz := v_now - interval '10 seconds';
  v_ids        uuid[];
begin
  if base.is_sending_held() then
    return;
  end if;

  v_ids := delivery.choose_due(claim_sends.project_id, claim_sends.provider_id, sends_max => claim_sends.sends_max,
    marketing_max => claim_sends.marketing_max, pages_max => claim_sends.pages_max, at => v_now);

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.identity_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1, send.is_test,
    (send.limits is not null and (send.status_reason is not null or send.queued_at < v_moment_ago))
      or exists (
        select from delivery.halts as halt
        where halt.project_id = claim_sends.project_id and halt.automation_id = send.automation_id and not send.is_test
      ),
    send.traceparent, coalesce(send.limits ? 'unconfirmed', false),
    send.priority % 2 = 1, send.status_reason is not distinct from 'asserted_refused';
end;
$$;
--! EndIncluded delivery/claim_sends.sql
