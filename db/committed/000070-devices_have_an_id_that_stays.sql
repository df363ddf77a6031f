--! Previous: sha1:c5723ca27192282e16f4c9c150c2073777e28027
--! Hash: sha1:7dc2da5030fd2e5f86c93d34046e71b62d3cdff3
--! Message: devices_have_an_id_that_stays

-- Enter migration here
-- A device has an id that stays when its token changes: wrong passwords count under it. A session knows its device.
alter table admin.known_devices add column if not exists device_id uuid not null default gen_random_uuid();
select base.declare_columns('admin.known_devices', '{}', '{}', '{device_id}');
alter table admin.sessions add column if not exists device_id uuid;
select base.declare_columns('admin.sessions', '{}', '{}', '{device_id}');

-- Tokens have a tag of this service now. Those from before open nothing any more.
delete from admin.sessions;
delete from admin.known_devices;

drop function if exists admin.remember_device(uuid, bytea, bytea, integer, integer);
--! Included admin/remember_device.sql
-- Makes a token the one of a device of an account, and returns the device's id. The device whose token was the old one
-- keeps its id, and the old token ends; no other account's device changes. An account keeps the devices that signed in
-- last.
create or replace function admin.remember_device(
  person_id uuid, old_hash bytea, new_hash bytea, lives_for_days integer, devices_max integer
)
returns uuid
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now        timestamptz := now();
  v_expires_at timestamptz := v_now + make_interval(days => remember_device.lives_for_days);
  v_device_id  uuid;
begin
  -- One sign-in of an account at a time counts its devices.
  perform from admin.people as person where person.person_id = remember_device.person_id for no key update;

  update admin.known_devices as device
  set device_hash = remember_device.new_hash, signed_in_at = v_now, expires_at = v_expires_at
  where device.person_id = remember_device.person_id and device.device_hash = remember_device.old_hash
  and device.expires_at > v_now
  returning device.device_id into v_device_id;

  if v_device_id is null then
    insert into admin.known_devices as device (device_hash, person_id, signed_in_at, expires_at)
    values (remember_device.new_hash, remember_device.person_id, v_now, v_expires_at)
    returning device.device_id into v_device_id;
  end if;

  delete from admin.known_devices as device
  where device.person_id = remember_device.person_id
  and device.device_hash not in (
    select latest.device_hash
    from admin.known_devices as latest
    where latest.person_id = remember_device.person_id and latest.expires_at > v_now
    order by latest.signed_in_at desc, latest.device_hash
    limit remember_device.devices_max
  );
  return v_device_id;
end;
$$;
--! EndIncluded admin/remember_device.sql

-- A charge goes back to the window that was charged, and to no later one.
drop function if exists base.consume_rate_limits(text[], text[], integer[], integer, integer);
--! Included base/consume_rate_limits.sql
-- Charges every named rate limit, or none: returns the first limit without room and the seconds until it has room.
-- Returns the end of each charged window as well, in the order of the names: restore_rate_limits needs them.
--
-- All charges of one call share a window. Counters are locked in the order of their keys, so that two calls wait for
-- each other and never block each other. Callers lock nothing afterwards.
create or replace function base.consume_rate_limits(
  names text[], keys text[], maxima integer[], cost integer, window_seconds integer,
  out exceeded text, out retry_after_seconds integer, out window_ends text[]
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now     timestamptz := clock_timestamp();
  v_ends_at timestamptz := v_now + make_interval(secs => consume_rate_limits.window_seconds);
begin
  insert into base.rate_limit_counters as counter (limit_name, counter_key, used, window_ends_at)
  select charged.name, charged.key, 0, v_ends_at
  from unnest(consume_rate_limits.names, consume_rate_limits.keys) as charged (name, key)
  order by charged.name, charged.key
  on conflict on constraint rate_limit_counters_pkey do update
  set used = case when counter.window_ends_at > v_now then counter.used else 0 end,
    window_ends_at = case when counter.window_ends_at > v_now then counter.window_ends_at else v_ends_at end;

  select charged.name, greatest(1, ceil(extract(epoch from counter.window_ends_at - v_now)))::integer
  into consume_rate_limits.exceeded, consume_rate_limits.retry_after_seconds
  from unnest(consume_rate_limits.names, consume_rate_limits.keys, consume_rate_limits.maxima)
    with ordinality as charged (name, key, maximum, place)
  join base.rate_limit_counters as counter on counter.limit_name = charged.name and counter.counter_key = charged.key
  where counter.used + consume_rate_limits.cost > charged.maximum
  order by charged.place
  limit 1;

  if consume_rate_limits.exceeded is null then
    update base.rate_limit_counters as counter
    set used = counter.used + consume_rate_limits.cost
    from unnest(consume_rate_limits.names, consume_rate_limits.keys) as charged (name, key)
    where counter.limit_name = charged.name and counter.counter_key = charged.key;

    select array_agg(counter.window_ends_at::text order by charged.place)
    into consume_rate_limits.window_ends
    from unnest(consume_rate_limits.names, consume_rate_limits.keys)
      with ordinality as charged (name, key, place)
    join base.rate_limit_counters as counter on counter.limit_name = charged.name and counter.counter_key = charged.key;
  end if;

  perform base.prune_rate_limits(v_now);
end;
$$;
--! EndIncluded base/consume_rate_limits.sql
drop function if exists base.restore_rate_limits(text[], text[], integer);
--! Included base/restore_rate_limits.sql
-- Returns a charge to every named rate limit whose window is still the one that was charged. A window that began since
-- keeps all of its charges.
create or replace function base.restore_rate_limits(
  names text[], keys text[], window_ends timestamptz[], cost integer
)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  perform from base.rate_limit_counters as counter
  join unnest(restore_rate_limits.names, restore_rate_limits.keys) as charged (name, key)
    on counter.limit_name = charged.name and counter.counter_key = charged.key
  order by counter.limit_name, counter.counter_key
  for update of counter;

  update base.rate_limit_counters as counter
  set used = greatest(0, counter.used - restore_rate_limits.cost)
  from unnest(restore_rate_limits.names, restore_rate_limits.keys, restore_rate_limits.window_ends)
    as charged (name, key, window_ends_at)
  where counter.limit_name = charged.name and counter.counter_key = charged.key
  and counter.window_ends_at = charged.window_ends_at;
end;
$$;
--! EndIncluded base/restore_rate_limits.sql
