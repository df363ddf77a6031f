--! Previous: sha1:0bbbc718e60a68f3a2069f688a2a2fbcbe9aebd0
--! Hash: sha1:8caa824a6068809ca0c8a8b0e2be849829460304
--! Message: counters_say_how_late_their_events_were

-- Counters say how late the events were that they count, and notes of counted people what late events added.
alter table segments.counters add column if not exists lag_ms bigint;
select base.declare_columns('segments.counters', '{}', '{}', '{lag_ms}');
drop function if exists segments.add_counters(uuid, text[], text[], uuid[], date[], bigint[], timestamptz[],
  timestamptz[]);
--! Included segments/add_counters.sql
-- Adds what was counted of identifiers to what is kept of their identities; answers their profiles.
--
-- Those who are not known, or are being erased, are left out. The others are held, in the order of all locks and
-- as weakly as keeps them from being erased before the commit. Counters are written in the order of their key,
-- so that two who count at once cannot deadlock. lags: the shortest time between an event and its receipt, in
-- milliseconds; a counter without one stays without one.
create or replace function segments.add_counters(
  project_id    uuid,
  kinds         text[],
  identifiers   text[],
  condition_ids uuid[],
  days          date[],
  counts        bigint[],
  firsts        timestamptz[],
  lasts         timestamptz[],
  lags          bigint[] default null
)
returns uuid[]
language plpgsql volatile
set search_path = ''
as $$
declare
  v_kinds       text[];
  v_identifiers text[];
  v_ids         uuid[];
  v_profile_ids uuid[];
begin
  select array_agg(held.kind), array_agg(held.value), array_agg(held.identity_id), array_agg(held.profile_id)
  into v_kinds, v_identifiers, v_ids, v_profile_ids
  from (
    select named.kind, named.value, known.identity_id, known.profile_id
    from (
      select distinct told.kind, told.value
      from unnest(add_counters.kinds, add_counters.identifiers) as told (kind, value)
      order by told.kind, told.value
    ) as named
    cross join lateral (
      select found.identity_id, found.profile_id from identity.identities as found
      where found.project_id = add_counters.project_id and found.kind = named.kind and found.value = named.value
      and found.erasure_id is null
      limit 1
      for key share
    ) as known
  ) as held;

  insert into segments.counters as counted (project_id, identity_id, condition_id, day, count, first_at, last_at,
    lag_ms)
  select add_counters.project_id, held.identity_id, told.condition_id, told.day, told.count, told.first_at,
    told.last_at, told.lag_ms
  from unnest(add_counters.kinds, add_counters.identifiers, add_counters.condition_ids, add_counters.days,
    add_counters.counts, add_counters.firsts, add_counters.lasts, add_counters.lags)
    as told (kind, value, condition_id, day, count, first_at, last_at, lag_ms)
  join unnest(v_kinds, v_identifiers, v_ids) as held (kind, value, identity_id)
    on held.kind = told.kind and held.value = told.value
  order by held.identity_id, told.condition_id, told.day
  on conflict on constraint counters_pkey do update
  set count = counted.count + excluded.count,
    first_at = least(counted.first_at, excluded.first_at),
    last_at = greatest(counted.last_at, excluded.last_at),
    lag_ms = case when counted.lag_ms is not null and excluded.lag_ms is not null
      then least(counted.lag_ms, excluded.lag_ms) end;
  return v_profile_ids;
end;
$$;
--! EndIncluded segments/add_counters.sql
--! Included segments/note_counted.sql
-- Notes the people with a counted event, and the source of the events.
--
-- The note of a person with late events has a reason: what was counted of those, by identity, condition and day. So the
-- evaluation can tell which memberships change only because of them. is_alone: every event of the person was late.
create or replace function segments.note_counted(
  project_id    uuid,
  changed_ids   uuid[],
  kinds         text[],
  identifiers   text[],
  by_servers    boolean[],
  condition_ids uuid[],
  days          date[],
  counts        bigint[],
  late_counts   bigint[],
  late_firsts   timestamptz[],
  late_lasts    timestamptz[],
  late_lags     bigint[]
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_browser_ids uuid[];
  v_late_ids    uuid[];
  v_reasons     jsonb[];
  v_note        record;
begin
  v_browser_ids := array(
    select known.profile_id
    from (
      select distinct told.kind, told.value
      from unnest(note_counted.kinds, note_counted.identifiers, note_counted.by_servers)
        as told (kind, value, is_by_server)
      where not told.is_by_server
    ) as named
    cross join lateral (
      select found.profile_id from identity.identities as found
      where found.project_id = note_counted.project_id and found.kind = named.kind and found.value = named.value
      limit 1
    ) as known
  );

  if exists (select from unnest(note_counted.late_counts) as late (count) where late.count > 0) then
    select array_agg(late.profile_id), array_agg(late.reason) into v_late_ids, v_reasons
    from (
      select known.profile_id, jsonb_build_object('kind', 'late', 'is_alone', bool_and(told.late_count = told.count),
        'counted', jsonb_agg(jsonb_build_object('identity_id', known.identity_id, 'condition_id', told.condition_id,
          'day', told.day - 'epoch'::date, 'count', told.late_count, 'first_at', told.late_first_at,
          'last_at', told.late_last_at, 'lag_ms', told.late_lag)) filter (where told.late_count > 0)) as reason
      from unnest(note_counted.kinds, note_counted.identifiers, note_counted.condition_ids, note_counted.days,
        note_counted.counts, note_counted.late_counts, note_counted.late_firsts, note_counted.late_lasts,
        note_counted.late_lags)
        as told (kind, value, condition_id, day, count, late_count, late_first_at, late_last_at, late_lag)
      cross join lateral (
        select found.identity_id, found.profile_id from identity.identities as found
        where found.project_id = note_counted.project_id and found.kind = told.kind and found.value = told.value
        limit 1
      ) as known
      group by known.profile_id
      having sum(told.late_count) > 0
    ) as late;
  end if;

  for v_note in
    select noted.source, array_agg(noted.profile_id) as profile_ids, array_agg(noted.reason) as reasons
    from (
      select changed.id as profile_id, late.reason,
        case when changed.id = any (v_browser_ids) then 'browser' else 'server' end as source
      from (select distinct told.id from unnest(note_counted.changed_ids) as told (id)) as changed
      left join unnest(v_late_ids, v_reasons) as late (profile_id, reason) on late.profile_id = changed.id
    ) as noted
    group by noted.source
  loop
    perform profiles.note_changes(note_counted.project_id, v_note.profile_ids, v_note.source, v_note.reasons);
  end loop;
end;
$$;
--! EndIncluded segments/note_counted.sql
drop function if exists segments.count_events(uuid, uuid[]);
--! Included segments/count_events.sql
-- Counts the events of some flushes for the conditions that ask for them, and notes the people with a counted
-- event. Returns whether people are to be evaluated.
--
-- Belongs into the transaction that processes the flushes. A condition whose past is still being counted takes
-- here only what fill_counters has passed already. Such conditions are locked by one transaction at a time, which
-- is one of these or one that fills: so each event is counted by exactly one of the two, and no transaction waits for
-- ever. The others are locked only as strongly as keeps them from being deleted. late_ms: how long after it occurred an
-- event has to be received to be late; without it no event is late.
create or replace function segments.count_events(project_id uuid, flush_ids uuid[], late_ms bigint default null)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_late_after interval := count_events.late_ms * interval '1 millisecond';
  v_names      text[];
  v_seen       record;
begin
  if not exists (select from segments.projects as known where known.project_id = count_events.project_id) then
    return false;
  end if;

  perform from segments.conditions as condition
  where condition.project_id = count_events.project_id and condition.status in ('new', 'filling')
  order by condition.condition_id
  for no key update;
  select array_agg(distinct held.event_name) into v_names
  from (
    select condition.event_name from segments.conditions as condition
    where condition.project_id = count_events.project_id and condition.status <> 'unused'
    order by condition.condition_id
    for key share
  ) as held;

  if v_names is not null then
    select array_agg(seen.kind) as kinds, array_agg(seen.value) as identifiers,
      array_agg(seen.condition_id) as conditions, array_agg(seen.day) as days, array_agg(seen.count) as counts,
      array_agg(seen.first_at) as firsts, array_agg(seen.last_at) as lasts, array_agg(seen.is_by_server) as by_servers,
      array_agg((extract(epoch from seen.lag) * 1000)::bigint) as lags, array_agg(seen.late_count) as late_counts,
      array_agg(seen.late_first_at) as late_firsts, array_agg(seen.late_last_at) as late_lasts,
      array_agg((extract(epoch from seen.late_lag) * 1000)::bigint) as late_lags
    into v_seen
    from (
      select case when event.external_id is null then 'anonymous' else 'external' end as kind,
        coalesce(event.external_id, event.anonymous_id) as value, condition.condition_id,
        case when condition.is_daily then (event.occurred_at at time zone 'UTC')::date else 'epoch'::date end as day,
        count(*) as count, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at,
        bool_and(event.source = 'server') as is_by_server, min(arrival.lag) as lag,
        count(*) filter (where arrival.lag > v_late_after) as late_count,
        min(event.occurred_at) filter (where arrival.lag > v_late_after) as late_first_at,
        max(event.occurred_at) filter (where arrival.lag > v_late_after) as late_last_at,
        min(arrival.lag) filter (where arrival.lag > v_late_after) as late_lag
      from ingest.pending_events(project_id => count_events.project_id, flush_ids => count_events.flush_ids) as event
      join segments.conditions as condition on condition.event_name = event.name
      cross join lateral (select event.received_at - event.occurred_at as lag) as arrival
      where condition.project_id = count_events.project_id and event.name = any (v_names)
      and ingest.counts(event.name, event.source)
      and condition.status <> 'unused' and event.event_id <= condition.filled_to
      and (condition.filters = '[]' or segments.passes(event.properties, condition.filters))
      group by 1, 2, 3, 4
    ) as seen;
    if v_seen.kinds is not null then
      perform segments.note_counted(count_events.project_id,
        segments.add_counters(count_events.project_id, v_seen.kinds, v_seen.identifiers, v_seen.conditions, v_seen.days,
          v_seen.counts, v_seen.firsts, v_seen.lasts, v_seen.lags),
        v_seen.kinds, v_seen.identifiers, v_seen.by_servers, v_seen.conditions, v_seen.days, v_seen.counts,
        v_seen.late_counts, v_seen.late_firsts, v_seen.late_lasts, v_seen.late_lags);
    end if;
  end if;
  return exists (select from profiles.changes as change where change.project_id = count_events.project_id);
end;
$$;
--! EndIncluded segments/count_events.sql
--! Included segments/fill_counters.sql
-- Counts the next events of the past for the conditions that are furthest behind; answers whether there are more.
--
-- Events are read in the order of their ids. Those that wait to be processed are left out: they are counted when
-- they are, since the conditions have passed them by then (count_events). No other transaction
-- processes events of the project between this read of them and the commit, because this one locks the conditions.
create or replace function segments.fill_counters(project_id uuid, events_max integer)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_from uuid;
  v_to   uuid;
  v_ids  uuid[];
  v_told record;
begin
  select condition.filled_to into v_from from segments.conditions as condition
  where condition.project_id = fill_counters.project_id and condition.status = 'filling'
  order by condition.filled_to
  limit 1;
  select array_agg(held.condition_id) into v_ids
  from (
    select condition.condition_id from segments.conditions as condition
    where condition.project_id = fill_counters.project_id and condition.status = 'filling'
    and condition.filled_to = v_from
    order by condition.condition_id
    for no key update
  ) as held;
  if v_ids is null then
    return false;
  end if;

  select event.event_id into v_to from ingest.events as event
  where event.project_id = fill_counters.project_id and event.event_id > v_from
  order by event.event_id
  offset fill_counters.events_max - 1
  limit 1;
  v_to := coalesce(v_to, 'ffffffff-ffff-ffff-ffff-ffffffffffff');

  select array_agg(seen.kind) as kinds, array_agg(seen.value) as identifiers,
    array_agg(seen.condition_id) as conditions, array_agg(seen.day) as days,
    array_agg(seen.count) as counts, array_agg(seen.first_at) as firsts, array_agg(seen.last_at) as lasts,
    array_agg(seen.lag_ms) as lags
  into v_told
  from (
    select case when event.external_id is null then 'anonymous' else 'external' end as kind,
      coalesce(event.external_id, event.anonymous_id) as value, condition.condition_id,
      case when condition.is_daily then (event.occurred_at at time zone 'UTC')::date else 'epoch'::date end as day,
      count(*) as count, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at,
      (extract(epoch from min(event.received_at - event.occurred_at)) * 1000)::bigint as lag_ms
    from ingest.events as event
    join segments.conditions as condition on condition.event_name = event.name
    where event.project_id = fill_counters.project_id and event.event_id > v_from and event.event_id <= v_to
    and condition.project_id = fill_counters.project_id and condition.condition_id = any (v_ids)
    and ingest.counts(event.name, event.source)
    and (condition.filters = '[]' or segments.passes(event.properties, condition.filters))
    and not exists (
      select from ingest.pending cross join lateral unnest(pending.event_ids) as noted (event_id)
      where pending.project_id = fill_counters.project_id and noted.event_id = event.event_id
    )
    group by 1, 2, 3, 4
  ) as seen;
  if v_told.kinds is not null then
    perform segments.add_counters(fill_counters.project_id, v_told.kinds, v_told.identifiers, v_told.conditions,
      v_told.days, v_told.counts, v_told.firsts, v_told.lasts, v_told.lags);
  end if;

  update segments.conditions as condition
  set filled_to = v_to,
    status = case when v_to = 'ffffffff-ffff-ffff-ffff-ffffffffffff' then 'ready' else 'filling' end
  where condition.project_id = fill_counters.project_id and condition.condition_id = any (v_ids);
  return true;
end;
$$;
--! EndIncluded segments/fill_counters.sql
