--! Previous: sha1:f2957c349dc16a56aadca285f15e624538e17263
--! Hash: sha1:90b2f6329397b4022565d36c05da487d778a9ac3
--! Message: devices_have_a_last_month

-- Enter migration here


-- The month of the last event that names both: when it goes, nothing is left that an erase could look for. Of pairs
-- from before, the month of the migration.
alter table ingest.devices add column if not exists last_month date not null
  default date_trunc('month', now() at time zone 'UTC')::date;
alter table ingest.devices alter column last_month drop default;
select base.declare_columns('ingest.devices', '{}', '{}', '{last_month}');
grant update on ingest.devices to trunkline_runtime;

drop function if exists ingest.remember_devices(uuid, text[], text[], text[]);
--! Included ingest/remember_devices.sql
-- Remembers which known people were seen with which devices: a row for each pair, so that an erase of a device
-- finds the events of others that name it. It remembers none of the people of `but_of`. `months` are those of the
-- pairs' last events: a pair stays as long as they do. A pair that is known costs a look-up, and writes once a month
-- at most.
--
-- In one order everywhere, so that two claims cannot deadlock.
create or replace function ingest.remember_devices(
  project_id    uuid,
  anonymous_ids text[],
  external_ids  text[],
  months        date[],
  but_of        text[]
)
returns void
language sql volatile
as $$
  insert into ingest.devices as device (project_id, anonymous_id, external_id, last_month)
  select remember_devices.project_id, seen.anonymous_id, seen.external_id, max(seen.month)
  from unnest(remember_devices.anonymous_ids, remember_devices.external_ids, remember_devices.months)
    as seen (anonymous_id, external_id, month)
  left join lateral (
    select true as is_known from ingest.devices as known
    where known.project_id = remember_devices.project_id and known.anonymous_id = seen.anonymous_id
    and known.external_id = seen.external_id and known.last_month >= seen.month
    limit 1
  ) as known on true
  where seen.anonymous_id is not null and seen.external_id is not null and known.is_known is null
  and (remember_devices.but_of is null or seen.external_id <> all (remember_devices.but_of))
  group by seen.anonymous_id, seen.external_id
  order by seen.anonymous_id, seen.external_id
  on conflict (project_id, anonymous_id, external_id) do update
  set last_month = greatest(device.last_month, excluded.last_month)
$$;
--! EndIncluded ingest/remember_devices.sql
--! Included profiles/see_events.sql
-- Sees the people that the events of some flushes name. Returns what `identity.move_seen` leaves, in the order in which
-- identities are locked. Remembers which known people were seen with which devices. lag_ms: the shortest time between
-- an event of the identifier and its receipt.
--
-- It remembers nothing of people who are being erased, and removes their devices from the events of others at once. So
-- an erase that has waited for the transactions before it needs one look for each device.
create or replace function profiles.see_events(project_id uuid, flush_ids uuid[])
returns table (
  kind text, value text, first_seen_at timestamptz, last_seen_at timestamptz, observed_at timestamptz, is_known boolean,
  lag_ms bigint
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_named            record;
  v_seen             record;
  v_erased_devices   text[];
  v_erased_externals text[];
begin
  -- The people of the flushes who are being erased: looked up one by one, and only where an erase runs.
  if exists (
    select from identity.identities as erased
    where erased.project_id = see_events.project_id and erased.erasure_id is not null
  ) then
    select array_agg(named.value) filter (where named.kind = 'anonymous'),
      array_agg(named.value) filter (where named.kind = 'external')
    into v_erased_devices, v_erased_externals
    from (
      select distinct seen.kind, seen.value
      from ingest.pending_events(project_id => see_events.project_id, flush_ids => see_events.flush_ids) as event
      cross join lateral (values ('external', event.external_id), ('anonymous', event.anonymous_id))
        as seen (kind, value)
    ) as named
    cross join lateral (
      select from identity.identities as erased
      where erased.project_id = see_events.project_id and erased.kind = named.kind
      and erased.value = named.value and erased.erasure_id is not null limit 1
    ) as known;
  end if;
  if v_erased_devices is not null then
    perform ingest.forget_devices(project_id => see_events.project_id, flush_ids => see_events.flush_ids,
      anonymous_ids => v_erased_devices, but_of => v_erased_externals);
  end if;

  select array_agg(named.external_id) as externals, array_agg(named.anonymous_id) as devices,
    array_agg(named.first_at) as firsts, array_agg(named.last_at) as lasts, array_agg(named.observed_at) as observed,
    array_agg(named.lag) as lags, array_agg(named.month) as months
  into v_named
  from (
    select event.external_id, event.anonymous_id, min(event.occurred_at) as first_at,
      max(event.occurred_at) filter (where event.source <> 'system') as last_at,
      max(event.occurred_at) filter (where event.source = 'system') as observed_at,
      min(event.received_at - event.occurred_at) as lag,
      date_trunc('month', max(event.occurred_at) at time zone 'UTC')::date as month
    from ingest.pending_events(project_id => see_events.project_id, flush_ids => see_events.flush_ids) as event
    group by event.external_id, event.anonymous_id
  ) as named;

  perform ingest.remember_devices(project_id => see_events.project_id, anonymous_ids => v_named.devices,
    external_ids => v_named.externals, months => v_named.months, but_of => v_erased_externals);

  select array_agg(named.kind) as kinds, array_agg(named.value) as identifiers, array_agg(named.first_at) as firsts,
    array_agg(named.last_at) as lasts, array_agg(named.observed_at) as observed, array_agg(named.lag) as lags
  into v_seen
  from (
    select seen.kind, seen.value, min(pair.first_at) as first_at, max(pair.last_at) as last_at,
      max(pair.observed_at) as observed_at, min(pair.lag) as lag
    from unnest(v_named.externals, v_named.devices, v_named.firsts, v_named.lasts, v_named.observed, v_named.lags)
      as pair (external_id, anonymous_id, first_at, last_at, observed_at, lag)
    cross join lateral (values ('external', pair.external_id), ('anonymous', pair.anonymous_id)) as seen (kind, value)
    where seen.value is not null
    group by seen.kind, seen.value
    order by seen.kind, seen.value
  ) as named;

  return query
  select unseen.kind, unseen.value, unseen.first_seen_at, unseen.last_seen_at, unseen.observed_at, unseen.is_known,
    (extract(epoch from named.lag) * 1000)::bigint
  from identity.move_seen(see_events.project_id, v_seen.kinds, v_seen.identifiers, v_seen.firsts, v_seen.lasts,
      v_seen.observed)
    with ordinality as unseen (kind, value, first_seen_at, last_seen_at, observed_at, is_known, place)
  join unnest(v_seen.kinds, v_seen.identifiers, v_seen.lags) as named (kind, value, lag) using (kind, value)
  order by unseen.place;
end;
$$;
--! EndIncluded profiles/see_events.sql
--! Included feedback/forget_topic_changes.sql
-- Forgets what became of a project's topics before a moment, and two years ago; answers how many changes.
--
-- The one way in which they go: the runtime role may only read and add. Whatever it asks for, two years stay, as in
-- the audit log. The oldest first, so many rows at most.
create or replace function feedback.forget_topic_changes(project_id uuid, before timestamptz, rows_max integer)
returns integer
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  v_before timestamptz := least(forget_topic_changes.before, now() - interval '24 months');
  v_count  integer;
begin
  if forget_topic_changes.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid
  then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
  delete from feedback.topic_changes as change
  where change.project_id = forget_topic_changes.project_id
  and change.change_id = any (array(
    select old.change_id from feedback.topic_changes as old
    where old.project_id = forget_topic_changes.project_id and old.changed_at < v_before
    order by old.change_id
    limit forget_topic_changes.rows_max
    for update skip locked
  ));
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;

revoke all on function feedback.forget_topic_changes(uuid, timestamptz, integer) from public;
grant execute on function feedback.forget_topic_changes(uuid, timestamptz, integer) to trunkline_runtime;
--! EndIncluded feedback/forget_topic_changes.sql
