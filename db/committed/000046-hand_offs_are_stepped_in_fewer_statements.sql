--! Previous: sha1:60f07c0d82db150484e9596b2564242160ec3539
--! Hash: sha1:ac948b9ff707a170ced2e150522f93b4e095da6a
--! Message: hand_offs_are_stepped_in_fewer_statements

-- Enter migration here
drop function if exists delivery.begin_hand_offs(uuid, jsonb, text[], timestamptz[]);
drop function if exists delivery.record_outcomes(uuid, jsonb);
--! Included profiles/hold_living.sql
-- Says whether each of some people is there and not about to be erased; stays true until the transaction ends.
--
-- Each is an identity and the profile that it had when the caller last looked; no identity where nobody knows
-- which. Their rows are locked as weakly as makes an erase that is asked for later wait for us; one that was asked
-- for before is seen. In the order of all locks: all identities first, by kind and value, then the profiles.
-- Alone: so that nobody else holds any of the people meanwhile, by the profile that each identity has now.
create or replace function profiles.hold_living(
  project_id   uuid,
  identity_ids uuid[],
  profile_ids  uuid[],
  is_alone     boolean default false
)
returns boolean[]
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity_ids uuid[];
  v_profile_ids  uuid[];
  v_answers      boolean[] := '{}';
begin
  -- Each is looked up by its key: asked for together, before the first analyze, all of the project's would be read.
  select array(
    select held.identity_id
    from (
      select known.identity_id
      from unnest(hold_living.identity_ids) as told (identity_id)
      cross join lateral (
        select found.identity_id, found.kind, found.value from identity.identities as found
        where found.project_id = hold_living.project_id and found.identity_id = told.identity_id
        limit 1
      ) as known
      order by known.kind, known.value
    ) as named
    cross join lateral (
      select found.identity_id from identity.identities as found
      where found.project_id = hold_living.project_id and found.identity_id = named.identity_id
      and found.erasure_id is null
      limit 1
      for key share
    ) as held
  ) into v_identity_ids;
  if hold_living.is_alone then
    perform profiles.hold_alone(hold_living.project_id, v_identity_ids, hold_living.profile_ids);
  end if;
  select array(
    select held.profile_id
    from (
      select asked.profile_id from unnest(hold_living.profile_ids) as asked (profile_id)
      order by asked.profile_id
    ) as named
    cross join lateral (
      select found.profile_id from profiles.profiles as found
      where found.project_id = hold_living.project_id and found.profile_id = named.profile_id
      and found.erasure_id is null
      limit 1
      for share
    ) as held
  ) into v_profile_ids;
  for v_place in 1 .. coalesce(cardinality(hold_living.profile_ids), 0) loop
    v_answers[v_place] := hold_living.profile_ids[v_place] = any (v_profile_ids)
      and (hold_living.identity_ids[v_place] is null or hold_living.identity_ids[v_place] = any (v_identity_ids));
  end loop;
  return v_answers;
end;
$$;
--! EndIncluded profiles/hold_living.sql
--! Included suppression/stop_mails.sql
-- Says why each of some addresses gets no mail of a category, or null; stays true until the transaction ends.
--
-- The rows are locked in share mode, in the order of all locks: a suppression or an unsubscribe that comes later
-- waits for us, one that came earlier is seen. The row exists from the moment a send to the address is planned:
-- asking for one that has none is a bug. Transactional mail is stopped by suppressions only.
-- Alone: so that nobody else asks about any of them meanwhile.
create or replace function suppression.stop_mails(
  project_id   uuid,
  address_keys bytea[],
  categories   text[],
  is_alone     boolean default false
)
returns text[]
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_keys         bytea[];
  v_suppressed   bytea[];
  v_unsubscribed bytea[];
  v_key          bytea;
  v_answers      text[] := '{}';
begin
  if stop_mails.is_alone then
    perform from suppression.addresses as address
    where address.project_id = stop_mails.project_id and address.address_key = any (stop_mails.address_keys)
    order by address.address_key
    for no key update;
  end if;
  select array_agg(held.address_key),
    array_agg(held.address_key) filter (where held.suppressed_at is not null),
    array_agg(held.address_key)
      filter (where held.unsubscribed_at >= coalesce(held.resubscribed_at, '-infinity'))
  into v_keys, v_suppressed, v_unsubscribed
  from (
    select address.address_key, address.suppressed_at, address.unsubscribed_at, address.resubscribed_at
    from suppression.addresses as address
    where address.project_id = stop_mails.project_id and address.address_key = any (stop_mails.address_keys)
    order by address.address_key
    for share
  ) as held;
  for v_place in 1 .. coalesce(cardinality(stop_mails.address_keys), 0) loop
    v_key := stop_mails.address_keys[v_place];
    if (v_key = any (v_keys)) is not true then
      raise exception 'an address is not known';
    end if;
    v_answers[v_place] := case
      when v_key = any (v_suppressed) then 'suppressed'
      when stop_mails.categories[v_place] <> 'transactional' and v_key = any (v_unsubscribed) then 'unsubscribed'
    end;
  end loop;
  return v_answers;
end;
$$;
--! EndIncluded suppression/stop_mails.sql
--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones; and says of each whether
-- its limits may keep it by now: of one that was planned a moment ago they were asked then.
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
    send.limits is not null
      and (send.status_reason is not null or send.queued_at < v_now - interval '10 seconds');
end;
$$;
--! EndIncluded delivery/claim_sends.sql
--! Included delivery/stop_hand_offs.sql
-- Says why each of some sends must not be handed over now, or null; stays true until the transaction ends.
--
-- 'erased' (the person), 'suppressed', 'unsubscribed' (from mail of this category) or 'expired'; then what its limits
-- say (delivery.limit_hand_offs), with until when it waits, where it does. Locks the people, then the addresses, each
-- kind in its own order, as every erase and every suppression does; alone where any of the sends has limits, so
-- that what they count stays so. Null of all when there is none of the sends.
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
  v_limited      record;
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
  if not v_is_limited then
    return;
  end if;

  waits := array_fill(null::timestamptz, array[cardinality(stop_hand_offs.send_ids)]);
  for v_limited in
    select limited.place, limited.stop, limited.wait_until
    from delivery.limit_hand_offs(project_id => stop_hand_offs.project_id, send_ids => stop_hand_offs.send_ids,
      stopped => stop_hand_offs.stopped) as limited
  loop
    stopped[v_limited.place] := v_limited.stop;
    waits[v_limited.place] := v_limited.wait_until;
  end loop;
end;
$$;
--! EndIncluded delivery/stop_hand_offs.sql
--! Included delivery/record_outcomes.sql
-- Writes on attempts what became of them. What that makes of their sends is for move_sends and weigh_attempts to say.
--
-- What somebody has said of an attempt stays on it; what its owner finds out comes beside it.
create or replace function delivery.record_outcomes(project_id uuid, send_ids uuid[], outcomes jsonb, at timestamptz)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  update delivery.attempts as tried
  set ended_at = record_outcomes.at,
    outcome = ended.outcome,
    reason = case when tried.reason = 'resolved' then tried.reason else ended.reason end,
    provider_message_id = ended.provider_message_id
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text)
  where tried.project_id = record_outcomes.project_id
  and tried.send_id = any (record_outcomes.send_ids)
  and tried.send_id = ended.send_id
  and tried.attempt = ended.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');
end;
$$;
--! EndIncluded delivery/record_outcomes.sql
--! Included delivery/move_sends.sql
-- Moves the sends of a step on: those that were taken, and those that are about to be given to the provider, or that
-- something ends instead, or lets wait. Answers which moved, and to where. In one statement: what an update of sends
-- costs by itself is most of what a step costs.
--
-- Of outcomes: accepted is final, whichever of the attempts it was. While another is in flight it is noted on the send,
-- and comes true when that one ends. Others are for weigh_attempts.
--
-- Of begins, each with its id and what stop_hand_offs said of it, in the same order: 'handing_off' when the caller now
-- owns this attempt; 'queued' when it waits until its limits let it; 'cancelled' (the person is erased, or has had
-- enough), 'suppressed' (or unsubscribed from mail of this category) or 'expired' when the send has ended; 'unknown'
-- when it would have, and an earlier hand-off of it may have been taken. Nothing of a send that is no longer the
-- caller's to hand off, as one that turns out to be taken. No waits at all: none of them does.
create or replace function delivery.move_sends(
  project_id uuid,
  outcomes   jsonb,
  taken_ids  uuid[],
  begins     jsonb,
  begin_ids  uuid[],
  stopped    text[],
  waits      timestamptz[],
  at         timestamptz
)
returns table (moved_id uuid, moved_to text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_unresolved uuid[];
begin
  if num_nonnulls(variadic move_sends.stopped) > 0 then
    v_unresolved := delivery.list_unresolved(move_sends.project_id, move_sends.begin_ids);
  end if;
  return query
  update delivery.sends as send
  set status = case when send.status = 'handing_off' and send.attempt_count <> moved.attempt then send.status
      else moved.status end,
    status_reason = moved.reason,
    due_at = case when moved.status = 'unknown' then 'infinity' else coalesce(moved.wait_until, send.due_at) end,
    -- Whoever looks for a message that may be out looks for its subject.
    subject = case
      when moved.status = 'handing_off' then moved.subject
      when moved.status = 'accepted' or (moved.status in ('unknown', 'queued') and moved.reason <> 'erased')
        then send.subject
    end,
    attempt_count = case when moved.status = 'handing_off' then moved.attempt else send.attempt_count end,
    handed_off_at = case when moved.status = 'handing_off' then move_sends.at else send.handed_off_at end,
    accepted_at = case when moved.status = 'accepted' then move_sends.at else send.accepted_at end,
    provider_message_id = coalesce(moved.provider_message_id, send.provider_message_id),
    lease_owner = case when moved.status = 'handing_off'
      or (send.status = 'handing_off' and send.attempt_count <> moved.attempt) then send.lease_owner end,
    lease_until = case when moved.status = 'handing_off'
      or (send.status = 'handing_off' and send.attempt_count <> moved.attempt) then send.lease_until end
  from (
    select ended.send_id, ended.attempt, 'accepted' as status, ended.reason, ended.provider_message_id, null as owner,
      null as subject, null::timestamptz as wait_until
    from jsonb_to_recordset(move_sends.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
      provider_message_id text)
    where ended.outcome = 'accepted'
    union all
    select begun.send_id, begun.attempt, case
        when begun.stopped is null then 'handing_off'
        when begun.wait_until is not null then 'queued'
        when begun.send_id = any (v_unresolved) then 'unknown'
        else delivery.end_for(begun.stopped)
      end, begun.stopped, null, begun.owner, begun.subject, begun.wait_until
    from rows from (
      jsonb_to_recordset(move_sends.begins) as (send_id uuid, owner text, attempt integer, subject text),
      unnest(move_sends.stopped), unnest(move_sends.waits)
    ) as begun (send_id, owner, attempt, subject, stopped, wait_until)
    where begun.send_id <> all (move_sends.taken_ids)
  ) as moved
  where send.project_id = move_sends.project_id
  and send.send_id = any (move_sends.taken_ids || move_sends.begin_ids)
  and send.send_id = moved.send_id
  and case
    when moved.status = 'accepted' then send.status in ('handing_off', 'unknown')
      or (send.status = 'queued' and moved.attempt <= send.attempt_count)
    else send.status = 'queued' and send.lease_owner = moved.owner and send.lease_until > move_sends.at
      and send.attempt_count = moved.attempt - 1
  end
  returning send.send_id, send.status;
end;
$$;
--! EndIncluded delivery/move_sends.sql
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
    select array_agg(begun.send_id), array_agg(decode(begun.address_key, 'hex'))
    into v_begin_ids, v_keys
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
    insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at)
    select step_hand_offs.project_id, begun.send_id, begun.attempt, begun.message_id, begun.owner, v_now
    from jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid, owner text, attempt integer, message_id text)
    where begun.send_id = any (v_handed_ids);
  end if;
  if v_other_ids <> '{}' then
    select v_ended_ids || array_agg(moved.moved_id)
    into v_ended_ids
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
