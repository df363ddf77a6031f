--! Previous: sha1:a17c9f5b80624a2c49b3548f8443e080f458d019
--! Hash: sha1:de09228a865476bc5a29388d418ab137ed50ca19
--! Message: paused_automations_keep_their_mail

-- Enter migration here
-- Automations of which nothing is handed over: one that is paused, for as long as it is, and one that is archived.
create table if not exists delivery.halts (
  project_id    uuid not null,
  automation_id uuid not null,
  stop          text not null
    constraint halts_stop_is_known check (stop in ('automation_paused', 'automation_archived')),
  primary key (project_id, automation_id)
);
select base.isolate_table('delivery.halts');
select base.declare_columns('delivery.halts', '{}', '{}', '{project_id,automation_id,stop}');
grant select, insert, update (stop), delete on delivery.halts to trunkline_runtime;

-- The rows of all projects, which row-level security keeps from the owner too while it is forced.
alter table automations.automations no force row level security;
alter table delivery.halts no force row level security;
insert into delivery.halts (project_id, automation_id, stop)
select automation.project_id, automation.automation_id, 'automation_' || automation.status
from automations.automations as automation
where automation.status in ('paused', 'archived')
on conflict do nothing;
alter table automations.automations force row level security;
alter table delivery.halts force row level security;

--! Included delivery/end_for.sql
-- The end of a send that waits and is stopped for this reason; null of what stops none.
create or replace function delivery.end_for(stop text)
returns text
language sql immutable
as $$
  select case
    when end_for.stop in ('suppressed', 'unsubscribed') then 'suppressed'
    when end_for.stop in ('cancelled', 'erased', 'provider_deleted', 'automation_archived', 'frequency_cap',
      'unconfirmed_address') then 'cancelled'
    when end_for.stop in ('expired', 'failed_render') then end_for.stop
  end;
$$;
--! EndIncluded delivery/end_for.sql
--! Included delivery/halt_hand_offs.sql
-- Says which of some sends are not handed over because their automation is paused or archived: by place, why, and
-- until when it waits, or null where it is not sent at all. A test of an automation goes on, however that stands.
--
-- The halt stays until the transaction ends, so that whoever lifts it finds all that waits because of it. One that is
-- just being set or lifted is not waited for: it is none yet, or none any more.
create or replace function delivery.halt_hand_offs(project_id uuid, send_ids uuid[])
returns table (place bigint, stop text, wait_until timestamptz)
language plpgsql volatile
set search_path = ''
as $$
begin
  if not exists (select from delivery.halts as halt where halt.project_id = halt_hand_offs.project_id) then
    return;
  end if;

  return query
  select asked.place, halt.stop,
    case when halt.stop = 'automation_paused' then clock_timestamp() + interval '1 hour' end
  from unnest(halt_hand_offs.send_ids) with ordinality as asked (send_id, place)
  cross join lateral (
    select known.automation_id
    from delivery.sends as known
    where known.project_id = halt_hand_offs.project_id and known.send_id = asked.send_id and not known.is_test
    limit 1
  ) as send
  join delivery.halts as halt on halt.project_id = halt_hand_offs.project_id and halt.automation_id = send.automation_id
  for share of halt skip locked;
end;
$$;
--! EndIncluded delivery/halt_hand_offs.sql
--! Included delivery/stop_hand_offs.sql
-- Says why each of some sends must not be handed over now, or null; stays true until the transaction ends.
--
-- 'erased' (the person), 'suppressed', 'unsubscribed' (from mail of this category) or 'expired'; then that its
-- automation is not live (delivery.halt_hand_offs), then what its limits say (delivery.limit_hand_offs), both with
-- until when it waits, where it does. Locks the people, then the addresses, each kind in its own order, as every erase
-- and every suppression does; alone where any of the sends has limits, so that what they count stays so. Null of all
-- when there is none of the sends.
create or replace function delivery.stop_hand_offs(
  project_id   uuid,
  send_ids     uuid[],
  address_keys bytea[],
  out stopped  text[],
  out waits    timestamptz[]
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_identity_ids uuid[];
  v_profile_ids  uuid[];
  v_categories   text[];
  v_expire_ats   timestamptz[];
  v_is_limited   boolean;
  v_living       boolean[];
  v_stopped      text[];
  v_kept         record;
begin
  select array_agg(asked.identity_id), array_agg(asked.profile_id), array_agg(asked.category),
    array_agg(asked.expires_at), count(asked.limits) > 0
  into v_identity_ids, v_profile_ids, v_categories, v_expire_ats, v_is_limited
  from (
    select send.identity_id, send.profile_id, send.category, send.expires_at, send.limits
    from unnest(stop_hand_offs.send_ids) with ordinality as named (send_id, ordinal)
    left join lateral (
      select known.identity_id, known.profile_id, known.category, known.expires_at, known.limits
      from delivery.sends as known
      where known.project_id = stop_hand_offs.project_id and known.send_id = named.send_id
      limit 1
    ) as send on true
    order by named.ordinal
  ) as asked;

  v_living := profiles.hold_living(project_id => stop_hand_offs.project_id, identity_ids => v_identity_ids,
    profile_ids => v_profile_ids, is_alone => v_is_limited);
  v_stopped := suppression.stop_mails(project_id => stop_hand_offs.project_id,
    address_keys => stop_hand_offs.address_keys, categories => v_categories, is_alone => v_is_limited);
  stopped := '{}';
  for v_place in 1 .. cardinality(stop_hand_offs.send_ids) loop
    stopped[v_place] := case
      when v_living[v_place] is not true then 'erased'
      when v_stopped[v_place] is not null then v_stopped[v_place]
      when v_expire_ats[v_place] <= clock_timestamp() then 'expired'
    end;
  end loop;

  for v_kept in
    select halted.place, halted.stop, halted.wait_until
    from delivery.halt_hand_offs(stop_hand_offs.project_id, stop_hand_offs.send_ids) as halted
    where stop_hand_offs.stopped[halted.place] is null
  loop
    waits := coalesce(waits, array_fill(null::timestamptz, array[cardinality(stop_hand_offs.send_ids)]));
    stopped[v_kept.place] := v_kept.stop;
    waits[v_kept.place] := v_kept.wait_until;
  end loop;
  if not v_is_limited then
    return;
  end if;

  waits := coalesce(waits, array_fill(null::timestamptz, array[cardinality(stop_hand_offs.send_ids)]));
  for v_kept in
    select limited.place, limited.stop, limited.wait_until
    from delivery.limit_hand_offs(project_id => stop_hand_offs.project_id, send_ids => stop_hand_offs.send_ids,
      stopped => stop_hand_offs.stopped) as limited
  loop
    stopped[v_kept.place] := v_kept.stop;
    waits[v_kept.place] := v_kept.wait_until;
  end loop;
end;
$$;
--! EndIncluded delivery/stop_hand_offs.sql
--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones; and says of each whether
-- its limits may keep it by now (of one that was planned a moment ago they were asked then), or its automation does.
--
-- A lease only saves work: what may be handed off is decided by step_hand_offs. It runs out by the
-- database's clock when its owner dies. Nothing is leased while sending is held.
create or replace function delivery.claim_sends(
  project_id  uuid,
  provider_id uuid,
  owner       text,
  sends_max   integer,
  lease_for   interval
)
returns table (
  send_id           uuid,
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
  may_be_limited    boolean
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  if base.is_sending_held() then
    return;
  end if;

  select array_agg(due.send_id)
  into v_ids
  from (
    select send.send_id
    from delivery.sends as send
    where send.project_id = claim_sends.project_id
    and send.provider_id = claim_sends.provider_id
    and send.status = 'queued'
    and send.due_at <= v_now
    and send.expires_at > v_now
    and (send.lease_until is null or send.lease_until < v_now)
    order by send.due_at, send.send_id
    limit claim_sends.sends_max
    for update skip locked
  ) as due;

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1, send.is_test,
    (send.limits is not null and (send.status_reason is not null or send.queued_at < v_now - interval '10 seconds'))
      or exists (
        select from delivery.halts as halt
        where halt.project_id = claim_sends.project_id and halt.automation_id = send.automation_id and not send.is_test
      );
end;
$$;
--! EndIncluded delivery/claim_sends.sql
--! Included delivery/put_off_sends.sql
-- Lets those of some leased sends wait whose limits or whose paused automation keep them for now, as if nobody had
-- claimed them; answers which.
--
-- A look before they are rendered, which holds nobody: whatever goes on is asked again when it is handed over.
create or replace function delivery.put_off_sends(project_id uuid, send_ids uuid[], owner text)
returns setof uuid
language plpgsql volatile
set search_path = ''
as $$
declare
  v_stopped text[] := array_fill(null::text, array[cardinality(put_off_sends.send_ids)]);
  v_halted  record;
  v_ids     uuid[] := '{}';
  v_stops   text[] := '{}';
  v_untils  timestamptz[] := '{}';
begin
  for v_halted in
    select halted.place, halted.stop, halted.wait_until
    from delivery.halt_hand_offs(put_off_sends.project_id, put_off_sends.send_ids) as halted
  loop
    v_stopped[v_halted.place] := v_halted.stop;
    continue when v_halted.wait_until is null;
    v_ids := v_ids || put_off_sends.send_ids[v_halted.place];
    v_stops := v_stops || v_halted.stop;
    v_untils := v_untils || v_halted.wait_until;
  end loop;
  select v_ids || coalesce(array_agg(put_off_sends.send_ids[limited.place]), '{}'),
    v_stops || coalesce(array_agg(limited.stop), '{}'), v_untils || coalesce(array_agg(limited.wait_until), '{}')
  into v_ids, v_stops, v_untils
  from delivery.limit_hand_offs(
    project_id => put_off_sends.project_id,
    send_ids => put_off_sends.send_ids,
    stopped => v_stopped,
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
