--! Previous: sha1:0e3af6d9a5daa522141ea583ec884d11c75a1f65
--! Hash: sha1:dfa46ca830c6d8e62bbd7908bec829fed9f5ca46
--! Message: members_of_segments_are_kept

-- Segments: who is alike, kept up to date as people change.

-- Whether anybody wants to know of changed people, and of which. Held in share mode by whoever changes them.
create table if not exists profiles.watches (
  project_id  uuid not null,
  is_watched  boolean not null,
  primary key (project_id)
);
select base.isolate_table('profiles.watches');
select base.declare_columns('profiles.watches', '{}', '{}', '{project_id, is_watched}');
grant select, insert, update on profiles.watches to trunkline_runtime;

-- Who changed, for whoever watches. A row for each change: two that come at once cannot wait for each other.
create table if not exists profiles.changes (
  project_id uuid not null,
  noted_at   timestamptz not null,
  change_id  uuid not null,
  profile_id uuid not null,
  primary key (project_id, noted_at, change_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
select base.isolate_table('profiles.changes');
select base.open_to_queue('profiles.changes');
select base.declare_columns('profiles.changes', '{}', '{}', '{project_id, noted_at, change_id, profile_id}');
grant select, insert, update, delete on profiles.changes to trunkline_runtime;
grant select (project_id, noted_at, change_id) on profiles.changes to trunkline_queue;
grant usage on schema profiles to trunkline_queue;

--! Included profiles/note_changes.sql
-- Notes that people changed, where anybody watches them (profiles.watches); else it is a look at one row.
--
-- Asked after the change, under its locks. Who finds that nobody watches holds the row in a way that does not
-- keep anybody from beginning to, and whoever begins waits for those holders before they look at people: so
-- each change is noted, or seen. Who finds that somebody watches holds nothing, so there is an end of waiting.
create or replace function profiles.note_changes(project_id uuid, profile_ids uuid[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_watched boolean;
begin
  select watch.is_watched into v_is_watched from profiles.watches as watch
  where watch.project_id = note_changes.project_id;
  if v_is_watched is null then
    insert into profiles.watches (project_id, is_watched) values (note_changes.project_id, false)
    on conflict do nothing;
  end if;
  if v_is_watched is not true then
    select watch.is_watched into v_is_watched from profiles.watches as watch
    where watch.project_id = note_changes.project_id
    for key share;
  end if;

  if v_is_watched then
    insert into profiles.changes (project_id, noted_at, change_id, profile_id)
    select note_changes.project_id, clock_timestamp(), gen_random_uuid(), changed.profile_id
    from unnest(note_changes.profile_ids) as changed (profile_id);
  end if;
end;
$$;
--! EndIncluded profiles/note_changes.sql
--! Included profiles/take_changes.sql
-- Takes the oldest notes of changed people; answers who they are, each once.
--
-- Whoever takes them looks at the people afterwards, in the same transaction: it sees at least what was noted.
create or replace function profiles.take_changes(project_id uuid, changes_max integer)
returns setof uuid
language plpgsql volatile
set search_path = ''
as $$
declare
  v_times timestamptz[];
  v_ids   uuid[];
  v_who   uuid[];
begin
  select array_agg(taken.noted_at), array_agg(taken.change_id), array_agg(taken.profile_id)
  into v_times, v_ids, v_who
  from (
    select change.noted_at, change.change_id, change.profile_id from profiles.changes as change
    where change.project_id = take_changes.project_id
    order by change.noted_at, change.change_id
    limit take_changes.changes_max
    for update skip locked
  ) as taken;

  delete from profiles.changes as change
  using unnest(v_times, v_ids) as taken (noted_at, change_id)
  where change.project_id = take_changes.project_id
  and change.noted_at = taken.noted_at and change.change_id = taken.change_id;

  return query select distinct changed.profile_id from unnest(v_who) as changed (profile_id);
end;
$$;
--! EndIncluded profiles/take_changes.sql
--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
-- Those that are being erased say nothing any more, to whomever they were linked meanwhile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text, byte by byte. A null value removes the trait. Writes nothing when nothing changed.
-- The identities are read under the profile's lock: whoever links or undoes folds again after us.
-- Answers with the address before and after.
create or replace function profiles.fold_profile(project_id uuid, profile_id uuid, at timestamptz)
returns table (old_email text, new_email text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_traits    jsonb;
  v_email     text;
  v_old_email text;
begin
  select profile.email into v_old_email from profiles.profiles as profile
  where profile.project_id = fold_profile.project_id and profile.profile_id = fold_profile.profile_id
  for update;

  select coalesce(jsonb_object_agg(winner.key, winner.value) filter (where winner.value <> 'null'), '{}')
  into v_traits
  from (
    select distinct on (trait.key) trait.key, trait.value
    from identity.identities as known
    join profiles.traits as trait
      on trait.project_id = known.project_id and trait.identity_id = known.identity_id
    where known.project_id = fold_profile.project_id
    and known.profile_id = fold_profile.profile_id
    and known.erasure_id is null
    and trait.project_id = fold_profile.project_id
    order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text collate "C" desc
  ) as winner;

  v_email := nullif(btrim(v_traits ->> 'email'), '');

  update profiles.profiles as profile
  set traits = v_traits, email = v_email, updated_at = fold_profile.at
  where profile.project_id = fold_profile.project_id
  and profile.profile_id = fold_profile.profile_id
  and (profile.traits, profile.email) is distinct from (v_traits, v_email);
  if found then
    perform profiles.note_changes(fold_profile.project_id, array[fold_profile.profile_id]);
  end if;

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql
--! Included profiles/make_profiles.sql
-- Makes the profiles of identities that were just made.
--
-- With erased_before: unless somebody was erased since the caller's transaction read that number. The
-- identities may then be of events that are gone, so the transaction has to begin again from its start.
create or replace function profiles.make_profiles(
  project_id    uuid,
  profile_ids   uuid[],
  erased_before integer
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_erased integer;
begin
  select counted.erased into v_erased from profiles.erase_counts as counted
  where counted.project_id = make_profiles.project_id;

  if coalesce(v_erased, 0) <> make_profiles.erased_before then
    raise exception 'somebody was erased meanwhile' using errcode = 'serialization_failure';
  end if;

  insert into profiles.profiles (project_id, profile_id, created_at, updated_at)
  select make_profiles.project_id, made.profile_id, statement_timestamp(), statement_timestamp()
  from unnest(make_profiles.profile_ids) as made (profile_id)
  order by made.profile_id
  on conflict do nothing;

  if cardinality(make_profiles.profile_ids) > 0 then
    perform profiles.note_changes(make_profiles.project_id, make_profiles.profile_ids);
  end if;
end;
$$;
--! EndIncluded profiles/make_profiles.sql

create schema if not exists segments;
grant usage on schema segments to trunkline_runtime, trunkline_queue;

-- One row for each project with segments. Whoever changes members holds it: so entries of the history are
-- committed in their order.
create table if not exists segments.projects (
  project_id uuid not null,
  last_entry bigint not null default 0,
  -- Since when definitions that came, changed or went leave something to do.
  due_at     timestamptz(3),
  primary key (project_id)
) with (fillfactor = 50);
select base.isolate_table('segments.projects');
select base.open_to_queue('segments.projects');
select base.declare_columns('segments.projects', '{}', '{}', '{project_id, last_entry, due_at}');
grant select, insert, update on segments.projects to trunkline_runtime;
grant select (project_id, due_at) on segments.projects to trunkline_queue;

create table if not exists segments.segments (
  project_id       uuid not null,
  segment_id       uuid not null,
  name             text not null,
  kind             text not null,
  -- Counting: what it asks of events is not counted yet. Filling: everybody is looked at.
  status           text not null,
  version          integer not null,
  -- The version that members are of, once everybody was or is looked at with it.
  active_version   integer,
  filled_to        uuid,
  examined_count   bigint not null default 0,
  filled_at        timestamptz(3),
  created_at       timestamptz(3) not null,
  updated_at       timestamptz(3) not null,
  primary key (project_id, segment_id),
  constraint segments_name_is_short check (length(name) between 1 and 255),
  constraint segments_kind_is_known check (kind in ('dynamic', 'static')),
  constraint segments_status_is_known check (status in ('counting', 'filling', 'ready', 'deleting')),
  constraint segments_filling_says_how_far check ((status = 'filling') = (filled_to is not null))
);
select base.isolate_table('segments.segments');
select base.declare_columns('segments.segments', '{}', '{}', '{project_id, segment_id, name, kind, status, version,
  active_version, filled_to, examined_count, filled_at, created_at, updated_at}');
grant select, insert, update, delete on segments.segments to trunkline_runtime;

create table if not exists segments.versions (
  project_id uuid not null,
  segment_id uuid not null,
  version    integer not null,
  definition jsonb not null,
  created_at timestamptz(3) not null,
  primary key (project_id, segment_id, version),
  foreign key (project_id, segment_id) references segments.segments on delete cascade
);
select base.isolate_table('segments.versions');
select base.declare_columns('segments.versions', '{}', '{}', '{project_id, segment_id, version, definition, created_at}');
grant select, insert on segments.versions to trunkline_runtime;

-- What is counted: events of a name that pass filters, up to filled_to, in the order of the events' ids.
create table if not exists segments.conditions (
  project_id   uuid not null,
  condition_id uuid not null,
  event_name   text not null,
  filters      jsonb not null,
  is_daily     boolean not null,
  status       text not null,
  filled_to    uuid not null,
  created_at   timestamptz(3) not null,
  primary key (project_id, condition_id),
  constraint conditions_status_is_known check (status in ('new', 'filling', 'ready', 'unused'))
) with (fillfactor = 50);
create index if not exists conditions_by_event on segments.conditions (project_id, event_name);
select base.isolate_table('segments.conditions');
select base.declare_columns('segments.conditions', '{}', '{}', '{project_id, condition_id, event_name, filters,
  is_daily, status, filled_to, created_at}');
grant select, insert, update, delete on segments.conditions to trunkline_runtime;

create table if not exists segments.counters (
  project_id   uuid not null,
  identity_id  uuid not null,
  condition_id uuid not null,
  -- The first of January 1970 where a condition does not count by day.
  day          date not null,
  count        bigint not null,
  first_at     timestamptz(3) not null,
  last_at      timestamptz(3) not null,
  primary key (project_id, identity_id, condition_id, day),
  foreign key (project_id, identity_id) references identity.identities on delete cascade
) with (fillfactor = 85);
create index if not exists counters_by_condition on segments.counters (project_id, condition_id, identity_id);
select base.isolate_table('segments.counters');
select base.declare_columns('segments.counters', '{}', '{}', '{project_id, identity_id, condition_id, day, count,
  first_at, last_at}');
grant select, insert, update, delete on segments.counters to trunkline_runtime;

create table if not exists segments.members (
  project_id uuid not null,
  segment_id uuid not null,
  profile_id uuid not null,
  entered_at timestamptz(3) not null,
  primary key (project_id, segment_id, profile_id),
  foreign key (project_id, segment_id) references segments.segments,
  foreign key (project_id, profile_id) references profiles.profiles on delete cascade
);
create index if not exists members_by_profile on segments.members (project_id, profile_id, segment_id);
select base.isolate_table('segments.members');
select base.declare_columns('segments.members', '{}', '{}', '{project_id, segment_id, profile_id, entered_at}');
grant select, insert, update, delete on segments.members to trunkline_runtime;

-- Who came and went, in the order in which it was committed: entries count up within a project.
create table if not exists segments.history (
  project_id uuid not null,
  entry      bigint not null,
  segment_id uuid not null,
  version    integer not null,
  profile_id uuid not null,
  change     text not null,
  cause      text not null,
  changed_at timestamptz(3) not null,
  primary key (project_id, entry),
  foreign key (project_id, segment_id) references segments.segments,
  foreign key (project_id, profile_id) references profiles.profiles on delete cascade,
  constraint history_change_is_known check (change in ('entered', 'left')),
  constraint history_cause_is_known check (cause in ('change', 'time', 'fill'))
);
create index if not exists history_by_segment on segments.history (project_id, segment_id, entry);
create index if not exists history_by_profile on segments.history (project_id, profile_id, entry);
select base.isolate_table('segments.history');
select base.declare_columns('segments.history', '{}', '{}', '{project_id, entry, segment_id, version, profile_id,
  change, cause, changed_at}');
grant select, insert, delete on segments.history to trunkline_runtime;

-- Lists of people for a static segment, each of which can be taken back as a whole.
create table if not exists segments.imports (
  project_id  uuid not null,
  segment_id  uuid not null,
  import_id   uuid not null,
  people      integer not null,
  imported_at timestamptz(3) not null,
  undone_at   timestamptz(3),
  primary key (project_id, import_id),
  foreign key (project_id, segment_id) references segments.segments on delete cascade
);
create index if not exists imports_by_segment on segments.imports (project_id, segment_id);
select base.isolate_table('segments.imports');
select base.declare_columns('segments.imports', '{}', '{}', '{project_id, segment_id, import_id, people, imported_at,
  undone_at}');
grant select, insert, update on segments.imports to trunkline_runtime;

-- Who is on them: identities, so that they follow links and undos.
create table if not exists segments.imported (
  project_id  uuid not null,
  segment_id  uuid not null,
  identity_id uuid not null,
  import_id   uuid not null,
  primary key (project_id, segment_id, identity_id, import_id),
  foreign key (project_id, import_id) references segments.imports on delete cascade,
  foreign key (project_id, identity_id) references identity.identities on delete cascade
);
create index if not exists imported_by_identity on segments.imported (project_id, identity_id, segment_id);
create index if not exists imported_by_import on segments.imported (project_id, import_id);
select base.isolate_table('segments.imported');
select base.declare_columns('segments.imported', '{}', '{}', '{project_id, segment_id, identity_id, import_id}');
grant select, insert, delete on segments.imported to trunkline_runtime;

-- When the next day begins on which somebody may enter or leave by the passing of time alone.
create table if not exists segments.wakeups (
  project_id uuid not null,
  profile_id uuid not null,
  wake_at    timestamptz(3) not null,
  primary key (project_id, profile_id),
  foreign key (project_id, profile_id) references profiles.profiles on delete cascade
) with (fillfactor = 85);
create index if not exists wakeups_due on segments.wakeups (project_id, wake_at, profile_id);
select base.isolate_table('segments.wakeups');
select base.open_to_queue('segments.wakeups');
select base.declare_columns('segments.wakeups', '{}', '{}', '{project_id, profile_id, wake_at}');
grant select, insert, update, delete on segments.wakeups to trunkline_runtime;
grant select (project_id, wake_at) on segments.wakeups to trunkline_queue;

--! Included segments/read_moment.sql
-- The moment that a JSON text says: an RFC 3339 timestamp with offset, or a date, which is its midnight UTC.
-- Anything else is no moment, and null; it never fails.
--
-- The same rule as src/segments/moments.ts, to the millisecond; what is finer is cut off.
create or replace function segments.read_moment(value jsonb)
returns timestamptz
language plpgsql immutable
set search_path = ''
as $$
declare
  v_part  text[];
  v_first timestamp;
begin
  if jsonb_typeof(read_moment.value) is distinct from 'string' or length(read_moment.value #>> '{}') > 40 then
    return null;
  end if;
  v_part := regexp_match(read_moment.value #>> '{}', '^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
    '(?:[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?'
    '(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9])))?$');
  if v_part is null or v_part[1] = '0000' then
    return null;
  end if;

  v_first := make_timestamp(v_part[1]::integer, v_part[2]::integer, 1, 0, 0, 0);
  if v_part[3]::integer > extract(day from v_first + interval '1 month' - interval '1 day') then
    return null;
  end if;
  return (
    v_first
    + make_interval(days => v_part[3]::integer - 1, hours => coalesce(v_part[4], '0')::integer,
      mins => coalesce(v_part[5], '0')::integer, secs => coalesce(v_part[6], '0')::integer)
    + coalesce(rpad(left(v_part[7], 3), 3, '0'), '0')::integer * interval '1 millisecond'
    - case when v_part[8] = '-' then -1 else 1 end
      * make_interval(hours => coalesce(v_part[9], '0')::integer, mins => coalesce(v_part[10], '0')::integer)
  ) at time zone 'UTC';
end;
$$;
--! EndIncluded segments/read_moment.sql
--! Included segments/holds.sql
-- Says whether a value passes a test of a segment's definition. A value that is missing is null; never answers null.
--
-- The same rule as src/segments/value_tests.ts, which says what it means. Types are never turned into each
-- other: a test of numbers fails for texts. `today` is the day, in UTC, that windows end with.
create or replace function segments.holds(value jsonb, test jsonb, today date)
returns boolean
language sql immutable
as $$
  select coalesce(
    case holds.test ->> 'is'
      when 'exists' then holds.value is not null
      when 'equals' then holds.value = holds.test -> 'value'
      when 'not_equals' then holds.value is null or holds.value <> holds.test -> 'value'
      when 'one_of' then jsonb_typeof(holds.value) in ('string', 'number', 'boolean')
        and holds.test -> 'values' @> holds.value
      when 'contains' then case jsonb_typeof(holds.value)
        when 'array' then holds.value @> (holds.test -> 'value')
        when 'string' then jsonb_typeof(holds.test -> 'value') = 'string'
          and strpos(holds.value #>> '{}', holds.test ->> 'value') > 0
      end
      when 'starts_with' then jsonb_typeof(holds.value) = 'string'
        and starts_with(holds.value #>> '{}', holds.test ->> 'value')
      when 'before' then segments.read_moment(holds.value) < segments.read_moment(holds.test -> 'value')
      when 'after' then segments.read_moment(holds.value) > segments.read_moment(holds.test -> 'value')
      when 'within_last' then holds.today - (segments.read_moment(holds.value) at time zone 'UTC')::date
        between 0 and (holds.test ->> 'days')::integer - 1
      else case when jsonb_typeof(holds.value) = 'number' then
        case holds.test ->> 'is'
          when 'greater' then holds.value::numeric > (holds.test -> 'value')::numeric
          when 'at_least' then holds.value::numeric >= (holds.test -> 'value')::numeric
          when 'less' then holds.value::numeric < (holds.test -> 'value')::numeric
          when 'at_most' then holds.value::numeric <= (holds.test -> 'value')::numeric
        end
      end
    end,
    false
  )
$$;
--! EndIncluded segments/holds.sql
--! Included segments/passes.sql
-- Says whether an event's properties pass every filter of a condition.
create or replace function segments.passes(properties jsonb, filters jsonb)
returns boolean
language sql immutable
as $$
  select not exists (
    select from jsonb_array_elements(passes.filters) as filter (told)
    where not segments.holds(passes.properties -> (filter.told ->> 'property'), filter.told -> 'test', null)
  )
$$;
--! EndIncluded segments/passes.sql
--! Included segments/next_day.sql
-- The next day on which a window of so many days changes what it says of a day; null when it never will again.
--
-- A day enters a window when it comes, and leaves it when so many days have begun since.
create or replace function segments.next_day(day date, days integer, today date)
returns date
language sql immutable
as $$
  select case
    when next_day.day > next_day.today then next_day.day
    when next_day.day + next_day.days > next_day.today then next_day.day + next_day.days
  end
$$;
--! EndIncluded segments/next_day.sql
--! Included segments/add_counters.sql
-- Adds what was counted of identifiers to what is kept of their identities; answers their profiles.
--
-- Those who are not known, or are being erased, are left out. The others are held, in the order of all locks and
-- as weakly as keeps them from being erased before the commit. Counters are written in the order of their key,
-- so that two who count at once cannot deadlock.
create or replace function segments.add_counters(
  project_id    uuid,
  kinds         text[],
  identifiers   text[],
  condition_ids uuid[],
  days          date[],
  counts        bigint[],
  firsts        timestamptz[],
  lasts         timestamptz[]
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

  insert into segments.counters as counted (project_id, identity_id, condition_id, day, count, first_at, last_at)
  select add_counters.project_id, held.identity_id, told.condition_id, told.day, told.count, told.first_at, told.last_at
  from unnest(add_counters.kinds, add_counters.identifiers, add_counters.condition_ids, add_counters.days,
    add_counters.counts, add_counters.firsts, add_counters.lasts)
    as told (kind, value, condition_id, day, count, first_at, last_at)
  join unnest(v_kinds, v_identifiers, v_ids) as held (kind, value, identity_id)
    on held.kind = told.kind and held.value = told.value
  order by held.identity_id, told.condition_id, told.day
  on conflict on constraint counters_pkey do update
  set count = counted.count + excluded.count,
    first_at = least(counted.first_at, excluded.first_at),
    last_at = greatest(counted.last_at, excluded.last_at);
  return v_profile_ids;
end;
$$;
--! EndIncluded segments/add_counters.sql
--! Included segments/count_events.sql
-- Counts the events of some flushes for the conditions that ask for them, and notes whom something was counted of.
-- Answers whether anybody has to be looked at.
--
-- Belongs into the transaction that processes the flushes. A condition whose past is still being counted takes
-- here only what fill_counters has passed already. Such conditions are held by one transaction at a time, which
-- is one of these or one that fills: so each event is counted by exactly one of the two, and nobody waits for
-- ever. The others are held only as strongly as keeps them from being deleted.
create or replace function segments.count_events(project_id uuid, flush_ids uuid[])
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_names       text[];
  v_kinds       text[];
  v_identifiers text[];
  v_conditions  uuid[];
  v_days        date[];
  v_counts      bigint[];
  v_firsts      timestamptz[];
  v_lasts       timestamptz[];
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
    select array_agg(seen.kind), array_agg(seen.value), array_agg(seen.condition_id), array_agg(seen.day),
      array_agg(seen.count), array_agg(seen.first_at), array_agg(seen.last_at)
    into v_kinds, v_identifiers, v_conditions, v_days, v_counts, v_firsts, v_lasts
    from (
      select case when event.external_id is null then 'anonymous' else 'external' end as kind,
        coalesce(event.external_id, event.anonymous_id) as value, condition.condition_id,
        case when condition.is_daily then (event.occurred_at at time zone 'UTC')::date else 'epoch'::date end as day,
        count(*) as count, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at
      from ingest.pending_events(project_id => count_events.project_id, flush_ids => count_events.flush_ids) as event
      join segments.conditions as condition on condition.event_name = event.name
      where condition.project_id = count_events.project_id and event.name = any (v_names)
      and condition.status <> 'unused' and event.event_id <= condition.filled_to
      and (condition.filters = '[]' or segments.passes(event.properties, condition.filters))
      group by 1, 2, 3, 4
    ) as seen;
  end if;
  if v_kinds is not null then
    perform profiles.note_changes(count_events.project_id, segments.add_counters(count_events.project_id, v_kinds,
      v_identifiers, v_conditions, v_days, v_counts, v_firsts, v_lasts));
  end if;
  return exists (select from profiles.changes as change where change.project_id = count_events.project_id);
end;
$$;
--! EndIncluded segments/count_events.sql
--! Included segments/fill_counters.sql
-- Counts the next events of the past for the conditions that are furthest behind; answers whether there are more.
--
-- Events are read in the order of their ids. Those that wait to be processed are left out: they are counted when
-- they are, since the conditions have passed them by then (count_events). Nobody processes events of the project
-- between our look at them and our commit, because the conditions are ours alone.
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
    array_agg(seen.count) as counts, array_agg(seen.first_at) as firsts, array_agg(seen.last_at) as lasts
  into v_told
  from (
    select case when event.external_id is null then 'anonymous' else 'external' end as kind,
      coalesce(event.external_id, event.anonymous_id) as value, condition.condition_id,
      case when condition.is_daily then (event.occurred_at at time zone 'UTC')::date else 'epoch'::date end as day,
      count(*) as count, min(event.occurred_at) as first_at, max(event.occurred_at) as last_at
    from ingest.events as event
    join segments.conditions as condition on condition.event_name = event.name
    where event.project_id = fill_counters.project_id and event.event_id > v_from and event.event_id <= v_to
    and condition.project_id = fill_counters.project_id and condition.condition_id = any (v_ids)
    and (condition.filters = '[]' or segments.passes(event.properties, condition.filters))
    and not exists (
      select from ingest.pending cross join lateral unnest(pending.event_ids) as noted (event_id)
      where pending.project_id = fill_counters.project_id and noted.event_id = event.event_id
    )
    group by 1, 2, 3, 4
  ) as seen;
  if v_told.kinds is not null then
    perform segments.add_counters(fill_counters.project_id, v_told.kinds, v_told.identifiers, v_told.conditions,
      v_told.days, v_told.counts, v_told.firsts, v_told.lasts);
  end if;

  update segments.conditions as condition
  set filled_to = v_to,
    status = case when v_to = 'ffffffff-ffff-ffff-ffff-ffffffffffff' then 'ready' else 'filling' end
  where condition.project_id = fill_counters.project_id and condition.condition_id = any (v_ids);
  return true;
end;
$$;
--! EndIncluded segments/fill_counters.sql

select base.open_to_analysts('segments.segments', '{project_id, segment_id, name, kind, status, version, filled_at,
  created_at, updated_at}');
select base.open_to_analysts('segments.members', '{project_id, segment_id, profile_id, entered_at}');
select base.open_to_analysts('segments.history', '{project_id, entry, segment_id, version, profile_id, change, cause,
  changed_at}');
--! Included analytics/segments.sql
-- Every segment, as it stands.
create or replace view analytics.segments with (security_invoker = true) as
select
  segment.segment_id,
  nullif(segment.name, '') as segment,
  segment.kind,
  segment.status,
  segment.version,
  segment.filled_at,
  segment.created_at,
  segment.updated_at
from segments.segments as segment
where segment.status <> 'deleting';

comment on view analytics.segments is 'Every segment, as it stands';
comment on column analytics.segments.segment_id is 'Id';
comment on column analytics.segments.segment is 'Its name today';
comment on column analytics.segments.kind is 'dynamic: members follow from its definition; static: they were imported';
comment on column analytics.segments.status is 'counting, filling or ready';
comment on column analytics.segments.version is 'The newest version of its definition';
comment on column analytics.segments.filled_at is 'When everybody was last looked at for it; null when never';
comment on column analytics.segments.created_at is 'When it was made';
comment on column analytics.segments.updated_at is 'When somebody changed it last';

grant select on analytics.segments to trunkline_analyst;
--! EndIncluded analytics/segments.sql
--! Included analytics/segment_members.sql
-- Who is in which segment now.
create or replace view analytics.segment_members with (security_invoker = true) as
select
  member.segment_id,
  nullif(segment.name, '') as segment,
  member.profile_id,
  member.entered_at
from segments.members as member
join segments.segments as segment
  on segment.project_id = member.project_id and segment.segment_id = member.segment_id
where segment.status <> 'deleting';

comment on view analytics.segment_members is 'Who is in which segment now';
comment on column analytics.segment_members.segment_id is 'The segment';
comment on column analytics.segment_members.segment is 'Its name today';
comment on column analytics.segment_members.profile_id is 'The member';
comment on column analytics.segment_members.entered_at is 'Since when';

grant select on analytics.segment_members to trunkline_analyst;
--! EndIncluded analytics/segment_members.sql
--! Included analytics/segment_history.sql
-- Who entered and left which segment, and why.
create or replace view analytics.segment_history with (security_invoker = true) as
select
  history.entry,
  history.segment_id,
  nullif(segment.name, '') as segment,
  history.version,
  history.profile_id,
  history.change,
  history.cause,
  history.changed_at
from segments.history as history
join segments.segments as segment
  on segment.project_id = history.project_id and segment.segment_id = history.segment_id
where segment.status <> 'deleting';

comment on view analytics.segment_history is 'Who entered and left which segment, and why';
comment on column analytics.segment_history.entry is 'Counts up in the order in which it happened';
comment on column analytics.segment_history.segment_id is 'The segment';
comment on column analytics.segment_history.segment is 'Its name today';
comment on column analytics.segment_history.version is 'The version of its definition';
comment on column analytics.segment_history.profile_id is 'Who';
comment on column analytics.segment_history.change is 'entered or left';
comment on column analytics.segment_history.cause is
  'change: of the person, of what they did, or of a list with them; time: it passed; fill: a new definition';
comment on column analytics.segment_history.changed_at is 'When';

grant select on analytics.segment_history to trunkline_analyst;
--! EndIncluded analytics/segment_history.sql
