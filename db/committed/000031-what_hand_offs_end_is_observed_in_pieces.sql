--! Previous: sha1:9ee576db00b675564bc15c1f5a3adfae241b9d42
--! Hash: sha1:9a49fee538efcd6c9f9a8d2d46479ac0d9e3dd6f
--! Message: what_hand_offs_end_is_observed_in_pieces

-- What hand-offs end is observed on timelines in large pieces, beside their commits.

-- Sends that ended, and are not on their people's timelines yet. A row for each commit of hand-offs.
create table if not exists delivery.ended (
  project_id uuid not null,
  step_id    uuid not null,
  send_ids   uuid[] not null,
  ended_at   timestamptz(3) not null,
  primary key (project_id, step_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
select base.isolate_table('delivery.ended');
select base.open_to_queue('delivery.ended');
select base.declare_columns('delivery.ended', '{}', '{}', '{project_id, step_id, send_ids, ended_at}');
grant select, insert, update, delete on delivery.ended to trunkline_runtime;
grant select (project_id, step_id, ended_at) on delivery.ended to trunkline_queue;

drop function if exists delivery.observe_sends(uuid, uuid, uuid[], uuid[]);
--! Included delivery/observe_sends.sql
-- Puts on people's timelines what has become of their sends: email_sent or email_skipped.
--
-- Once for each time that it is called, so it is called by whoever moved a send to where it stays, in the same
-- transaction, or deletes the note of it (delivery.ended). Each send with the id of its event, and when it ended.
-- Of whom nobody is known any more nothing is told. Answers how many events there are.
create or replace function delivery.observe_sends(
  project_id uuid,
  flush_id   uuid,
  send_ids   uuid[],
  event_ids  uuid[],
  ended_ats  timestamptz[]
)
returns integer
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_events     uuid[];
  v_ended_ats  timestamptz[];
  v_names      text[];
  v_externals  text[];
  v_devices    text[];
  v_properties jsonb[];
begin
  select array_agg(observed.event_id), array_agg(observed.ended_at), array_agg(said.name),
    array_agg(case when known.kind = 'external' then known.value end),
    array_agg(case when known.kind = 'anonymous' then known.value end),
    array_agg(jsonb_strip_nulls(jsonb_build_object('send_id', observed.send_id, 'automation_id', send.automation_id,
      'step_id', send.step_id, 'template_id', send.template_id, 'reason', said.reason)))
  into v_events, v_ended_ats, v_names, v_externals, v_devices, v_properties
  from unnest(observe_sends.send_ids, observe_sends.event_ids, observe_sends.ended_ats)
    as observed (send_id, event_id, ended_at)
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
    occurred_ats => v_ended_ats,
    key_kinds => array_fill(null::text, array[cardinality(v_events)]),
    sources => array_fill('system'::text, array[cardinality(v_events)])
  );
  return cardinality(v_events);
end;
$$;
--! EndIncluded delivery/observe_sends.sql
drop function if exists delivery.step_hand_offs(uuid, uuid, jsonb, jsonb);
--! Included delivery/step_hand_offs.sql
-- Writes what became of some attempts and begins others, all in one commit: what free lanes of one turn wait for
-- at the same moment. Answers what begin_hand_offs says of each that begins. What ends is noted, to be observed on
-- its person's timeline together with what other steps end (delivery.ended).
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
  v_begin_ids uuid[];
  v_end_ids   uuid[];
  v_ended_ids uuid[] := '{}';
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
    select coalesce(array_agg(moved.moved_id), '{}')
    into v_ended_ids
    from delivery.record_outcomes(project_id => step_hand_offs.project_id,
      outcomes => step_hand_offs.outcomes) as moved
    where moved.moved_to not in ('queued', 'unknown');
  end if;
  if v_begin_ids is not null then
    for begun_id, decision in
      select begun.begun_id, begun.decision
      from delivery.begin_hand_offs(project_id => step_hand_offs.project_id, begins => step_hand_offs.begins,
        stopped => v_stopped) as begun
    loop
      if decision <> 'handing_off' then
        v_ended_ids := v_ended_ids || begun_id;
      end if;
      return next;
    end loop;
  end if;

  if v_ended_ids <> '{}' then
    insert into delivery.ended (project_id, step_id, send_ids, ended_at)
    values (step_hand_offs.project_id, step_hand_offs.step_id, v_ended_ids, clock_timestamp());
  end if;
end;
$$;
--! EndIncluded delivery/step_hand_offs.sql
