--! Previous: sha1:bdebec00985a7b84c79a933acb42b23c4ed13dae
--! Hash: sha1:9be31d18dc982bce7ebbcea8e8dd9baf76cf051d
--! Message: ends_of_sends_are_on_the_timeline

drop function if exists delivery.step_hand_offs;
drop function if exists delivery.record_feedback;
drop function if exists delivery.settle_lost;
--! Included profiles/known_as.sql
-- Says by what identifiers some identities are known: of those that are there and not about to be erased.
create or replace function profiles.known_as(project_id uuid, identity_ids uuid[])
returns table (identity_id uuid, kind text, value text)
language sql stable
as $$
  select known.identity_id, known.kind, known.value
  from unnest(known_as.identity_ids) as asked (identity_id)
  cross join lateral (
    select found.identity_id, found.kind, found.value
    from identity.identities as found
    where found.project_id = known_as.project_id and found.identity_id = asked.identity_id and found.erasure_id is null
    limit 1
  ) as known
$$;
--! EndIncluded profiles/known_as.sql
--! Included delivery/observe_sends.sql
-- Puts on people's timelines what has become of their sends: email_sent or email_skipped.
--
-- Once for each time that it is called, so it is called by whoever moved a send to where it stays, in the same
-- transaction. Each send with the id of its event. Of whom nobody is known any more nothing is told. Answers
-- how many events there are.
create or replace function delivery.observe_sends(project_id uuid, flush_id uuid, send_ids uuid[], event_ids uuid[])
returns integer
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_events     uuid[];
  v_names      text[];
  v_externals  text[];
  v_devices    text[];
  v_properties jsonb[];
begin
  select array_agg(observed.event_id), array_agg(said.name),
    array_agg(case when known.kind = 'external' then known.value end),
    array_agg(case when known.kind = 'anonymous' then known.value end),
    array_agg(jsonb_strip_nulls(jsonb_build_object('send_id', observed.send_id, 'automation_id', send.automation_id,
      'step_id', send.step_id, 'template_id', send.template_id, 'reason', said.reason)))
  into v_events, v_names, v_externals, v_devices, v_properties
  from unnest(observe_sends.send_ids, observe_sends.event_ids) as observed (send_id, event_id)
  cross join lateral (
    select found.status, found.status_reason, found.identity_id, found.automation_id, found.step_id, found.template_id
    from delivery.sends as found
    where found.project_id = observe_sends.project_id and found.send_id = observed.send_id
    limit 1
  ) as send
  cross join lateral profiles.known_as(observe_sends.project_id, array[send.identity_id]) as known
  cross join lateral (
    select case when send.status = 'accepted' then 'email_sent' else 'email_skipped' end as name,
      case
        when send.status in ('rejected', 'failed_render') then send.status
        when send.status <> 'accepted' then coalesce(send.status_reason, send.status)
      end as reason
  ) as said
  where send.status not in ('queued', 'handing_off', 'unknown');

  if v_events is null then
    return 0;
  end if;
  perform from ingest.accept_events(
    project_id => observe_sends.project_id,
    flush_id => observe_sends.flush_id,
    event_ids => v_events,
    message_keys => array_fill(null::uuid, array[cardinality(v_events)]),
    names => v_names,
    external_ids => v_externals,
    anonymous_ids => v_devices,
    properties => v_properties,
    occurred_ats => array_fill(null::timestamptz, array[cardinality(v_events)]),
    key_kinds => array_fill(null::text, array[cardinality(v_events)]),
    sources => array_fill('system'::text, array[cardinality(v_events)])
  );
  return cardinality(v_events);
end;
$$;
--! EndIncluded delivery/observe_sends.sql
--! Included delivery/step_hand_offs.sql
-- Writes what became of some attempts and begins others, all in one commit: what free lanes of one turn wait for
-- at the same moment. Answers what begin_hand_offs says of each that begins. What ends is observed on its person's
-- timeline, as one flush: each outcome and each begin brings the id of the event that it may become.
--
-- Every person is locked before any address, every address before any send, each kind in its own order: the order
-- of all who need several. One statement of the client, so one transaction.
create or replace function delivery.step_hand_offs(project_id uuid, flush_id uuid, outcomes jsonb, begins jsonb)
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_begin_ids uuid[];
  v_end_ids   uuid[];
  v_moved_ids uuid[] := '{}';
  v_event_ids uuid[];
  v_keys      bytea[];
  v_stopped   text[];
begin
  perform set_config('trunkline.project_id', step_hand_offs.project_id::text, true);

  select array_agg(ended.send_id)
  into v_end_ids
  from jsonb_to_recordset(step_hand_offs.outcomes) as ended (send_id uuid);
  select array_agg(begun.send_id), array_agg(decode(begun.address_key, 'hex'))
  into v_begin_ids, v_keys
  from jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid, address_key text);

  if v_begin_ids is not null then
    v_stopped := delivery.stop_hand_offs(project_id => step_hand_offs.project_id, send_ids => v_begin_ids,
      address_keys => v_keys);
  end if;

  perform from delivery.sends as send
  where send.project_id = step_hand_offs.project_id and send.send_id = any (v_end_ids || v_begin_ids)
  order by send.send_id
  for no key update;

  if v_end_ids is not null then
    select array_agg(moved.moved_id)
    into v_moved_ids
    from delivery.record_outcomes(project_id => step_hand_offs.project_id,
      outcomes => step_hand_offs.outcomes) as moved;
  end if;
  if v_begin_ids is not null then
    for begun_id, decision in
      select begun.begun_id, begun.decision
      from delivery.begin_hand_offs(project_id => step_hand_offs.project_id, begins => step_hand_offs.begins,
        stopped => v_stopped) as begun
    loop
      v_moved_ids := v_moved_ids || begun_id;
      return next;
    end loop;
  end if;

  select array_agg(stepped.send_id), array_agg(stepped.event_id)
  into v_moved_ids, v_event_ids
  from jsonb_to_recordset(step_hand_offs.outcomes || step_hand_offs.begins) as stepped (send_id uuid, event_id uuid)
  where stepped.send_id = any (v_moved_ids);
  perform delivery.observe_sends(project_id => step_hand_offs.project_id, flush_id => step_hand_offs.flush_id,
    send_ids => v_moved_ids, event_ids => v_event_ids);
end;
$$;
--! EndIncluded delivery/step_hand_offs.sql
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome we never learned proves that the provider took it, also when it waits
-- already to be handed over again; 'taken' says no more. Answers whether it proved that now.
create or replace function delivery.record_feedback(project_id uuid, send_id uuid, fact text, occurred_at timestamptz)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_before text;
  v_after  text;
begin
  select send.status into v_before from delivery.sends as send
  where send.project_id = record_feedback.project_id and send.send_id = record_feedback.send_id
  for no key update;

  update delivery.sends as send
  set delivered_at = case when record_feedback.fact = 'delivered'
      then least(send.delivered_at, record_feedback.occurred_at) else send.delivered_at end,
    bounced_at = case when record_feedback.fact = 'bounced'
      then least(send.bounced_at, record_feedback.occurred_at) else send.bounced_at end,
    complained_at = case when record_feedback.fact = 'complained'
      then least(send.complained_at, record_feedback.occurred_at) else send.complained_at end,
    taken_at = case when record_feedback.fact = 'taken'
      then least(send.taken_at, record_feedback.occurred_at) else send.taken_at end,
    -- Accepted on the strength of feedback alone is accepted since the earliest fact.
    accepted_at = case
      when send.status = 'unknown' or (send.status = 'queued' and send.on_unknown = 'resend' and send.attempt_count > 0)
        or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(send.accepted_at, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case
      when send.status = 'unknown' then 'accepted'
      when send.status = 'queued' and send.on_unknown = 'resend' and send.attempt_count > 0 then 'accepted'
      else send.status
    end,
    status_reason = case
      when send.status = 'queued' and send.on_unknown = 'resend' and send.attempt_count > 0 then 'outcome_unknown'
      else send.status_reason
    end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id
  returning send.status into v_after;
  return v_before <> v_after and v_after = 'accepted';
end;
$$;
--! EndIncluded delivery/record_feedback.sql
--! Included delivery/settle_lost.sql
-- Ends hand-offs whose outcome will never be known; answers which. What was only leased comes back by itself.
--
-- A send in handing_off may be with the provider already: it becomes unknown, never queued. One that was planned
-- to be sent again is so after resend_after, unless feedback has come by then.
-- Its owner is known to be dead, or has been silent for longer than any hand-off may take.
create or replace function delivery.settle_lost(
  project_id   uuid,
  dead_owners  text[],
  silent_for   interval,
  resend_after interval
)
returns uuid[]
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now  timestamptz := clock_timestamp();
  v_lost delivery.sends[];
  v_ids  uuid[];
begin
  select array_agg(lost)
  into v_lost
  from (
    select send.*
    from delivery.sends as send
    where send.project_id = settle_lost.project_id
    and send.status = 'handing_off'
    and (send.lease_owner = any (settle_lost.dead_owners) or send.handed_off_at < v_now - settle_lost.silent_for)
    for update skip locked
  ) as lost;

  update delivery.sends as send
  set status = case when num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0
      then 'accepted' else 'unknown' end,
    status_reason = 'outcome_unknown',
    due_at = v_now + settle_lost.resend_after,
    accepted_at = least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at),
    lease_owner = null,
    lease_until = null
  where send.project_id = settle_lost.project_id
  and send.send_id in (select lost.send_id from unnest(v_lost) as lost);

  update delivery.attempts as tried
  set ended_at = v_now, outcome = 'unknown', reason = 'outcome_unknown'
  where tried.project_id = settle_lost.project_id
  and (tried.send_id, tried.attempt) in (select lost.send_id, lost.attempt_count from unnest(v_lost) as lost);

  select array(select lost.send_id from unnest(v_lost) as lost) into v_ids;
  return v_ids;
end;
$$;
--! EndIncluded delivery/settle_lost.sql
