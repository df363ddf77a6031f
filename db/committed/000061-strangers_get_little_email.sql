--! Previous: sha1:e7ed4513463e0b659c12ae8c4c692343d2b1208c
--! Hash: sha1:501e015f60ad1a1a8982d6a95268d161f61bfa0c
--! Message: strangers_get_little_email

-- Enter migration here
-- Email that strangers could cause: what a project decided about it, the budget of an hour, and the mailbox of a send.
create table if not exists delivery.settings (
  project_id            uuid not null primary key,
  recipient_sends_max   integer,
  unconfirmed_sends_max integer,
  constraint settings_recipient_sends_are_few check (recipient_sends_max between 1 and 100),
  constraint settings_unconfirmed_sends_are_bounded check (unconfirmed_sends_max between 0 and 100000)
);
select base.isolate_table('delivery.settings');
grant select, insert, update on delivery.settings to trunkline_runtime;
select base.declare_columns('delivery.settings', '{}', '{}', '{project_id, recipient_sends_max, unconfirmed_sends_max}');

create table if not exists delivery.unconfirmed_budgets (
  project_id uuid not null primary key,
  window_at  timestamptz(3) not null,
  used       integer not null,
  parked_at  timestamptz(3),
  parked     integer not null default 0
) with (fillfactor = 50);
select base.isolate_table('delivery.unconfirmed_budgets');
grant select, insert, update on delivery.unconfirmed_budgets to trunkline_runtime;
select base.declare_columns('delivery.unconfirmed_budgets', '{}', '{}',
  '{project_id, window_at, used, parked_at, parked}');

alter table delivery.sends add column if not exists mailbox_key bytea;
alter table delivery.sends add column if not exists budget_window timestamptz(3);
select base.declare_columns('delivery.sends', '{}', '{mailbox_key}', '{budget_window}');


--! Included delivery/read_settings.sql
-- Returns what a project decided about email that strangers could cause, or the defaults where it decided nothing.
--
-- recipient_sends_max: emails to one mailbox in 24 hours, of runs that no server started. unconfirmed_sends_max:
-- emails of the project in one hour to addresses that no server has confirmed.
create or replace function delivery.read_settings(
  project_id                uuid,
  out recipient_sends_max   integer,
  out unconfirmed_sends_max integer
)
language sql stable
as $$
  select coalesce(max(setting.recipient_sends_max), 3), coalesce(max(setting.unconfirmed_sends_max), 200)
  from delivery.settings as setting
  where setting.project_id = read_settings.project_id
$$;
--! EndIncluded delivery/read_settings.sql
--! Included delivery/hold_budget.sql
-- Locks the hourly budget of a project for email to unconfirmed addresses and returns it as it is at a moment: how much
-- is used of the window of one hour. Null where the caller cannot wait for another transaction that holds it.
--
-- A window follows the one before without a gap, so that email that waits for the next hour finds it open.
create or replace function delivery.hold_budget(project_id uuid, at timestamptz, can_wait boolean)
returns delivery.unconfirmed_budgets
language plpgsql volatile
set search_path = ''
as $$
declare
  v_budget delivery.unconfirmed_budgets;
  v_start  timestamptz := date_trunc('milliseconds', hold_budget.at);
begin
  if hold_budget.can_wait then
    insert into delivery.unconfirmed_budgets (project_id, window_at, used)
    values (hold_budget.project_id, v_start, 0)
    on conflict do nothing;
    select budget.* into v_budget from delivery.unconfirmed_budgets as budget
    where budget.project_id = hold_budget.project_id
    for update;
  else
    select budget.* into v_budget from delivery.unconfirmed_budgets as budget
    where budget.project_id = hold_budget.project_id
    for update skip locked;
  end if;
  if v_budget.project_id is null then
    return null;
  end if;

  if v_budget.window_at + interval '1 hour' <= hold_budget.at then
    v_budget.window_at := case
      when v_budget.window_at + interval '2 hours' > hold_budget.at then v_budget.window_at + interval '1 hour'
      else v_start
    end;
    v_budget.used := 0;
  end if;
  return v_budget;
end;
$$;
--! EndIncluded delivery/hold_budget.sql
--! Included delivery/keep_budget.sql
-- Writes down the window and the reserved places of a budget that the caller holds.
create or replace function delivery.keep_budget(project_id uuid, budget delivery.unconfirmed_budgets)
returns void
language sql volatile
as $$
  update delivery.unconfirmed_budgets as kept
  set window_at = (keep_budget.budget).window_at, used = (keep_budget.budget).used,
    parked_at = (keep_budget.budget).parked_at, parked = (keep_budget.budget).parked
  where kept.project_id = keep_budget.project_id
$$;
--! EndIncluded delivery/keep_budget.sql
--! Included delivery/park_in_budget.sql
-- Reserves the next place in the hours to come for one email to an unconfirmed address, in a budget that the caller
-- holds; returns the budget with the place taken, of which parked_at is when the email is due.
--
-- So ten thousand emails that wait are looked at about once each, and not all of them whenever an hour begins. A place
-- is no promise: whether there is room is decided when the email is handed over.
create or replace function delivery.park_in_budget(
  project_id uuid,
  budget     delivery.unconfirmed_budgets,
  sends_max  integer
)
returns delivery.unconfirmed_budgets
language plpgsql stable
set search_path = ''
as $$
declare
  v_room_at timestamptz := park_in_budget.budget.window_at + interval '1 hour';
begin
  if park_in_budget.budget.parked_at is null or park_in_budget.budget.parked_at < v_room_at
    or park_in_budget.sends_max = 0 then
    park_in_budget.budget.parked_at := v_room_at;
    park_in_budget.budget.parked := 0;
  elsif park_in_budget.budget.parked >= park_in_budget.sends_max then
    park_in_budget.budget.parked_at := park_in_budget.budget.parked_at + interval '1 hour';
    park_in_budget.budget.parked := 0;
  end if;
  park_in_budget.budget.parked := park_in_budget.budget.parked + 1;
  return park_in_budget.budget;
end;
$$;
--! EndIncluded delivery/park_in_budget.sql
--! Included delivery/hold_charged.sql
-- Locks the hourly budget of a project for email to unconfirmed addresses, where any of some sends was charged to it.
--
-- Before those sends are locked: every transaction locks the budget first.
create or replace function delivery.hold_charged(project_id uuid, send_ids uuid[])
returns void
language sql volatile
as $$
  select from delivery.unconfirmed_budgets as budget
  where budget.project_id = hold_charged.project_id
  and exists (
    select from delivery.sends as send
    where send.project_id = hold_charged.project_id and send.send_id = any (hold_charged.send_ids)
    and send.budget_window is not null
  )
  for update
$$;
--! EndIncluded delivery/hold_charged.sql
--! Included delivery/charge_budget.sql
-- Charges the hourly budget for email to unconfirmed addresses with sends that are being handed over.
--
-- The caller holds the budget and the sends. Each send keeps the window that it was charged to, for refund_budget.
create or replace function delivery.charge_budget(project_id uuid, send_ids uuid[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_window timestamptz;
begin
  if cardinality(charge_budget.send_ids) = 0 then
    return;
  end if;

  update delivery.unconfirmed_budgets as budget
  set used = budget.used + cardinality(charge_budget.send_ids)
  where budget.project_id = charge_budget.project_id
  returning budget.window_at into strict v_window;

  update delivery.sends as send
  set budget_window = v_window
  where send.project_id = charge_budget.project_id and send.send_id = any (charge_budget.send_ids);
end;
$$;
--! EndIncluded delivery/charge_budget.sql
--! Included delivery/refund_budget.sql
-- Returns to the hourly budget what sends used of it that were definitely not taken.
--
-- Once for each charge: the send forgets its window with the refund. A window that is over gets nothing back. An
-- unknown outcome is no refund: the email may be out. The caller holds the budget and the sends.
create or replace function delivery.refund_budget(project_id uuid, outcomes jsonb)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_windows timestamptz[];
  v_ids     uuid[];
begin
  select array_agg(send.send_id), array_agg(send.budget_window) into v_ids, v_windows
  from jsonb_to_recordset(refund_budget.outcomes) as ended (send_id uuid, attempt integer, outcome text)
  join delivery.sends as send
    on send.send_id = ended.send_id and send.attempt_count = ended.attempt
  where send.project_id = refund_budget.project_id
  and send.budget_window is not null
  and ended.outcome in ('rejected', 'deferred', 'not_started')
  and send.status not in ('unknown', 'accepted', 'handing_off');
  if v_ids is null then
    return;
  end if;

  update delivery.sends as send
  set budget_window = null
  where send.project_id = refund_budget.project_id and send.send_id = any (v_ids);

  update delivery.unconfirmed_budgets as budget
  set used = greatest(0, budget.used - (
    select count(*) from unnest(v_windows) as charged (window_at) where charged.window_at = budget.window_at
  ))
  where budget.project_id = refund_budget.project_id;
end;
$$;
--! EndIncluded delivery/refund_budget.sql
--! Included delivery/hold_mailboxes.sql
-- Locks the mailboxes of some sends until the transaction ends, as far as limits are counted per mailbox: two sends
-- to one mailbox are decided one after the other, whatever tag or spelling its addresses have.
--
-- In the order of the lock keys. Two mailboxes may share a lock: their sends only wait for each other.
create or replace function delivery.hold_mailboxes(project_id uuid, send_ids uuid[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_lock integer;
begin
  for v_lock in
    select distinct ('x' || encode(substr(coalesce(send.mailbox_key, send.address_key), 1, 4), 'hex'))::bit(32)::integer
    from unnest(hold_mailboxes.send_ids) as named (send_id)
    cross join lateral (
      select known.mailbox_key, known.address_key
      from delivery.sends as known
      where known.project_id = hold_mailboxes.project_id and known.send_id = named.send_id
      and known.limits ?| array['browser_triggered', 'unconfirmed']
      limit 1
    ) as send
    where send.address_key is not null
    order by 1
  loop
    perform pg_catalog.pg_advisory_xact_lock(hashtext('delivery.mailboxes'), v_lock);
  end loop;
end;
$$;
--! EndIncluded delivery/hold_mailboxes.sql
drop function if exists delivery.had_most(uuid, uuid, uuid, bytea, jsonb, timestamptz);
--! Included delivery/had_most.sql
-- Returns whether a mailbox has had as many emails as an address may that only a browser asserted: so many of one
-- automation, ever, and so many in 24 hours, besides this send; and whether only email that is under way decides that.
--
-- All addresses of one mailbox count together: sends keep a mailbox_key where it is not the key of their address.
-- Email that went out counts, or that may have; email of a test does not. The caller holds the mailbox.
create or replace function delivery.had_most(
  project_id       uuid,
  send_id          uuid,
  automation_id    uuid,
  mailbox_key      bytea,
  most             jsonb,
  at               timestamptz,
  out is_so        boolean,
  out is_under_way boolean
)
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  select greatest(counted.settled - counted.per_automation, counted.settled_today - counted.per_day) >= 0,
    greatest(counted.settled - counted.per_automation, counted.settled_today - counted.per_day) < 0
      and greatest(counted.sends - counted.per_automation, counted.sends_today - counted.per_day) >= 0
  into is_so, is_under_way
  from (
    select (had_most.most ->> 'per_automation')::integer as per_automation,
      (had_most.most ->> 'per_day')::integer as per_day,
      count(*) filter (where sent.is_ours) as sends,
      count(*) filter (where sent.is_ours and sent.status <> 'handing_off') as settled,
      count(*) filter (where sent.is_today) as sends_today,
      count(*) filter (where sent.is_today and sent.status <> 'handing_off') as settled_today
    from (
      select found.status, found.automation_id = had_most.automation_id as is_ours,
        found.handed_off_at > had_most.at - interval '24 hours' as is_today
      from (
        select known.* from delivery.sends as known
        where known.project_id = had_most.project_id and known.address_key = had_most.mailbox_key
        union all
        select known.* from delivery.sends as known
        where known.project_id = had_most.project_id and known.mailbox_key = had_most.mailbox_key
        and known.address_key <> had_most.mailbox_key
      ) as found
      where found.project_id = had_most.project_id
      and found.send_id <> had_most.send_id
      and found.handed_off_at is not null
      and not found.is_test
      and delivery.may_be_out(found.project_id, found.send_id, found.status)
    ) as sent
  ) as counted;
end;
$$;
--! EndIncluded delivery/had_most.sql
--! Included delivery/reached_recipient_cap.sql
-- Returns whether a mailbox has had as many emails in 24 hours as it may of runs that no server started, besides this
-- send and so many that begin together with it; and whether only email that is under way decides that.
--
-- Email that went out counts, or that may have; email of a test does not. The caller holds the mailbox.
create or replace function delivery.reached_recipient_cap(
  project_id       uuid,
  send_id          uuid,
  mailbox_key      bytea,
  sends_max        integer,
  begun            integer,
  at               timestamptz,
  out is_so        boolean,
  out is_under_way boolean
)
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  select counted.settled >= reached_recipient_cap.sends_max,
    counted.settled < reached_recipient_cap.sends_max
      and counted.sends + reached_recipient_cap.begun >= reached_recipient_cap.sends_max
  into is_so, is_under_way
  from (
    select count(*) as sends, count(*) filter (where found.status <> 'handing_off') as settled
    from delivery.sends as found
    where found.project_id = reached_recipient_cap.project_id
    and found.mailbox_key = reached_recipient_cap.mailbox_key
    and found.limits ? 'browser_triggered'
    and found.send_id <> reached_recipient_cap.send_id
    and found.handed_off_at > reached_recipient_cap.at - interval '24 hours'
    and not found.is_test
    and delivery.may_be_out(found.project_id, found.send_id, found.status)
  ) as counted;
end;
$$;
--! EndIncluded delivery/reached_recipient_cap.sql
--! Included delivery/limit_by_person.sql
-- Returns which limit of a person stops a send, or null, and until when: quiet hours where the person is, or a
-- frequency cap, where null is forever. A cap that only email under way decides makes it wait a moment.
--
-- The session's time zone is the person's. The caller holds the person; has_begun says that another send to them begins
-- together with this one.
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
      limit_by_person.automation_id, limit_by_person.identity_ids, v_cap, limit_by_person.at);
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
--! Included delivery/limit_by_mailbox.sql
-- Returns which limit of a mailbox stops a send, or null; and whether it only waits for what becomes of other email.
--
-- recipient_cap: of runs that no server started, confirmed or not. unconfirmed_address: of an address that only a
-- browser asserted. The caller holds the mailbox; begun is how many sends to it begin together with this one.
create or replace function delivery.limit_by_mailbox(
  project_id          uuid,
  send_id             uuid,
  automation_id       uuid,
  mailbox_key         bytea,
  limits              jsonb,
  is_confirmed        boolean,
  begun               integer,
  recipient_sends_max integer,
  at                  timestamptz,
  out stop            text,
  out is_under_way    boolean
)
language plpgsql stable
set search_path = ''
as $$
declare
  v_reached record;
begin
  if limit_by_mailbox.limits ? 'browser_triggered' then
    v_reached := delivery.reached_recipient_cap(limit_by_mailbox.project_id, limit_by_mailbox.send_id,
      limit_by_mailbox.mailbox_key, limit_by_mailbox.recipient_sends_max, limit_by_mailbox.begun, limit_by_mailbox.at);
    if v_reached.is_so or v_reached.is_under_way then
      stop := 'recipient_cap';
      is_under_way := v_reached.is_under_way;
      return;
    end if;
  end if;

  if limit_by_mailbox.limits ? 'unconfirmed' and not limit_by_mailbox.is_confirmed then
    v_reached := delivery.had_most(limit_by_mailbox.project_id, limit_by_mailbox.send_id,
      limit_by_mailbox.automation_id, limit_by_mailbox.mailbox_key, limit_by_mailbox.limits -> 'unconfirmed',
      limit_by_mailbox.at);
    if v_reached.is_so or v_reached.is_under_way or limit_by_mailbox.begun > 0 then
      stop := 'unconfirmed_address';
      is_under_way := not v_reached.is_so;
    end if;
  end if;
end;
$$;
--! EndIncluded delivery/limit_by_mailbox.sql
drop function if exists delivery.limit_hand_offs(uuid, uuid[], text[], boolean);
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
  v_mailboxes bytea[] := '{}';
  v_settings  record;
  v_send      record;
  v_mailbox   record;
  v_budget    delivery.unconfirmed_budgets;
  v_charged   integer := 0;
begin
  v_settings := delivery.read_settings(limit_hand_offs.project_id);
  for v_send in
    select asked.place, send.send_id, send.automation_id, send.mailbox_key, send.limits, person.person_id,
      person.identity_ids, person.zone, person.is_confirmed
    from unnest(limit_hand_offs.send_ids, limit_hand_offs.stopped) with ordinality as asked (send_id, stop, place)
    cross join lateral (
      select known.send_id, known.automation_id, coalesce(known.mailbox_key, known.address_key) as mailbox_key,
        known.limits, known.identity_id, known.profile_id, known.recipient
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
      v_send.identity_ids, v_send.limits, v_send.person_id = any (v_people), v_now) as limited;
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
      v_mailboxes := v_mailboxes || v_send.mailbox_key;
      v_charged := v_charged + is_charged::integer;
    end if;
    if stop is not null or is_charged then
      place := v_send.place;
      return next;
    end if;
  end loop;
  if v_budget.project_id is not null then
    perform delivery.keep_budget(limit_hand_offs.project_id, v_budget);
  end if;
end;
$$;
--! EndIncluded delivery/limit_hand_offs.sql
drop function if exists delivery.stop_hand_offs(uuid, uuid[], bytea[]);
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
  v_stopped := suppression.stop_mails(project_id => stop_hand_offs.project_id,
    address_keys => stop_hand_offs.address_keys, categories => v_categories, is_alone => v_is_alone);
  perform delivery.hold_mailboxes(stop_hand_offs.project_id, stop_hand_offs.send_ids) where v_is_limited;
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
--! Included delivery/begin_attempts.sql
-- Inserts the attempts of sends that are being handed over, and charges the hourly budget with those of them that it
-- pays for. The caller holds the sends, and the budget where any is charged.
create or replace function delivery.begin_attempts(
  project_id  uuid,
  begins      jsonb,
  handed_ids  uuid[],
  charged_ids uuid[],
  at          timestamptz
)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at, sent_through)
  select begin_attempts.project_id, begun.send_id, begun.attempt, begun.message_id, begun.owner, begin_attempts.at,
    begun.sent_through
  from jsonb_to_recordset(begin_attempts.begins) as begun (send_id uuid, owner text, attempt integer, message_id text,
    sent_through text)
  where begun.send_id = any (begin_attempts.handed_ids);

  if begin_attempts.charged_ids is not null then
    perform delivery.charge_budget(
      begin_attempts.project_id,
      array(
        select handed.send_id from unnest(begin_attempts.handed_ids) as handed (send_id)
        where handed.send_id = any (begin_attempts.charged_ids)
      )
    );
  end if;
end;
$$;
--! EndIncluded delivery/begin_attempts.sql
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
--! Included delivery/end_for.sql
-- The end of a send that waits and is stopped for this reason; null of what stops none.
create or replace function delivery.end_for(stop text)
returns text
language sql immutable
as $$
  select case
    when end_for.stop in ('suppressed', 'unsubscribed') then 'suppressed'
    when end_for.stop in ('cancelled', 'erased', 'provider_deleted', 'automation_archived', 'frequency_cap',
      'recipient_cap', 'unconfirmed_address') then 'cancelled'
    when end_for.stop in ('expired', 'failed_render') then end_for.stop
  end;
$$;
--! EndIncluded delivery/end_for.sql
drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, uuid, integer, uuid,
  timestamptz, bytea, text, interval, text, text, jsonb, boolean, text);
--! Included delivery/plan_send.sql
-- Makes the one send intent of a run's step, or answers with the one that is there.
--
-- The address row is made first: from here on suppression and hand-off have something to lock.
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
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, interval);
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
  traceparent       text
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
  returning send.send_id, send.identity_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1, send.is_test,
    (send.limits is not null and (send.status_reason is not null or send.queued_at < v_moment_ago))
      or exists (
        select from delivery.halts as halt
        where halt.project_id = claim_sends.project_id and halt.automation_id = send.automation_id and not send.is_test
      ),
    send.traceparent;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
