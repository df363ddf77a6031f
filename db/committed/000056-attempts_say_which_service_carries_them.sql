--! Previous: sha1:98b5c2064d306b3fa6ae0f7f085ea0d4d60993d4
--! Hash: sha1:32669b5f66769f8993f450c6eb85af87aa8d6f69
--! Message: attempts_say_which_service_carries_them

-- Enter migration here
-- The email service that carries each delivery attempt. It stays true after the provider record changes or is deleted,
-- so feedback can be compared with the service that had the message. Null in attempts from before this migration.
alter table delivery.attempts add column if not exists sent_through text;
alter table delivery.attempts drop constraint if exists attempts_sent_through_is_known;
alter table delivery.attempts add constraint attempts_sent_through_is_known
  check (sent_through in ('amazon_ses', 'mailgun', 'smtp2go', 'other')) not valid;
select base.declare_columns('delivery.attempts', '{}', '{}', '{sent_through}');

--! Included delivery/step_hand_offs.sql
-- Writes what became of some attempts and begins others, all in one commit: what free lanes of one turn wait for
-- at the same moment. Answers what move_sends says of each that begins. What ends is noted, to be observed on its
-- person's timeline together with what other steps end (delivery.ended).
--
-- Every person is locked before any address, every address before any send, each kind in its own order: the order
-- of all who need several. One statement of the client, so one transaction.
create or replace function delivery.step_hand_offs(project_id uuid, step_id uuid, outcomes jsonb, begins jsonb)
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_taken_ids  uuid[] := '{}';
  v_other_ids  uuid[] := '{}';
  v_begin_ids  uuid[] := '{}';
  v_keys       bytea[];
  v_stops      record;
  v_stopped    text[];
  v_waits      timestamptz[];
  v_now        timestamptz;
  v_handed_ids uuid[] := '{}';
  v_ended_ids  uuid[] := '{}';
begin
  perform set_config('trunkline.project_id', step_hand_offs.project_id::text, true);
  if step_hand_offs.outcomes <> '[]' then
    select coalesce(array_agg(ended.send_id) filter (where ended.outcome = 'accepted'), '{}'),
      coalesce(array_agg(ended.send_id) filter (where ended.outcome <> 'accepted'), '{}')
    into v_taken_ids, v_other_ids
    from jsonb_to_recordset(step_hand_offs.outcomes) as ended (send_id uuid, outcome text);
  end if;
  if step_hand_offs.begins <> '[]' then
    select array_agg(begun.send_id), array_agg(decode(begun.address_key, 'hex')) into v_begin_ids, v_keys
    from jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid, address_key text);
    v_stops := delivery.stop_hand_offs(step_hand_offs.project_id, v_begin_ids, v_keys);
    v_stopped := v_stops.stopped;
    v_waits := v_stops.waits;
  end if;

  perform from delivery.sends as send
  where send.project_id = step_hand_offs.project_id
  and send.send_id = any (v_taken_ids || v_other_ids || v_begin_ids)
  order by send.send_id
  for no key update;
  -- After the wait for the people, the addresses and the sends: a lease may have run out meanwhile.
  v_now := date_trunc('milliseconds', clock_timestamp());

  if step_hand_offs.outcomes <> '[]' then
    perform delivery.record_outcomes(project_id => step_hand_offs.project_id, send_ids => v_taken_ids || v_other_ids,
      outcomes => step_hand_offs.outcomes, at => v_now);
  end if;
  for begun_id, decision in
    select moved.moved_id, moved.moved_to
    from delivery.move_sends(project_id => step_hand_offs.project_id, outcomes => step_hand_offs.outcomes,
      taken_ids => v_taken_ids, begins => step_hand_offs.begins, begin_ids => v_begin_ids,
      stopped => v_stopped, waits => v_waits, at => v_now) as moved
  loop
    if decision not in ('handing_off', 'unknown', 'queued') then
      v_ended_ids := v_ended_ids || begun_id;
    end if;
    continue when begun_id = any (v_taken_ids);
    if decision = 'handing_off' then
      v_handed_ids := v_handed_ids || begun_id;
    end if;
    return next;
  end loop;
  if v_handed_ids <> '{}' then
    insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at, sent_through)
    select step_hand_offs.project_id, begun.send_id, begun.attempt, begun.message_id, begun.owner, v_now,
      begun.sent_through
    from jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid, owner text, attempt integer, message_id text,
      sent_through text)
    where begun.send_id = any (v_handed_ids);
  end if;
  if v_other_ids <> '{}' then
    select v_ended_ids || array_agg(moved.moved_id) into v_ended_ids
    from delivery.weigh_attempts(step_hand_offs.project_id, v_other_ids, step_hand_offs.outcomes) as moved
    where moved.moved_to not in ('queued', 'unknown');
  end if;

  if v_ended_ids <> '{}' then
    insert into delivery.ended (project_id, step_id, send_ids, ended_at)
    values (step_hand_offs.project_id, step_hand_offs.step_id, v_ended_ids, clock_timestamp());
  end if;
end;
$$;
--! EndIncluded delivery/step_hand_offs.sql
