--! Previous: sha1:23a75689b128141dfe0997c65a6274cb968c752b
--! Hash: sha1:b2c638cad441739b1e9657616d81123ca6c96b47
--! Message: mailboxes_are_locked_by_their_row

-- Enter migration here
-- A mailbox is locked as the row of its plainest address.
drop function if exists delivery.hold_mailboxes(uuid, uuid[]);
--! Included delivery/hold_mailboxes.sql
-- Locks the addresses of a step of hand-offs and the mailboxes that they lead to, in the order of their keys, until the
-- transaction ends: two sends to one mailbox are decided one after the other, whatever tag or spelling they have.
--
-- A mailbox is the row of its plainest address, which plan_send makes.
create or replace function delivery.hold_mailboxes(project_id uuid, send_ids uuid[], address_keys bytea[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_keys bytea[] := array(
    select send.mailbox_key
    from unnest(hold_mailboxes.send_ids) as named (send_id)
    cross join lateral (
      select known.mailbox_key
      from delivery.sends as known
      where known.project_id = hold_mailboxes.project_id and known.send_id = named.send_id
      and known.mailbox_key is not null
      limit 1
    ) as send
  );
begin
  perform from suppression.addresses as address
  where address.project_id = hold_mailboxes.project_id
  and address.address_key = any (hold_mailboxes.address_keys || v_keys)
  order by address.address_key
  for no key update;
end;
$$;
--! EndIncluded delivery/hold_mailboxes.sql
--! Included delivery/stop_hand_offs.sql
-- Says why each of some sends must not be handed over now, or null; stays true until the transaction ends.
--
-- 'erased' (the person), 'suppressed', 'unsubscribed' (from mail of this category) or 'expired'; then that its
-- automation is not live (delivery.halt_hand_offs), then what its limits say (delivery.limit_hand_offs), both with
-- until when it waits, where it does. Locks the people, then the addresses, each kind in its own order, as every erase
-- and every suppression does; alone where any of the sends has limits, so that what they count stays so; then the
-- mailboxes. Null of all when there is none of the sends. charged: the sends that the hourly budget for email to
-- unconfirmed addresses has to pay for once they begin.
create or replace function delivery.stop_hand_offs(
  project_id   uuid,
  send_ids     uuid[],
  address_keys bytea[],
  out stopped  text[],
  out waits    timestamptz[],
  out charged  uuid[]
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
  v_is_alone     boolean;
  v_living       boolean[];
  v_stopped      text[];
  v_kept         record;
begin
  select array_agg(asked.identity_id), array_agg(asked.profile_id), array_agg(asked.category),
    array_agg(asked.expires_at), count(asked.limits) > 0,
    count(*) filter (where asked.limits ?| array['quiet_hours', 'frequency_cap', 'unconfirmed']) > 0
  into v_identity_ids, v_profile_ids, v_categories, v_expire_ats, v_is_limited, v_is_alone
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
    profile_ids => v_profile_ids, is_alone => v_is_alone);
  perform delivery.hold_mailboxes(stop_hand_offs.project_id, stop_hand_offs.send_ids, stop_hand_offs.address_keys)
  where v_is_limited;
  v_stopped := suppression.stop_mails(project_id => stop_hand_offs.project_id,
    address_keys => stop_hand_offs.address_keys, categories => v_categories);
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
    select limited.place, limited.stop, limited.wait_until, limited.is_charged
    from delivery.limit_hand_offs(project_id => stop_hand_offs.project_id, send_ids => stop_hand_offs.send_ids,
      stopped => stop_hand_offs.stopped) as limited
  loop
    stopped[v_kept.place] := v_kept.stop;
    waits[v_kept.place] := v_kept.wait_until;
    if v_kept.is_charged then
      charged := charged || stop_hand_offs.send_ids[v_kept.place];
    end if;
  end loop;
end;
$$;
--! EndIncluded delivery/stop_hand_offs.sql
--! Included delivery/plan_send.sql
-- Makes the one send intent of a run's step, or answers with the one that is there.
--
-- The rows of the address and of its mailbox are made first: suppressions and hand-offs lock them.
-- An address that must be left alone already is refused here, visibly; the hand-off asks again. The identity is
-- whom the run was started for: it may leave the profile when a link is undone, and is erased on its own then.
create or replace function delivery.plan_send(
  project_id        uuid,
  send_id           uuid,
  automation_id     uuid,
  run_id            uuid,
  step_id           text,
  identity_id       uuid,
  profile_id        uuid,
  provider_id       uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  expires_after     interval,
  category          text,
  on_unknown        text default 'hold',
  limits            jsonb default null,
  is_test           boolean default false,
  traceparent       text default null,
  mailbox_key       bytea default null
)
returns table (planned_id uuid, planned_status text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now     timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_stopped text;
begin
  perform suppression.know_address(plan_send.project_id, plan_send.address_key, plan_send.recipient);
  if plan_send.mailbox_key <> plan_send.address_key then
    insert into suppression.addresses (project_id, address_key)
    values (plan_send.project_id, plan_send.mailbox_key)
    on conflict do nothing;
  end if;
  v_stopped := suppression.stops_mail(plan_send.project_id, plan_send.address_key, plan_send.category);

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, category,
    status, status_reason, due_at, queued_at, expires_at, on_unknown, limits, is_test, traceparent,
    mailbox_key)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown,
    plan_send.limits, plan_send.is_test, plan_send.traceparent, plan_send.mailbox_key)
  on conflict on constraint sends_one_intent_per_step do nothing;

  return query
  select send.send_id, send.status
  from delivery.sends as send
  where send.project_id = plan_send.project_id
  and send.run_id = plan_send.run_id
  and send.step_id = plan_send.step_id;
end;
$$;
--! EndIncluded delivery/plan_send.sql
