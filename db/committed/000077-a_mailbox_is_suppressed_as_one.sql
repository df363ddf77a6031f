--! Previous: sha1:e72e3478448407abd20fa6e356654cfc73c3280f
--! Hash: sha1:6e210ea2df2c214eb1eef1f60d41c5480f67a6a0
--! Message: a_mailbox_is_suppressed_as_one

-- Enter migration here

drop function if exists delivery.capped_until(uuid, uuid, uuid, uuid[], jsonb, timestamptz);
--! Included suppression/stops_any.sql
-- Returns why an email of a category must not go to a mailbox that several addresses lead to, or null: a suppression of
-- any of them stops it, and an unsubscribe unless the email is transactional.
--
-- Locks nothing: the answer stays true only while the caller holds the addresses. An address without a row stops none.
create or replace function suppression.stops_any(project_id uuid, address_keys bytea[], category text)
returns text
language sql stable
as $$
  select case
    when bool_or(address.suppressed_at is not null) then 'suppressed'
    when stops_any.category <> 'transactional'
      and bool_or(address.unsubscribed_at >= coalesce(address.resubscribed_at, '-infinity')) then 'unsubscribed'
  end
  from suppression.addresses as address
  where address.project_id = stops_any.project_id and address.address_key = any (stops_any.address_keys)
$$;
--! EndIncluded suppression/stops_any.sql
--! Included delivery/list_spellings.sql
-- Returns the keys of the addresses that lead to one mailbox: of its plainest address and of every other spelling among
-- the newest 100 sends of the mailbox and the newest 100 that were handed over (SPELLING_SENDS_MAX 100).
--
-- Sends that a suppression stops are not handed over, so they do not displace the spelling that is suppressed. Two
-- indexes find the newest, so a mailbox with a long history costs no more than a new one.
create or replace function delivery.list_spellings(project_id uuid, mailbox_key bytea)
returns bytea[]
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_sends_max constant integer := 100;
  v_keys      bytea[];
begin
  select array_agg(distinct sent.address_key) filter (where sent.address_key <> list_spellings.mailbox_key)
  into v_keys
  from (
    (
      select known.address_key from delivery.sends as known
      where known.project_id = list_spellings.project_id and known.mailbox_key = list_spellings.mailbox_key
      order by known.send_id desc
      limit v_sends_max
    )
    union all
    (
      select known.address_key from delivery.sends as known
      where known.project_id = list_spellings.project_id and known.mailbox_key = list_spellings.mailbox_key
      and known.handed_off_at is not null
      order by known.handed_off_at desc
      limit v_sends_max
    )
  ) as sent;
  return array_prepend(list_spellings.mailbox_key, v_keys);
end;
$$;
--! EndIncluded delivery/list_spellings.sql
--! Included delivery/stop_recipients.sql
-- Returns why each of some sends must not go to its address, or null; stays true until the transaction ends.
--
-- A send that a server caused is stopped by a suppression or an unsubscribe of its own address, a browser-triggered one
-- by that of any spelling of its mailbox. Locks the addresses; where any of the sends has limits, exclusively and
-- together with their mailboxes and the spellings of those.
create or replace function delivery.stop_recipients(
  project_id   uuid,
  send_ids     uuid[],
  address_keys bytea[],
  categories   text[],
  is_limited   boolean
)
returns text[]
language plpgsql volatile
set search_path = ''
as $$
declare
  v_stopped text[];
  v_send    record;
begin
  perform delivery.hold_mailboxes(stop_recipients.project_id, stop_recipients.send_ids, stop_recipients.address_keys)
  where stop_recipients.is_limited;
  v_stopped := suppression.stop_mails(project_id => stop_recipients.project_id,
    address_keys => stop_recipients.address_keys, categories => stop_recipients.categories);
  if not stop_recipients.is_limited then
    return v_stopped;
  end if;

  for v_send in
    select asked.place, suppression.stops_any(project_id => stop_recipients.project_id,
      address_keys => delivery.list_spellings(stop_recipients.project_id, send.mailbox_key),
      category => send.category) as stop
    from unnest(stop_recipients.send_ids, v_stopped) with ordinality as asked (send_id, stop, place)
    cross join lateral (
      select known.mailbox_key, known.category
      from delivery.sends as known
      where known.project_id = stop_recipients.project_id and known.send_id = asked.send_id
      and known.limits ? 'browser_triggered'
      limit 1
    ) as send
    where asked.stop is null
  loop
    v_stopped[v_send.place] := v_send.stop;
  end loop;
  return v_stopped;
end;
$$;
--! EndIncluded delivery/stop_recipients.sql
--! Included delivery/hold_mailboxes.sql
-- Locks the addresses of a step of hand-offs and the mailboxes that they lead to, in the order of their keys, until the
-- transaction ends: two sends to one mailbox are decided one after the other, whatever tag or spelling they have.
--
-- A mailbox is the row of its plainest address, which plan_send makes. Of a browser-triggered send the other spellings
-- of its mailbox are locked, too, because a suppression of any of them stops it.
create or replace function delivery.hold_mailboxes(project_id uuid, send_ids uuid[], address_keys bytea[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_keys bytea[];
begin
  select coalesce(array_agg(spelled.address_key), '{}')
  into v_keys
  from unnest(hold_mailboxes.send_ids) as named (send_id)
  cross join lateral (
    select known.mailbox_key, known.limits ? 'browser_triggered' as is_browser_triggered
    from delivery.sends as known
    where known.project_id = hold_mailboxes.project_id and known.send_id = named.send_id
    and known.mailbox_key is not null
    limit 1
  ) as send
  cross join lateral unnest(
    case when send.is_browser_triggered then delivery.list_spellings(hold_mailboxes.project_id, send.mailbox_key)
      else array[send.mailbox_key] end
  ) as spelled (address_key);

  perform from suppression.addresses as address
  where address.project_id = hold_mailboxes.project_id
  and address.address_key = any (hold_mailboxes.address_keys || v_keys)
  order by address.address_key
  for no key update;
end;
$$;
--! EndIncluded delivery/hold_mailboxes.sql
--! Included delivery/plan_send.sql
-- Inserts the one send intent of a run's step, or returns the one that is there.
--
-- The rows of the address and of its mailbox come first: suppressions and hand-offs lock them. A caller that plans
-- several sends locks all rows with suppression.lock_addresses before. A suppressed address is refused here, visibly. A
-- browser-triggered send is refused for any spelling of its mailbox; the other spellings are not locked. The hand-off
-- checks again. The identity is the one that the run was started for: it may leave the profile when a link is undone,
-- and is erased on its own then.
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
  mailbox_key       bytea default null,
  is_bulk           boolean default false
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
  if v_stopped is null and plan_send.limits ? 'browser_triggered' then
    v_stopped := suppression.stops_any(project_id => plan_send.project_id,
      address_keys => delivery.list_spellings(plan_send.project_id, plan_send.mailbox_key),
      category => plan_send.category);
  end if;

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, category,
    status, status_reason, due_at, queued_at, expires_at, on_unknown, limits, is_test, traceparent, mailbox_key,
    priority)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown,
    plan_send.limits, plan_send.is_test, plan_send.traceparent, plan_send.mailbox_key,
    case when plan_send.category = 'transactional' then 0 when plan_send.is_bulk then 2 else 1 end)
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
--! Included delivery/stop_hand_offs.sql
-- Says why each of some sends must not be handed over now, or null; stays true until the transaction ends.
--
-- 'erased' (the person), 'suppressed', 'unsubscribed' (from email of this category; delivery.stop_recipients) or
-- 'expired'; then that its automation is not live (delivery.halt_hand_offs), then what its limits say
-- (delivery.limit_hand_offs), both with until when it waits, where it does. Locks the people, then the addresses, each
-- kind in its own order, as every erase and every suppression does; alone where any of the sends has limits, so that
-- what they count stays so; then the mailboxes. Null of all when there is none of the sends. charged: the sends that
-- the hourly budget for email to unconfirmed addresses has to pay for once they begin.
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
  v_stopped := delivery.stop_recipients(project_id => stop_hand_offs.project_id, send_ids => stop_hand_offs.send_ids,
    address_keys => stop_hand_offs.address_keys, categories => v_categories, is_limited => v_is_limited);
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
--! Included delivery/capped_until.sql
-- When there is room for one more mail under a frequency cap, or null when there is now; and whether there is only if
-- what is under way comes to nothing.
--
-- What counts is what began to be handed over to any identity of the person and went out, or may have, but for this
-- send: each until so long after, by the calendar of the session's time zone. Email of a test went to another address
-- and does not count. A send whose run a server started does not count browser-triggered email: a page cannot use up
-- its cap. The caller locks the person.
create or replace function delivery.capped_until(
  project_id           uuid,
  send_id              uuid,
  automation_id        uuid,
  identity_ids         uuid[],
  cap                  jsonb,
  is_browser_triggered boolean,
  at                   timestamptz,
  out until            timestamptz,
  out is_under_way     boolean
)
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  select counted.settled[counted.sends_max],
    counted.settled[counted.sends_max] is null and counted.sends >= counted.sends_max
  into until, is_under_way
  from (
    select (capped_until.cap ->> 'sends')::integer as sends_max, count(*) as sends,
      array_agg(sent.counts_until order by sent.counts_until desc) filter (where sent.status <> 'handing_off')
        as settled
    from unnest(capped_until.identity_ids) as known (identity_id)
    cross join lateral (
      select found.status, found.handed_off_at + (capped_until.cap ->> 'per')::interval as counts_until
      from delivery.sends as found
      where found.project_id = capped_until.project_id
      and found.identity_id = known.identity_id
      and found.send_id <> capped_until.send_id
      and (capped_until.cap ->> 'of' = 'project' or found.automation_id = capped_until.automation_id)
      and found.handed_off_at is not null
      and not found.is_test
      and (capped_until.is_browser_triggered or (found.limits ? 'browser_triggered') is not true)
      and delivery.may_be_out(found.project_id, found.send_id, found.status)
      -- One identity after the other, whatever the planner takes the table for.
      offset 0
    ) as sent
    where sent.counts_until > capped_until.at
  ) as counted;
end;
$$;
--! EndIncluded delivery/capped_until.sql
--! Included delivery/limit_by_person.sql
-- Returns which limit of a person stops a send, or null, and until when: quiet hours where the person is, or a
-- frequency cap, where null is forever. A cap that only email under way decides makes it wait a moment.
--
-- The session's time zone is the person's. The caller holds the person; has_begun says that another send to them begins
-- together with this one, and counts under its cap.
create or replace function delivery.limit_by_person(
  project_id     uuid,
  send_id        uuid,
  automation_id  uuid,
  identity_ids   uuid[],
  limits         jsonb,
  has_begun      boolean,
  at             timestamptz,
  out stop       text,
  out wait_until timestamptz
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_cap    jsonb := limit_by_person.limits -> 'frequency_cap';
  v_capped record;
begin
  wait_until := base.quiet_until(limit_by_person.at, (limit_by_person.limits #>> '{quiet_hours,from}')::time,
    (limit_by_person.limits #>> '{quiet_hours,to}')::time);
  if wait_until is not null then
    stop := 'quiet_hours';
    return;
  end if;

  if v_cap is not null then
    v_capped := delivery.capped_until(limit_by_person.project_id, limit_by_person.send_id,
      limit_by_person.automation_id, limit_by_person.identity_ids, v_cap,
      limit_by_person.limits ? 'browser_triggered', limit_by_person.at);
    if v_capped.until is not null then
      stop := 'frequency_cap';
      wait_until := case when v_cap ->> 'over' <> 'skip' then v_capped.until end;
    elsif v_capped.is_under_way or limit_by_person.has_begun then
      stop := 'frequency_cap';
      wait_until := limit_by_person.at + interval '10 seconds';
    end if;
  end if;
end;
$$;
--! EndIncluded delivery/limit_by_person.sql
--! Included delivery/limit_hand_offs.sql
-- Returns which of some sends their limits stop from being handed over now: by place, why, and until when it waits, or
-- null where it is not sent at all; and which of the others the hourly budget is charged with. Nothing of those that
-- something else stops, and of those without limits.
--
-- Reasons: those of limit_by_person, of limit_by_mailbox, and unconfirmed_budget: the project's email of an hour to
-- addresses that only browsers asserted. The caller holds people, addresses and mailboxes alone, so no other
-- transaction decides about them meanwhile. What is under way, also in the same step, may come to nothing: where it
-- decides, an email waits a moment. Sends that are not together are no step: each is judged as if it were the only one.
create or replace function delivery.limit_hand_offs(
  project_id   uuid,
  send_ids     uuid[],
  stopped      text[],
  are_together boolean default true
)
returns table (place bigint, stop text, wait_until timestamptz, is_charged boolean)
language plpgsql volatile
set search_path = ''
set timezone = 'UTC'
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now       timestamptz := clock_timestamp();
  v_people    uuid[] := '{}';
  v_by_server uuid[] := '{}';
  v_mailboxes bytea[] := '{}';
  v_settings  record := delivery.read_settings(limit_hand_offs.project_id);
  v_send      record;
  v_mailbox   record;
  v_budget    delivery.unconfirmed_budgets;
  v_charged   integer := 0;
begin
  for v_send in
    select asked.place, send.send_id, send.automation_id, coalesce(send.mailbox_key, send.address_key) as mailbox_key,
      send.limits, send.limits ? 'browser_triggered' as is_browser, person.person_id, person.identity_ids, person.zone,
      person.is_confirmed
    from unnest(limit_hand_offs.send_ids, limit_hand_offs.stopped) with ordinality as asked (send_id, stop, place)
    cross join lateral (
      select known.*
      from delivery.sends as known
      where known.project_id = limit_hand_offs.project_id and known.send_id = asked.send_id
      and known.limits is not null
      limit 1
    ) as send
    left join lateral profiles.read_person(limit_hand_offs.project_id, send.identity_id, send.profile_id,
      send.recipient) as person on send.limits ?| array['quiet_hours', 'frequency_cap', 'unconfirmed']
    where asked.stop is null
    order by asked.place
  loop
    perform base.use_zone(array[v_send.zone, v_send.limits ->> 'zone']);
    select limited.stop, limited.wait_until into stop, wait_until
    from delivery.limit_by_person(limit_hand_offs.project_id, v_send.send_id, v_send.automation_id,
      v_send.identity_ids, v_send.limits,
      v_send.person_id = any (case when v_send.is_browser then v_people else v_by_server end), v_now) as limited;
    if stop is null then
      v_mailbox := delivery.limit_by_mailbox(limit_hand_offs.project_id, v_send.send_id, v_send.automation_id,
        v_send.mailbox_key, v_send.limits, v_send.is_confirmed,
        cardinality(array_positions(v_mailboxes, v_send.mailbox_key)), v_settings.recipient_sends_max, v_now);
      stop := v_mailbox.stop;
      wait_until := case when v_mailbox.is_under_way then v_now + interval '10 seconds' end;
    end if;

    is_charged := stop is null and v_send.limits ? 'unconfirmed' and not v_send.is_confirmed;
    if is_charged then
      if v_budget.project_id is null then
        v_budget := delivery.hold_budget(limit_hand_offs.project_id, v_now, limit_hand_offs.are_together);
      end if;
      if v_budget.used + v_charged >= v_settings.unconfirmed_sends_max then
        v_budget := delivery.park_in_budget(limit_hand_offs.project_id, v_budget,
          v_settings.unconfirmed_sends_max);
        stop := 'unconfirmed_budget';
        wait_until := v_budget.parked_at;
        is_charged := false;
      end if;
    end if;
    if stop is null and limit_hand_offs.are_together then
      v_people := v_people || v_send.person_id;
      v_by_server := v_by_server || case when v_send.is_browser then '{}' else array[v_send.person_id] end;
      v_mailboxes := v_mailboxes || v_send.mailbox_key;
      v_charged := v_charged + is_charged::integer;
    end if;
    if stop is not null or is_charged then
      place := v_send.place;
      return next;
    end if;
  end loop;
  perform delivery.keep_budget(limit_hand_offs.project_id, v_budget) where v_budget.project_id is not null;
end;
$$;
--! EndIncluded delivery/limit_hand_offs.sql
