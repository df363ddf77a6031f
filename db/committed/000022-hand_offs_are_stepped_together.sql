--! Previous: sha1:925d2708d535b6b585ae5e890f42fab935d73468
--! Hash: sha1:bdebec00985a7b84c79a933acb42b23c4ed13dae
--! Message: hand_offs_are_stepped_together

drop function if exists delivery.begin_hand_off;
drop function if exists delivery.record_outcome;
drop function if exists profiles.is_erased;
drop function if exists profiles.hold_living;
--! Included profiles/hold_living.sql
-- Says whether each of some people is there and not about to be erased; stays true until the transaction ends.
--
-- Each is an identity and the profile that it had when the caller last looked; no identity where nobody knows
-- which. Their rows are locked as weakly as makes an erase that is asked for later wait for us; one that was asked
-- for before is seen. In the order of all locks: all identities first, by kind and value, then the profiles.
create or replace function profiles.hold_living(project_id uuid, identity_ids uuid[], profile_ids uuid[])
returns boolean[]
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity_ids uuid[];
  v_profile_ids  uuid[];
  v_answers      boolean[];
begin
  select array(
    select known.identity_id from identity.identities as known
    where known.project_id = hold_living.project_id and known.identity_id = any (hold_living.identity_ids)
    and known.erasure_id is null
    order by known.kind, known.value
    for key share
  ) into v_identity_ids;
  select array(
    select profile.profile_id from profiles.profiles as profile
    where profile.project_id = hold_living.project_id and profile.profile_id = any (hold_living.profile_ids)
    and profile.erasure_id is null
    order by profile.profile_id
    for share
  ) into v_profile_ids;
  select array(
    select asked.profile_id = any (v_profile_ids)
      and (asked.identity_id is null or asked.identity_id = any (v_identity_ids))
    from unnest(hold_living.identity_ids, hold_living.profile_ids)
      with ordinality as asked (identity_id, profile_id, ordinal)
    order by asked.ordinal
  ) into v_answers;
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
create or replace function suppression.stop_mails(project_id uuid, address_keys bytea[], categories text[])
returns text[]
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_keys         bytea[];
  v_suppressed   bytea[];
  v_unsubscribed bytea[];
  v_answers      text[];
begin
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
  if exists (
    select from unnest(stop_mails.address_keys) as asked (address_key)
    where (asked.address_key = any (v_keys)) is not true
  ) then
    raise exception 'an address is not known';
  end if;
  select array(
    select case
      when asked.address_key = any (v_suppressed) then 'suppressed'
      when asked.category <> 'transactional' and asked.address_key = any (v_unsubscribed) then 'unsubscribed'
    end
    from unnest(stop_mails.address_keys, stop_mails.categories)
      with ordinality as asked (address_key, category, ordinal)
    order by asked.ordinal
  ) into v_answers;
  return v_answers;
end;
$$;
--! EndIncluded suppression/stop_mails.sql
--! Included suppression/stops_mail.sql
-- Says why an address gets no mail of a category, or null; the answer stays true until the transaction ends.
create or replace function suppression.stops_mail(project_id uuid, address_key bytea, category text)
returns text
language sql volatile
as $$
  select (suppression.stop_mails(
    project_id => stops_mail.project_id,
    address_keys => array[stops_mail.address_key],
    categories => array[stops_mail.category]
  ))[1]
$$;
--! EndIncluded suppression/stops_mail.sql
--! Included delivery/stop_hand_offs.sql
-- Says why each of some sends must not be handed over now, or null; stays true until the transaction ends.
--
-- 'erased' (the person), 'suppressed', 'unsubscribed' (from mail of this category) or 'expired'. Locks the people,
-- then the addresses, each kind in its own order, as every erase and every suppression does. Null of all when
-- there is none of the sends.
create or replace function delivery.stop_hand_offs(project_id uuid, send_ids uuid[], address_keys bytea[])
returns text[]
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity_ids uuid[];
  v_profile_ids  uuid[];
  v_categories   text[];
  v_expire_ats   timestamptz[];
  v_living       boolean[];
  v_stopped      text[];
  v_answers      text[];
begin
  select array_agg(send.identity_id order by asked.ordinal), array_agg(send.profile_id order by asked.ordinal),
    array_agg(send.category order by asked.ordinal), array_agg(send.expires_at order by asked.ordinal)
  into v_identity_ids, v_profile_ids, v_categories, v_expire_ats
  from unnest(stop_hand_offs.send_ids) with ordinality as asked (send_id, ordinal)
  left join lateral (
    select known.identity_id, known.profile_id, known.category, known.expires_at
    from delivery.sends as known
    where known.project_id = stop_hand_offs.project_id and known.send_id = asked.send_id
    limit 1
  ) as send on true;

  v_living := profiles.hold_living(project_id => stop_hand_offs.project_id, identity_ids => v_identity_ids,
    profile_ids => v_profile_ids);
  v_stopped := suppression.stop_mails(project_id => stop_hand_offs.project_id,
    address_keys => stop_hand_offs.address_keys, categories => v_categories);
  select array(
    select case
      when not coalesce(asked.is_living, false) then 'erased'
      when asked.stopped is not null then asked.stopped
      when asked.expires_at <= clock_timestamp() then 'expired'
    end
    from unnest(v_living, v_stopped, v_expire_ats) with ordinality as asked (is_living, stopped, expires_at, ordinal)
    order by asked.ordinal
  ) into v_answers;
  return v_answers;
end;
$$;
--! EndIncluded delivery/stop_hand_offs.sql
--! Included delivery/record_outcomes.sql
-- Writes what became of attempts and moves their sends on. Answers which sends moved, and to where.
--
-- accepted, rejected: final. deferred, not_started: definitely not taken, back to the queue for
-- retry_after_seconds from now. unknown: held, unless feedback has proved meanwhile that the provider took
-- it; due again after that time if it was planned to be sent again. An attempt that was given up as unknown
-- while its owner was silent still learns a definite answer; it goes back to the queue from there only when
-- its owner knows that it did not begin, or when it may be sent again anyway. Without a recipient, because
-- the person was erased meanwhile, what would go back to the queue is cancelled.
create or replace function delivery.record_outcomes(project_id uuid, outcomes jsonb)
returns table (moved_id uuid, moved_to text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  select array_agg(ended.send_id)
  into v_ids
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid);
  update delivery.attempts as tried
  set ended_at = v_now, outcome = ended.outcome, reason = ended.reason, provider_message_id = ended.provider_message_id
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text)
  where tried.project_id = record_outcomes.project_id
  and tried.send_id = any (v_ids)
  and tried.send_id = ended.send_id
  and tried.attempt = ended.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');

  return query
  update delivery.sends as send
  set status = case
      when ended.outcome = 'accepted' then 'accepted'
      when ended.outcome <> 'rejected'
        and num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0 then 'accepted'
      when ended.outcome = 'unknown' then 'unknown'
      when ended.outcome = 'not_started' and send.recipient is null then 'cancelled'
      when ended.outcome = 'not_started' then 'queued'
      when send.status = 'unknown' and (ended.outcome = 'rejected' or send.on_unknown = 'hold') then 'not_sent'
      when ended.outcome = 'deferred' and send.recipient is null then 'cancelled'
      when ended.outcome = 'deferred' then 'queued'
      else ended.outcome
    end,
    status_reason = ended.reason,
    due_at = coalesce(v_now + make_interval(secs => ended.retry_after_seconds), send.due_at),
    accepted_at = case ended.outcome
      when 'accepted' then v_now
      when 'rejected' then send.accepted_at
      else least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at)
    end,
    provider_message_id = coalesce(ended.provider_message_id, send.provider_message_id),
    lease_owner = null,
    lease_until = null
  from jsonb_to_recordset(record_outcomes.outcomes) as ended (send_id uuid, attempt integer, outcome text, reason text,
    provider_message_id text, retry_after_seconds float8)
  where send.project_id = record_outcomes.project_id
  and send.send_id = any (v_ids)
  and send.send_id = ended.send_id
  and send.attempt_count = ended.attempt
  and send.status in ('handing_off', 'unknown')
  returning send.send_id, send.status;
end;
$$;
--! EndIncluded delivery/record_outcomes.sql
--! Included delivery/begin_hand_offs.sql
-- Marks sends as about to be given to the provider, or ends those that something stops.
--
-- Each with what stop_hand_offs said of it, in the same order. Answers 'handing_off' when the caller now owns this
-- attempt; 'cancelled' (the person is erased), 'suppressed' (or unsubscribed from mail of this category) or
-- 'expired' when the send has ended. Nothing of a send that is no longer the caller's to hand off.
create or replace function delivery.begin_hand_offs(project_id uuid, begins jsonb, stopped text[])
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  -- After the wait for the people and the addresses: a lease may have run out meanwhile.
  v_now   timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_ids   uuid[];
  v_begun uuid[] := '{}';
begin
  select array_agg(begun.send_id)
  into v_ids
  from jsonb_to_recordset(begin_hand_offs.begins) as begun (send_id uuid);
  for begun_id, decision in
    update delivery.sends as send
    set status = decided.status,
      status_reason = decided.stopped,
      subject = case when decided.stopped is null then decided.subject end,
      attempt_count = case when decided.stopped is null then decided.attempt else send.attempt_count end,
      handed_off_at = case when decided.stopped is null then v_now else send.handed_off_at end,
      lease_owner = case when decided.stopped is null then send.lease_owner end,
      lease_until = case when decided.stopped is null then send.lease_until end
    from (
      select begun.send_id, begun.owner, begun.attempt, begun.subject, begun.stopped,
        case
          when begun.stopped is null then 'handing_off'
          when begun.stopped = 'erased' then 'cancelled'
          when begun.stopped = 'expired' then 'expired'
          else 'suppressed'
        end as status
      from rows from (
        jsonb_to_recordset(begin_hand_offs.begins) as (send_id uuid, owner text, attempt integer, subject text),
        unnest(begin_hand_offs.stopped)
      ) as begun (send_id, owner, attempt, subject, stopped)
    ) as decided
    where send.project_id = begin_hand_offs.project_id
    and send.send_id = any (v_ids)
    and send.send_id = decided.send_id
    and send.status = 'queued'
    and send.lease_owner = decided.owner
    and send.lease_until > v_now
    and send.attempt_count = decided.attempt - 1
    returning send.send_id, send.status
  loop
    if decision = 'handing_off' then
      v_begun := v_begun || begun_id;
    end if;
    return next;
  end loop;

  insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at)
  select begin_hand_offs.project_id, begun.send_id, begun.attempt, begun.message_id, begun.owner, v_now
  from jsonb_to_recordset(begin_hand_offs.begins) as begun (send_id uuid, owner text, attempt integer, message_id text)
  where begun.send_id = any (v_begun);
end;
$$;
--! EndIncluded delivery/begin_hand_offs.sql
--! Included delivery/step_hand_offs.sql
-- Writes what became of some attempts and begins others, all in one commit: what free lanes of one turn wait for
-- at the same moment. Answers what begin_hand_offs says of each that begins.
--
-- Every person is locked before any address, every address before any send, each kind in its own order: the order
-- of all who need several. One statement of the client, so one transaction.
create or replace function delivery.step_hand_offs(project_id uuid, outcomes jsonb, begins jsonb)
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_begin_ids uuid[];
  v_end_ids   uuid[];
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
    perform delivery.record_outcomes(project_id => step_hand_offs.project_id, outcomes => step_hand_offs.outcomes);
  end if;
  if v_begin_ids is not null then
    return query
    select begun.begun_id, begun.decision
    from delivery.begin_hand_offs(project_id => step_hand_offs.project_id, begins => step_hand_offs.begins,
      stopped => v_stopped) as begun;
  end if;
end;
$$;
--! EndIncluded delivery/step_hand_offs.sql

-- An index that begins with the project is as good as the key to a planner who does not know yet how many rows a
-- project has, and then reads all of them: what is looked up for by one value begins with that value.
drop index if exists delivery.attempts_by_message_id;
create index attempts_by_message_id on delivery.attempts (message_id, project_id);
drop index if exists delivery.attempts_by_provider_message_id;
create index attempts_by_provider_message_id on delivery.attempts (provider_message_id, project_id)
  where provider_message_id is not null;
drop index if exists delivery.sends_by_address;
create index sends_by_address on delivery.sends (address_key, project_id, send_id);
drop index if exists delivery.sends_by_automation;
create index sends_by_automation on delivery.sends (automation_id, project_id, send_id);
drop index if exists delivery.sends_by_identity;
create index sends_by_identity on delivery.sends (identity_id, project_id, send_id) where identity_id is not null;
drop index if exists delivery.sends_by_profile;
create index sends_by_profile on delivery.sends (profile_id, project_id, send_id);
drop index if exists delivery.sends_due;
create index sends_due on delivery.sends (provider_id, project_id, due_at, send_id) where status = 'queued';
drop index if exists delivery.sends_unknown_due;
create index sends_unknown_due on delivery.sends (provider_id, project_id, due_at) where status = 'unknown';
