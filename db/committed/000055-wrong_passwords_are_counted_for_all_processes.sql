--! Previous: sha1:4d90d8110af19d19a63feee8583e991aa13575ea
--! Hash: sha1:98b5c2064d306b3fa6ae0f7f085ea0d4d60993d4
--! Message: wrong_passwords_are_counted_for_all_processes

-- Sign-ins: rate limits that all processes share, and devices that an account signed in from -------

create table if not exists base.rate_limit_counters (
  limit_name     text not null,
  counter_key    text not null,
  used           integer not null,
  window_ends_at timestamptz(3) not null,
  constraint rate_limit_counters_pkey primary key (limit_name, counter_key),
  constraint rate_limit_counters_used_is_not_negative check (used >= 0),
  constraint rate_limit_counters_key_is_short check (length(limit_name) <= 64 and length(counter_key) <= 64)
);
create index if not exists rate_limit_counters_by_end on base.rate_limit_counters (window_ends_at);
grant select, insert, update, delete on base.rate_limit_counters to trunkline_runtime;
select base.declare_columns('base.rate_limit_counters', '{}', '{}', '{limit_name,counter_key,used,window_ends_at}');

create table if not exists admin.known_devices (
  device_hash  bytea not null,
  person_id    uuid not null references admin.people (person_id) on delete cascade,
  signed_in_at timestamptz(3) not null,
  expires_at   timestamptz(3) not null,
  constraint known_devices_pkey primary key (device_hash, person_id),
  constraint known_devices_hash_is_hmac_sha256 check (length(device_hash) = 32)
);
create index if not exists known_devices_by_person on admin.known_devices (person_id);
grant select, insert, update, delete on admin.known_devices to trunkline_runtime;
select base.declare_columns('admin.known_devices', '{}', '{device_hash}', '{person_id,signed_in_at,expires_at}');

--! Included base/prune_rate_limits.sql
-- Deletes up to a hundred counters whose window is over, and waits for none: called with every charge, so that the
-- table stays as small as what is counted just now.
create or replace function base.prune_rate_limits(before timestamptz)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  delete from base.rate_limit_counters as counter
  using (
    select expired.limit_name, expired.counter_key
    from base.rate_limit_counters as expired
    where expired.window_ends_at < prune_rate_limits.before
    order by expired.window_ends_at
    limit 100
    for update skip locked
  ) as pruned
  where counter.limit_name = pruned.limit_name and counter.counter_key = pruned.counter_key;
end;
$$;
--! EndIncluded base/prune_rate_limits.sql
--! Included base/consume_rate_limits.sql
-- Charges every named rate limit, or none: returns the first limit without room and the seconds until it has room.
--
-- All charges of one call share a window. Counters are locked in the order of their keys, so that two calls wait for
-- each other and never block each other. Callers lock nothing afterwards.
create or replace function base.consume_rate_limits(
  names text[], keys text[], maxima integer[], cost integer, window_seconds integer,
  out exceeded text, out retry_after_seconds integer
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
  end if;

  perform base.prune_rate_limits(v_now);
end;
$$;
--! EndIncluded base/consume_rate_limits.sql
--! Included base/restore_rate_limits.sql
-- Returns a charge to every named rate limit whose window still runs.
create or replace function base.restore_rate_limits(names text[], keys text[], cost integer)
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
  from unnest(restore_rate_limits.names, restore_rate_limits.keys) as charged (name, key)
  where counter.limit_name = charged.name and counter.counter_key = charged.key;
end;
$$;
--! EndIncluded base/restore_rate_limits.sql
--! Included admin/remember_device.sql
-- Binds the token of a browser to an account, in place of the token that the browser had: the old token counts for
-- nothing afterwards, for no account. An account keeps the devices that signed in last.
create or replace function admin.remember_device(
  person_id uuid, old_hash bytea, new_hash bytea, lives_for_days integer, devices_max integer
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now        timestamptz := now();
  v_expires_at timestamptz := v_now + make_interval(days => remember_device.lives_for_days);
begin
  -- One sign-in of an account at a time counts its devices.
  perform from admin.people as person where person.person_id = remember_device.person_id for no key update;

  update admin.known_devices as device
  set device_hash = remember_device.new_hash
  where device.device_hash = remember_device.old_hash;

  insert into admin.known_devices as device (device_hash, person_id, signed_in_at, expires_at)
  values (remember_device.new_hash, remember_device.person_id, v_now, v_expires_at)
  on conflict on constraint known_devices_pkey do update
  set signed_in_at = excluded.signed_in_at, expires_at = excluded.expires_at;

  delete from admin.known_devices as device
  where device.person_id = remember_device.person_id
  and device.device_hash not in (
    select latest.device_hash
    from admin.known_devices as latest
    where latest.person_id = remember_device.person_id and latest.expires_at > v_now
    order by latest.signed_in_at desc, latest.device_hash
    limit remember_device.devices_max
  );
end;
$$;
--! EndIncluded admin/remember_device.sql
