--! Previous: sha1:d59f584b05fa4fad3c76b10d0ca2210434fecf65
--! Hash: sha1:a60318999728e3e324e9627bf34435a89a299d47
--! Message: limits_are_asked_at_the_hand_off

-- What is asked of a send when it is handed over; null where it has no limits, as most have none.
alter table delivery.sends add column if not exists limits jsonb;
alter table delivery.sends drop constraint if exists sends_limits_are_an_object;
alter table delivery.sends add constraint sends_limits_are_an_object check (jsonb_typeof(limits) = 'object') not valid;
select base.declare_columns('delivery.sends', '{}', '{}', '{limits}');

drop function if exists profiles.hold_living(uuid, uuid[], uuid[]);
drop function if exists suppression.stop_mails(uuid, bytea[], text[]);
drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, uuid, integer, uuid,
  timestamptz, bytea, text, interval, text, text);
drop function if exists delivery.stop_hand_offs(uuid, uuid[], bytea[]);
drop function if exists delivery.begin_hand_offs(uuid, jsonb, text[]);

--! Included profiles/list_confirmed.sql
-- Of some people, each with an address, those of whom a server has said that it is theirs.
--
-- What a server said stays with its identity until a server says otherwise, and wins over every browser
-- (profiles.set_traits, profiles.fold_profile). So an address that is not confirmed is one that somebody
-- typed into a page, and may be a stranger's.
create or replace function profiles.list_confirmed(project_id uuid, profile_ids uuid[], emails text[])
returns setof uuid
language sql stable
as $$
  select asked.profile_id
  from unnest(list_confirmed.profile_ids, list_confirmed.emails) as asked (profile_id, email)
  cross join lateral (
    select from identity.identities as known
    cross join lateral (
      select found.value from profiles.traits as found
      where found.project_id = list_confirmed.project_id
      and found.identity_id = known.identity_id
      and found.key = 'email'
      and found.authority = 'server'
      limit 1
    ) as told
    where known.project_id = list_confirmed.project_id
    and known.profile_id = asked.profile_id
    and known.erasure_id is null
    and lower(btrim(told.value #>> '{}')) = lower(asked.email)
    limit 1
  ) as confirmed;
$$;
--! EndIncluded profiles/list_confirmed.sql
--! Included profiles/read_person.sql
-- What the limits of a mail ask about whom it is for, as things are now: whose profile it is, all identities of it,
-- what it says of their time zone, and whether a server has said that the address is theirs.
--
-- The profile that the identity belongs to; where nobody knows the identity, the one that is named.
create or replace function profiles.read_person(
  project_id       uuid,
  identity_id      uuid,
  profile_id       uuid,
  email            text,
  out person_id    uuid,
  out identity_ids uuid[],
  out zone         text,
  out is_confirmed boolean
)
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  select known.profile_id into person_id from identity.identities as known
  where known.project_id = read_person.project_id and known.identity_id = read_person.identity_id;
  person_id := coalesce(person_id, read_person.profile_id);

  select array(
    select known.identity_id from identity.identities as known
    where known.project_id = read_person.project_id
    and known.profile_id = read_person.person_id
    and known.erasure_id is null
  ) into identity_ids;
  select found.traits ->> 'timezone' into zone from profiles.profiles as found
  where found.project_id = read_person.project_id and found.profile_id = read_person.person_id;
  select exists (
    select from profiles.list_confirmed(read_person.project_id, array[read_person.person_id], array[read_person.email])
  ) into is_confirmed;
end;
$$;
--! EndIncluded profiles/read_person.sql
--! Included profiles/hold_alone.sql
-- Locks profiles so that nobody else holds them until the transaction ends, in the order of their ids: some by name,
-- and those that some identities belong to now, which the caller holds.
create or replace function profiles.hold_alone(project_id uuid, identity_ids uuid[], profile_ids uuid[])
returns void
language sql volatile
as $$
  select
  from (
    select asked.profile_id from unnest(hold_alone.profile_ids) as asked (profile_id)
    union
    select known.profile_id
    from unnest(hold_alone.identity_ids) as named (identity_id)
    cross join lateral (
      select found.profile_id from identity.identities as found
      where found.project_id = hold_alone.project_id and found.identity_id = named.identity_id
      limit 1
    ) as known
    order by profile_id
  ) as person
  cross join lateral (
    select from profiles.profiles as found
    where found.project_id = hold_alone.project_id and found.profile_id = person.profile_id
    limit 1
    for no key update
  ) as held;
$$;
--! EndIncluded profiles/hold_alone.sql
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
  v_answers      boolean[];
begin
  -- Each is looked up by its key: asked for together, before the first analyze, all of the project's would be read.
  select array(
    select held.identity_id
    from (
      select known.identity_id
      from (
        select distinct asked.identity_id from unnest(hold_living.identity_ids) as asked (identity_id)
      ) as told
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
      select distinct asked.profile_id from unnest(hold_living.profile_ids) as asked (profile_id)
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
  v_answers      text[];
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
--! Included delivery/end_for.sql
-- The end of a send that waits and is stopped for this reason; null of what stops none.
create or replace function delivery.end_for(stop text)
returns text
language sql immutable
as $$
  select case
    when end_for.stop in ('suppressed', 'unsubscribed') then 'suppressed'
    when end_for.stop in ('cancelled', 'erased', 'provider_deleted', 'frequency_cap', 'unconfirmed_address')
      then 'cancelled'
    when end_for.stop in ('expired', 'failed_render') then end_for.stop
  end;
$$;
--! EndIncluded delivery/end_for.sql
--! Included base/use_zone.sql
-- Makes the first of some names that is a time zone the transaction's, else UTC, and answers with it. A function that
-- sets its own time zone has that of its caller back when it ends.
--
-- A name of the IANA database, as automations take it (isZone in src/automations/clock.ts): an offset, or a zone
-- that is made up as POSIX lets one, is none, though the server would take it. The setting and not "at time zone",
-- for which CET and a few others are abbreviations that know no summer.
create or replace function base.use_zone(zones text[])
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_zone text;
begin
  foreach v_zone in array use_zone.zones loop
    if v_zone ~ '^[A-Za-z][A-Za-z0-9_/+-]*$'
      and (v_zone !~ '^[A-Za-z]+[+-]?[0-9]' or v_zone ~* '^(EST5EDT|CST6CDT|MST7MDT|PST8PDT|GMT[+-]?0)$')
    then
      begin
        perform set_config('TimeZone', v_zone, true);
        return v_zone;
      exception
        when invalid_parameter_value then
          null;
      end;
    end if;
  end loop;
  perform set_config('TimeZone', 'UTC', true);
  return 'UTC';
end;
$$;
--! EndIncluded base/use_zone.sql
--! Included base/quiet_until.sql
-- When quiet hours that hold at a moment end, or null when none do, by a clock on the wall of the session's time
-- zone. They may reach over midnight; their first minute is in them, the last is not.
--
-- As automations reckon them when they plan (quietUntil in src/automations/clock.ts): they end the second time that
-- the clock shows it, where it does so twice. Looked for on three days: a zone may leave one out.
create or replace function base.quiet_until(at timestamptz, quiet_from time, quiet_to time)
returns timestamptz
language sql stable
as $$
  select min(ended.at)
  from (select quiet_until.at::timestamp as shown) as wall
  cross join lateral (
    select (wall.shown::date + day.ahead + quiet_until.quiet_to)::timestamptz as at
    from generate_series(0, 2) as day (ahead)
  ) as ended
  where ended.at > quiet_until.at
  and case
    when quiet_until.quiet_from < quiet_until.quiet_to
      then wall.shown::time >= quiet_until.quiet_from and wall.shown::time < quiet_until.quiet_to
    else wall.shown::time >= quiet_until.quiet_from or wall.shown::time < quiet_until.quiet_to
  end;
$$;
--! EndIncluded base/quiet_until.sql
--! Included delivery/may_be_out.sql
-- Whether a send that was begun to be handed over went out, or may have: somebody may have got it.
create or replace function delivery.may_be_out(project_id uuid, send_id uuid, status text)
returns boolean
language sql stable
as $$
  select may_be_out.status in ('handing_off', 'accepted', 'unknown')
    or (
      may_be_out.status = 'queued'
      and delivery.list_unresolved(may_be_out.project_id, array[may_be_out.send_id]) is not null
    );
$$;
--! EndIncluded delivery/may_be_out.sql
--! Included delivery/capped_until.sql
-- When there is room for one more mail under a frequency cap, or null when there is now; and whether there is only if
-- what is under way comes to nothing.
--
-- What counts is what began to be handed over to any identity of the person and went out, or may have, but for this
-- send: each until so long after, by the calendar of the session's time zone. Whoever asks holds the person.
create or replace function delivery.capped_until(
  project_id       uuid,
  send_id          uuid,
  automation_id    uuid,
  identity_ids     uuid[],
  cap              jsonb,
  at               timestamptz,
  out until        timestamptz,
  out is_under_way boolean
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
      and delivery.may_be_out(found.project_id, found.send_id, found.status)
      -- One identity after the other, whatever the planner takes the table for.
      offset 0
    ) as sent
    where sent.counts_until > capped_until.at
  ) as counted;
end;
$$;
--! EndIncluded delivery/capped_until.sql
--! Included delivery/had_most.sql
-- Whether an address has had as many mails as one may that only a browser has said: so many of one automation, ever,
-- and so many in 24 hours, but for this send; and whether it has only if what is under way comes to nothing.
--
-- What went out counts, or may have. Whoever asks holds the address.
create or replace function delivery.had_most(
  project_id       uuid,
  send_id          uuid,
  automation_id    uuid,
  address_key      bytea,
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
      from delivery.sends as found
      where found.project_id = had_most.project_id
      and found.address_key = had_most.address_key
      and found.send_id <> had_most.send_id
      and found.handed_off_at is not null
      and delivery.may_be_out(found.project_id, found.send_id, found.status)
    ) as sent
  ) as counted;
end;
$$;
--! EndIncluded delivery/had_most.sql
--! Included delivery/limit_hand_offs.sql
-- Says which of some sends their limits keep from being handed over now: by place, why, and until when it waits, or
-- null where it is not sent at all. Nothing of those that something else stops, and of those that have no limits.
--
-- quiet_hours (where the person is), frequency_cap, unconfirmed_address (that only a browser has said). Whoever asks
-- holds people and addresses alone, so nobody else lets another through meanwhile. What is under way, also in the
-- same step, may come to nothing: where it decides, a mail waits a moment, until that is known.
create or replace function delivery.limit_hand_offs(project_id uuid, send_ids uuid[], stopped text[])
returns table (place bigint, stop text, wait_until timestamptz)
language plpgsql volatile
set search_path = ''
set timezone = 'UTC'
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now    timestamptz := clock_timestamp();
  v_moment timestamptz := v_now + interval '10 seconds';
  v_people uuid[] := '{}';
  v_keys   bytea[] := '{}';
  v_send   record;
  v_cap    jsonb;
  v_capped record;
  v_most   record;
begin
  for v_send in
    select asked.place, send.send_id, send.automation_id, send.address_key, send.limits, person.person_id,
      person.identity_ids, person.zone, person.is_confirmed
    from unnest(limit_hand_offs.send_ids, limit_hand_offs.stopped) with ordinality as asked (send_id, stop, place)
    cross join lateral (
      select known.send_id, known.automation_id, known.address_key, known.limits, known.identity_id, known.profile_id,
        known.recipient
      from delivery.sends as known
      where known.project_id = limit_hand_offs.project_id and known.send_id = asked.send_id
      and known.limits is not null
      limit 1
    ) as send
    cross join lateral profiles.read_person(limit_hand_offs.project_id, send.identity_id, send.profile_id,
      send.recipient) as person
    where asked.stop is null
    order by asked.place
  loop
    perform base.use_zone(array[v_send.zone, v_send.limits ->> 'zone']);
    v_cap := v_send.limits -> 'frequency_cap';
    wait_until := base.quiet_until(v_now, (v_send.limits #>> '{quiet_hours,from}')::time,
      (v_send.limits #>> '{quiet_hours,to}')::time);
    stop := case when wait_until is not null then 'quiet_hours' end;

    if stop is null and v_cap is not null then
      v_capped := delivery.capped_until(limit_hand_offs.project_id, v_send.send_id, v_send.automation_id,
        v_send.identity_ids, v_cap, v_now);
      if v_capped.until is not null then
        stop := 'frequency_cap';
        wait_until := case when v_cap ->> 'over' <> 'skip' then v_capped.until end;
      elsif v_capped.is_under_way or v_send.person_id = any (v_people) then
        stop := 'frequency_cap';
        wait_until := v_moment;
      end if;
    end if;

    if stop is null and v_send.limits ? 'unconfirmed' and not v_send.is_confirmed then
      v_most := delivery.had_most(limit_hand_offs.project_id, v_send.send_id, v_send.automation_id,
        v_send.address_key, v_send.limits -> 'unconfirmed', v_now);
      if v_most.is_so then
        stop := 'unconfirmed_address';
      elsif v_most.is_under_way or v_send.address_key = any (v_keys) then
        stop := 'unconfirmed_address';
        wait_until := v_moment;
      end if;
    end if;

    if stop is null then
      v_people := v_people || v_send.person_id;
      v_keys := v_keys || v_send.address_key;
    else
      place := v_send.place;
      return next;
    end if;
  end loop;
end;
$$;
--! EndIncluded delivery/limit_hand_offs.sql
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
set plan_cache_mode = force_generic_plan
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
  select array_agg(send.identity_id order by asked.ordinal), array_agg(send.profile_id order by asked.ordinal),
    array_agg(send.category order by asked.ordinal), array_agg(send.expires_at order by asked.ordinal),
    count(send.limits) > 0
  into v_identity_ids, v_profile_ids, v_categories, v_expire_ats, v_is_limited
  from unnest(stop_hand_offs.send_ids) with ordinality as asked (send_id, ordinal)
  left join lateral (
    select known.identity_id, known.profile_id, known.category, known.expires_at, known.limits
    from delivery.sends as known
    where known.project_id = stop_hand_offs.project_id and known.send_id = asked.send_id
    limit 1
  ) as send on true;

  v_living := profiles.hold_living(project_id => stop_hand_offs.project_id, identity_ids => v_identity_ids,
    profile_ids => v_profile_ids, is_alone => v_is_limited);
  v_stopped := suppression.stop_mails(project_id => stop_hand_offs.project_id,
    address_keys => stop_hand_offs.address_keys, categories => v_categories, is_alone => v_is_limited);
  select array(
    select case
      when not coalesce(asked.is_living, false) then 'erased'
      when asked.stopped is not null then asked.stopped
      when asked.expires_at <= clock_timestamp() then 'expired'
    end
    from unnest(v_living, v_stopped, v_expire_ats) with ordinality as asked (is_living, stopped, expires_at, ordinal)
    order by asked.ordinal
  ) into stopped;
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
--! Included delivery/begin_hand_offs.sql
-- Marks sends as about to be given to the provider, or ends those that something stops, or lets them wait.
--
-- Each with what stop_hand_offs said of it, in the same order. Answers 'handing_off' when the caller now owns this
-- attempt; 'queued' when it waits until its limits let it; 'cancelled' (the person is erased, or has had enough),
-- 'suppressed' (or unsubscribed from mail of this category) or 'expired' when the send has ended; 'unknown' when it
-- would have, and an earlier hand-off of it may have been taken. Nothing of a send that is no longer the caller's to
-- hand off. No waits at all: none of them does.
create or replace function delivery.begin_hand_offs(
  project_id uuid,
  begins     jsonb,
  stopped    text[],
  waits      timestamptz[] default null
)
returns table (begun_id uuid, decision text)
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  -- After the wait for the people and the addresses: a lease may have run out meanwhile.
  v_now        timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_ids        uuid[];
  v_begun      uuid[] := '{}';
  v_unresolved uuid[];
begin
  select array_agg(begun.send_id)
  into v_ids
  from jsonb_to_recordset(begin_hand_offs.begins) as begun (send_id uuid);
  if num_nonnulls(variadic begin_hand_offs.stopped) > 0 then
    v_unresolved := delivery.list_unresolved(begin_hand_offs.project_id, v_ids);
  end if;
  for begun_id, decision in
    update delivery.sends as send
    set status = decided.status,
      status_reason = decided.stopped,
      due_at = case when decided.status = 'unknown' then 'infinity' else coalesce(decided.wait_until, send.due_at) end,
      -- Whoever looks for a message that may be out looks for its subject.
      subject = case
        when decided.stopped is null then decided.subject
        when decided.status in ('unknown', 'queued') and decided.stopped <> 'erased' then send.subject
      end,
      attempt_count = case when decided.stopped is null then decided.attempt else send.attempt_count end,
      handed_off_at = case when decided.stopped is null then v_now else send.handed_off_at end,
      lease_owner = case when decided.stopped is null then send.lease_owner end,
      lease_until = case when decided.stopped is null then send.lease_until end
    from (
      select begun.send_id, begun.owner, begun.attempt, begun.subject, begun.stopped, begun.wait_until,
        case
          when begun.stopped is null then 'handing_off'
          when begun.wait_until is not null then 'queued'
          when begun.send_id = any (v_unresolved) then 'unknown'
          else delivery.end_for(begun.stopped)
        end as status
      from rows from (
        jsonb_to_recordset(begin_hand_offs.begins) as (send_id uuid, owner text, attempt integer, subject text),
        unnest(begin_hand_offs.stopped),
        unnest(begin_hand_offs.waits)
      ) as begun (send_id, owner, attempt, subject, stopped, wait_until)
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
  v_stops     record;
begin
  perform set_config('trunkline.project_id', step_hand_offs.project_id::text, true);

  select array_agg(ended.send_id)
  into v_end_ids
  from jsonb_to_recordset(step_hand_offs.outcomes) as ended (send_id uuid);
  select array_agg(begun.send_id), array_agg(decode(begun.address_key, 'hex'))
  into v_begin_ids, v_keys
  from jsonb_to_recordset(step_hand_offs.begins) as begun (send_id uuid, address_key text);

  if v_begin_ids is not null then
    v_stops := delivery.stop_hand_offs(project_id => step_hand_offs.project_id, send_ids => v_begin_ids,
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
        stopped => v_stops.stopped, waits => v_stops.waits) as begun
    loop
      if decision not in ('handing_off', 'unknown', 'queued') then
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
  limits            jsonb default null
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
    status, status_reason, due_at, queued_at, expires_at, on_unknown, limits)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown,
    plan_send.limits)
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
--! Included analytics/sends.sql
-- Every message that was to be sent, and what became of it.
create or replace view analytics.sends with (security_invoker = true) as
select
  send.send_id,
  send.automation_id,
  nullif(automation.name, '') as automation,
  send.run_id,
  nullif(send.step_id, '') as step_id,
  send.template_id,
  send.template_version,
  nullif(template.name, '') as template,
  coalesce(identity.profile_id, send.profile_id) as profile_id,
  nullif(send.recipient, '') as recipient,
  nullif(send.subject, '') as subject,
  case
    when send.complained_at is not null then 'complained'
    when send.bounced_at is not null then 'bounced'
    when send.delivered_at is not null then 'delivered'
    else send.status
  end as status,
  case when send.status = 'unknown' or send.status_reason <> 'outcome_unknown' then nullif(send.status_reason, '') end
    as status_reason,
  send.event_id,
  send.event_occurred_at,
  send.queued_at,
  send.handed_off_at,
  send.accepted_at,
  send.delivered_at,
  send.bounced_at,
  send.complained_at
from delivery.sends as send
left join automations.automations as automation
  on automation.project_id = send.project_id and automation.automation_id = send.automation_id
left join rendering.templates as template
  on template.project_id = send.project_id and template.template_id = send.template_id
  and template.version = send.template_version
left join automations.runs as run on run.project_id = send.project_id and run.run_id = send.run_id
left join identity.identities as identity
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id;

comment on view analytics.sends is 'Every message that was to be sent, and what became of it';
comment on column analytics.sends.send_id is 'Id; sorts by time';
comment on column analytics.sends.automation_id is 'The automation that sent it';
comment on column analytics.sends.automation is 'Its name today';
comment on column analytics.sends.run_id is 'The run that sent it';
comment on column analytics.sends.step_id is 'The step that sent it';
comment on column analytics.sends.template_id is 'What was sent';
comment on column analytics.sends.template_version is 'In which version';
comment on column analytics.sends.template is 'The template''s name';
comment on column analytics.sends.profile_id is 'Whom it was for: their profile today';
comment on column analytics.sends.recipient is 'The address; null once its person was erased';
comment on column analytics.sends.subject is
  'The subject as it was sent; null until it was rendered, and once its person was erased';
comment on column analytics.sends.status is
  'The strongest fact: complained, bounced, delivered, else the state of the hand-off (accepted, rejected, queued, …)';
comment on column analytics.sends.status_reason is
  'Why, where there is a reason; of a queued one what it waits for (quiet_hours, frequency_cap, ramp, a failure)';
comment on column analytics.sends.event_id is 'The event that led to it';
comment on column analytics.sends.event_occurred_at is 'When that event occurred';
comment on column analytics.sends.queued_at is 'When it was decided to send it';
comment on column analytics.sends.handed_off_at is 'When it was last handed to the provider';
comment on column analytics.sends.accepted_at is 'When the provider took it';
comment on column analytics.sends.delivered_at is 'When it reached the mailbox, if the provider says so';
comment on column analytics.sends.bounced_at is 'When it bounced';
comment on column analytics.sends.complained_at is 'When the recipient complained';

grant select on analytics.sends to trunkline_analyst;
--! EndIncluded analytics/sends.sql
