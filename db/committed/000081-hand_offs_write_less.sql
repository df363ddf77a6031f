--! Previous: sha1:7fc978b7f7ba95b4b3e4b986266011f3d64ddd10
--! Hash: sha1:25b1e6f30fd8bb7ea8fedc11311e3579aae6c63e
--! Message: hand_offs_write_less

-- Claims write sends in place only where their pages have room for one more version of each.
alter table delivery.sends set (fillfactor = 45);

drop function if exists delivery.record_outcomes(uuid, uuid[], jsonb, timestamptz);
--! Included delivery/record_outcomes.sql
-- Writes on attempts what became of them. What that makes of their sends is for move_sends and weigh_attempts to say.
--
-- A resolution by a person stays on an attempt; the outcome that its worker reports is written beside it. Of sends to
-- people who were erased meanwhile, no text of the provider is kept.
create or replace function delivery.record_outcomes(
  project_id uuid,
  send_ids   uuid[],
  erased_ids uuid[],
  outcomes   jsonb,
  at         timestamptz
)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  update delivery.attempts as tried
  set ended_at = record_outcomes.at,
    outcome = ended.outcome,
    reason = case when tried.reason = 'resolved' then tried.reason else ended.reason end,
    provider_message_id = ended.provider_message_id,
    reply_code = ended.reply_code,
    reply_enhanced = ended.reply_enhanced,
    reply_text = case when ended.send_id <> all (record_outcomes.erased_ids) then ended.reply_text end,
    queue_id = ended.queue_id
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text, reply_code smallint, reply_enhanced text, reply_text text, queue_id text)
  where tried.project_id = record_outcomes.project_id
  and tried.send_id = any (record_outcomes.send_ids)
  and tried.send_id = ended.send_id
  and tried.attempt = ended.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');
end;
$$;
--! EndIncluded delivery/record_outcomes.sql
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
  v_erased_ids uuid[];
  v_keys       bytea[];
  v_stopped    text[];
  v_waits      timestamptz[];
  v_now        timestamptz;
  v_handed_ids uuid[] := '{}';
  v_ended_ids  uuid[] := '{}';
  v_charged    uuid[];
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
    select stops.stopped, stops.waits, stops.charged into v_stopped, v_waits, v_charged
    from delivery.stop_hand_offs(step_hand_offs.project_id, v_begin_ids, v_keys) as stops;
  end if;
  perform delivery.hold_charged(step_hand_offs.project_id, v_other_ids) where v_other_ids <> '{}';

  select coalesce(array_agg(held.send_id) filter (where held.recipient is null), '{}') into v_erased_ids
  from (
    select send.send_id, send.recipient from delivery.sends as send
    where send.project_id = step_hand_offs.project_id and send.send_id = any (v_taken_ids || v_other_ids || v_begin_ids)
    order by send.send_id
    for no key update
  ) as held;
  -- After the wait for the people, the addresses and the sends: a lease may have run out meanwhile.
  v_now := date_trunc('milliseconds', clock_timestamp());

  if step_hand_offs.outcomes <> '[]' then
    perform delivery.record_outcomes(project_id => step_hand_offs.project_id, send_ids => v_taken_ids || v_other_ids,
      erased_ids => v_erased_ids, outcomes => step_hand_offs.outcomes, at => v_now);
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
    perform delivery.begin_attempts(project_id => step_hand_offs.project_id, begins => step_hand_offs.begins,
      handed_ids => v_handed_ids, charged_ids => v_charged, at => v_now);
  end if;
  if v_other_ids <> '{}' then
    select v_ended_ids || array_agg(moved.moved_id) into v_ended_ids
    from delivery.weigh_attempts(step_hand_offs.project_id, v_other_ids, step_hand_offs.outcomes) as moved
    where moved.moved_to not in ('queued', 'unknown');
    perform delivery.refund_budget(step_hand_offs.project_id, step_hand_offs.outcomes);
  end if;

  if v_ended_ids <> '{}' then
    insert into delivery.ended (project_id, step_id, send_ids, ended_at)
    values (step_hand_offs.project_id, step_hand_offs.step_id, v_ended_ids, clock_timestamp());
  end if;
end;
$$;
--! EndIncluded delivery/step_hand_offs.sql
