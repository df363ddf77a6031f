--! Previous: -
--! Hash: sha1:ec54d67b6690ced8ca3aa0c0a40a1f63c86abb9e
--! Message: initial

-- Schemas, one per room. Everything here can run twice.
--
-- Every timestamptz keeps milliseconds: what JavaScript's Date can hold, so that a time read can be asked for again.
create schema if not exists base;
create schema if not exists queue authorization trunkline_queue;
create schema if not exists projects;
create schema if not exists ingest;
create schema if not exists identity;
create schema if not exists profiles;
create schema if not exists suppression;
create schema if not exists providers;
create schema if not exists rendering;
create schema if not exists delivery;
create schema if not exists automations;
create schema if not exists feedback;

grant usage on schema queue, projects, ingest, identity, profiles, suppression, providers, rendering,
  delivery, automations, feedback to trunkline_runtime;
grant usage on schema projects, ingest, delivery, automations, graphile_migrate to trunkline_queue;
grant usage on schema graphile_migrate to trunkline_runtime;
grant select on graphile_migrate.migrations to trunkline_runtime;

--! Included base/isolate_table.sql
-- Closes a tenant table to everybody but the project that the transaction was opened for.
--
-- Forced, so that it binds the table's owner too. The setting is local to a transaction
-- (set by src/base/db.ts, or by a function whose first argument is the project); without it
-- there are no rows, never an error that tells more.
create or replace function base.isolate_table(table_name regclass)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  execute format('alter table %s enable row level security', isolate_table.table_name);
  execute format('alter table %s force row level security', isolate_table.table_name);
  execute format('drop policy if exists one_project on %s', isolate_table.table_name);
  execute format(
    'create policy one_project on %s using (project_id = %s)',
    isolate_table.table_name,
    'nullif(current_setting(''trunkline.project_id'', true), '''')::uuid'
  );
end;
$$;
--! EndIncluded base/isolate_table.sql
--! Included base/open_to_queue.sql
-- Lets the queue's role read a tenant table across projects, in the columns it was granted.
--
-- The sweeper has to find work of every project without asking each project in turn.
create or replace function base.open_to_queue(table_name regclass)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  execute format('drop policy if exists work_of_all_projects on %s', open_to_queue.table_name);
  execute format(
    'create policy work_of_all_projects on %s for select to trunkline_queue using (true)',
    open_to_queue.table_name
  );
end;
$$;
--! EndIncluded base/open_to_queue.sql

-- queue ------------------------------------------------------------------------------------------
-- Local to the main node: who is alive. Not tenant data.

create table if not exists queue.workers (
  worker_id    text primary key,
  started_at   timestamptz(3) not null,
  heartbeat_at timestamptz(3) not null
);
alter table queue.workers owner to trunkline_queue;

--! Included queue/add_hint.sql
-- Wakes a worker to look at rows. Hints with the same task and payload collapse into one.
--
-- A hint that arrives while its twin is being worked on becomes a job of its own, so nothing
-- that was written before the hint can be missed. A reminder is for work that should have been
-- found long ago: it leaves a twin alone that waits for its next try, so that back-off holds.
-- Runs as the queue's owner, because the runtime role has no business in the queue's tables.
create or replace function queue.add_hint(task text, payload jsonb, is_reminder boolean default false)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select from graphile_worker.add_job(
    identifier => add_hint.task,
    payload => add_hint.payload::json,
    job_key => add_hint.task || add_hint.payload::text,
    job_key_mode => case when add_hint.is_reminder then 'unsafe_dedupe' else 'replace' end,
    max_attempts => 25
  )
$$;

alter function queue.add_hint(text, jsonb, boolean) owner to trunkline_queue;
revoke all on function queue.add_hint(text, jsonb, boolean) from public;
grant execute on function queue.add_hint(text, jsonb, boolean) to trunkline_runtime;
--! EndIncluded queue/add_hint.sql
--! Included queue/release_workers.sql
-- Gives the jobs of dead workers back to the queue and forgets those workers.
--
-- The caller has made sure that they are dead: heartbeat old and liveness lock free.
create or replace function queue.release_workers(worker_ids text[])
returns void
language sql volatile
as $$
  select from graphile_worker.force_unlock_workers(release_workers.worker_ids);
  delete from queue.workers where worker_id = any (release_workers.worker_ids);
$$;

alter function queue.release_workers(text[]) owner to trunkline_queue;
revoke all on function queue.release_workers(text[]) from public;
--! EndIncluded queue/release_workers.sql

-- projects ---------------------------------------------------------------------------------------
-- Small look-up tables, copied to every node when sharded: no counters, no last-used columns.

create table if not exists projects.projects (
  project_id uuid primary key,
  name       text not null,
  timezone   text not null default 'UTC',
  created_at timestamptz(3) not null,
  constraint projects_name_is_short check (length(name) between 1 and 200)
);

create table if not exists projects.api_keys (
  project_id uuid not null references projects.projects on delete cascade,
  key_id     uuid not null,
  kind       text not null,
  key_hash   bytea not null,
  last_four  text not null,
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  primary key (project_id, key_id),
  constraint api_keys_kind_is_known check (kind in ('publishable', 'server', 'hook')),
  constraint api_keys_hash_is_hmac_sha256 check (length(key_hash) = 32),
  constraint api_keys_hash_is_unique unique (key_hash)
);

grant select, insert, update on projects.projects, projects.api_keys to trunkline_runtime;

-- ingest -----------------------------------------------------------------------------------------

create table if not exists ingest.events (
  project_id   uuid not null,
  event_id     uuid not null,
  occurred_at  timestamptz(3) not null,
  received_at  timestamptz(3) not null,
  name         text not null,
  external_id  text,
  anonymous_id text,
  properties   jsonb not null default '{}',
  source       text not null,
  key_kind     text,
  primary key (project_id, event_id, occurred_at),
  constraint events_name_someone check (num_nonnulls(external_id, anonymous_id) >= 1),
  constraint events_source_is_known check (source in ('browser', 'server', 'system'))
) partition by range (occurred_at);

create index if not exists events_by_external_id on ingest.events (project_id, external_id, occurred_at)
  where external_id is not null;
create index if not exists events_by_anonymous_id on ingest.events (project_id, anonymous_id, occurred_at)
  where external_id is null;
create index if not exists events_by_arrival on ingest.events using brin (received_at);

-- Exact dedupe without a window: a unique index on the timeline would have to include time.
create table if not exists ingest.message_ids (
  project_id  uuid not null,
  message_id  text not null,
  event_id    uuid not null,
  occurred_at timestamptz(3) not null,
  primary key (project_id, message_id)
);

-- The note of work that each flush leaves; deleted by the transaction that does the work.
create table if not exists ingest.pending (
  project_id    uuid not null,
  flush_id      uuid not null,
  event_ids     uuid[] not null,
  occurred_from timestamptz(3) not null,
  occurred_to   timestamptz(3) not null,
  received_at   timestamptz(3) not null,
  primary key (project_id, flush_id)
);

select base.isolate_table('ingest.events');
select base.isolate_table('ingest.message_ids');
select base.isolate_table('ingest.pending');
grant select, insert on ingest.events, ingest.message_ids to trunkline_runtime;
grant select, insert, update, delete on ingest.pending to trunkline_runtime;

--! Included ingest/keep_partitions.sql
-- Makes every monthly partition of the timeline from the oldest accepted month to three months ahead.
--
-- Owned by the schema's owner and callable by the queue, so that the daily job needs no right to make tables.
create or replace function ingest.keep_partitions(months_back integer default 24, months_ahead integer default 3)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first date := date_trunc('month', now() at time zone 'UTC' - make_interval(months => keep_partitions.months_back));
  v_month date;
  v_name  text;
  v_made  integer := 0;
begin
  for v_offset in 0 .. keep_partitions.months_back + keep_partitions.months_ahead loop
    v_month := v_first + make_interval(months => v_offset);
    v_name := to_char(v_month, '"events_"YYYYMM');
    continue when to_regclass(format('ingest.%I', v_name)) is not null;
    begin
      -- Attaching does not stop those who read or write the timeline; making it in place would.
      execute format('create table ingest.%I (like ingest.events including all)', v_name);
      execute format(
        'alter table ingest.events attach partition ingest.%I for values from (%L) to (%L)',
        v_name,
        to_char(v_month, 'YYYY-MM-DD"T00:00:00Z"'),
        to_char(v_month + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"')
      );
      v_made := v_made + 1;
    exception when duplicate_table or unique_violation then
      null; -- Somebody else made it meanwhile.
    end;
  end loop;
  return v_made;
end;
$$;

revoke all on function ingest.keep_partitions(integer, integer) from public;
grant execute on function ingest.keep_partitions(integer, integer) to trunkline_queue;
--! EndIncluded ingest/keep_partitions.sql
--! Included ingest/accept_events.sql
-- Stores a flush of one project and notes the work it needs, or does neither.
--
-- Nobody is woken here: a NOTIFY inside this transaction would make every commit of the
-- server queue up behind this one. The caller wakes a worker after the commit; the sweeper
-- finds what a lost wake-up left behind.
--
-- Answers in request order. A repeated message id answers with the first event's id.
create or replace function ingest.accept_events(
  project_id    uuid,
  flush_id      uuid,
  event_ids     uuid[],
  message_ids   text[],
  names         text[],
  external_ids  text[],
  anonymous_ids text[],
  properties    jsonb[],
  occurred_ats  timestamptz[],
  key_kinds     text[],
  sources       text[]
)
returns table (stored_ids uuid[], duplicates boolean[])
language plpgsql volatile
set search_path = ''
as $$
declare
  v_received_at timestamptz := clock_timestamp();
  v_stored      uuid[];
begin
  perform set_config('trunkline.project_id', accept_events.project_id::text, true);

  -- 1. Claim the message ids, in one order everywhere so that two flushes cannot deadlock.
  insert into ingest.message_ids (project_id, message_id, event_id, occurred_at)
  select accept_events.project_id, item.message_id, item.event_id, coalesce(item.occurred_at, v_received_at)
  from unnest(accept_events.message_ids, accept_events.event_ids, accept_events.occurred_ats)
    as item (message_id, event_id, occurred_at)
  where item.message_id is not null
  order by item.message_id, item.event_id
  on conflict do nothing;

  -- 2. Which event each item became: its own, or the first one with its message id.
  select array_agg(coalesce(taken.event_id, item.event_id) order by item.ordinal)
  into v_stored
  from unnest(accept_events.event_ids, accept_events.message_ids) with ordinality
    as item (event_id, message_id, ordinal)
  left join ingest.message_ids as taken
    on taken.project_id = accept_events.project_id and taken.message_id = item.message_id;

  -- 3. Store the events that won.
  insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
    properties, source, key_kind)
  select accept_events.project_id, item.event_id, coalesce(item.occurred_at, v_received_at), v_received_at, item.name,
    item.external_id, item.anonymous_id, item.properties, item.source, item.key_kind
  from unnest(v_stored, accept_events.event_ids, accept_events.names, accept_events.external_ids,
    accept_events.anonymous_ids, accept_events.properties, accept_events.occurred_ats, accept_events.key_kinds,
    accept_events.sources)
    as item (stored_id, event_id, name, external_id, anonymous_id, properties, occurred_at, key_kind, source)
  where item.event_id = item.stored_id;

  -- 4. Note the work.
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at
  from unnest(v_stored, accept_events.event_ids, accept_events.occurred_ats) as item (stored_id, event_id, occurred_at)
  where item.event_id = item.stored_id
  having count(*) > 0;

  stored_ids := v_stored;
  select array_agg(item.stored_id <> item.event_id order by item.ordinal)
  into duplicates
  from unnest(v_stored, accept_events.event_ids) with ordinality as item (stored_id, event_id, ordinal);
  return next;
end;
$$;
--! EndIncluded ingest/accept_events.sql
--! Included ingest/claim_flushes.sql
-- Takes the oldest flushes nobody else is working on, until the transaction ends.
create or replace function ingest.claim_flushes(project_id uuid, flushes_max integer)
returns setof uuid
language sql volatile
as $$
  select pending.flush_id
  from ingest.pending
  where pending.project_id = claim_flushes.project_id
  order by pending.received_at
  limit claim_flushes.flushes_max
  for update skip locked
$$;
--! EndIncluded ingest/claim_flushes.sql
--! Included ingest/pending_events.sql
-- The events of some flushes.
--
-- The ids and their time range are read first, so that the planner sees them as values: it then
-- opens the partitions of that range only, and looks each id up instead of walking the project.
create or replace function ingest.pending_events(project_id uuid, flush_ids uuid[])
returns setof ingest.events
language plpgsql stable
set search_path = ''
as $$
declare
  v_event_ids uuid[];
  v_from      timestamptz;
  v_to        timestamptz;
begin
  select array_agg(noted.event_id), min(pending.occurred_from), max(pending.occurred_to)
  into v_event_ids, v_from, v_to
  from ingest.pending
  cross join lateral unnest(pending.event_ids) as noted (event_id)
  where pending.project_id = pending_events.project_id
  and pending.flush_id = any (pending_events.flush_ids);

  return query
  select event.*
  from ingest.events as event
  where event.project_id = pending_events.project_id
  and event.event_id = any (v_event_ids)
  and event.occurred_at between v_from and v_to;
end;
$$;
--! EndIncluded ingest/pending_events.sql
select ingest.keep_partitions();

-- identity ---------------------------------------------------------------------------------------

create table if not exists identity.identities (
  project_id     uuid not null,
  identity_id    uuid not null,
  kind           text not null,
  value          text not null,
  profile_id     uuid not null,
  own_profile_id uuid not null,
  first_seen_at  timestamptz(3) not null,
  last_seen_at   timestamptz(3) not null,
  primary key (project_id, identity_id),
  constraint identities_are_unique unique (project_id, kind, value),
  constraint identities_kind_is_known check (kind in ('external', 'anonymous'))
) with (fillfactor = 85);

create index if not exists identities_by_profile on identity.identities (project_id, profile_id);

select base.isolate_table('identity.identities');
grant select, insert, update on identity.identities to trunkline_runtime;

--! Included identity/see_identifiers.sql
-- Makes the identities that are new, moves last_seen_at of the others, and answers with all of them.
--
-- A new identity gets a profile id of its own; the profile's row is the profiles room's to make.
-- Sorted by (kind, value) so that two claims cannot deadlock.
create or replace function identity.see_identifiers(
  project_id     uuid,
  identity_ids   uuid[],
  profile_ids    uuid[],
  kinds          text[],
  identifiers    text[],
  first_seen_ats timestamptz[],
  last_seen_ats  timestamptz[]
)
returns table (identity_id uuid, profile_id uuid, kind text, value text, is_new boolean)
language plpgsql volatile
set search_path = ''
as $$
begin
  insert into identity.identities as known (project_id, identity_id, kind, value, profile_id, own_profile_id,
    first_seen_at, last_seen_at)
  select see_identifiers.project_id, seen.identity_id, seen.kind, seen.value, seen.profile_id, seen.profile_id,
    seen.first_seen_at, seen.last_seen_at
  from unnest(see_identifiers.identity_ids, see_identifiers.profile_ids, see_identifiers.kinds,
    see_identifiers.identifiers, see_identifiers.first_seen_ats, see_identifiers.last_seen_ats)
    as seen (identity_id, profile_id, kind, value, first_seen_at, last_seen_at)
  order by seen.kind, seen.value
  on conflict on constraint identities_are_unique do update
  set first_seen_at = least(known.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  where known.first_seen_at > excluded.first_seen_at or known.last_seen_at < excluded.last_seen_at;

  return query
  select known.identity_id, known.profile_id, known.kind, known.value, known.identity_id = seen.identity_id
  from unnest(see_identifiers.identity_ids, see_identifiers.kinds, see_identifiers.identifiers)
    as seen (identity_id, kind, value)
  join identity.identities as known
    on known.project_id = see_identifiers.project_id
    and known.kind = seen.kind
    and known.value = seen.value;
end;
$$;
--! EndIncluded identity/see_identifiers.sql

-- profiles ---------------------------------------------------------------------------------------

create table if not exists profiles.profiles (
  project_id uuid not null,
  profile_id uuid not null,
  email      text,
  traits     jsonb not null default '{}',
  tags       text[] not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, profile_id)
) with (fillfactor = 85);

create index if not exists profiles_by_email on profiles.profiles (project_id, lower(email)) where email is not null;

-- What each identity was told about itself: the source of the fold in profiles.profiles.
create table if not exists profiles.traits (
  project_id  uuid not null,
  identity_id uuid not null,
  key         text not null,
  value       jsonb not null,
  set_at      timestamptz(3) not null,
  authority   text not null,
  primary key (project_id, identity_id, key),
  constraint traits_authority_is_known check (authority in ('publishable', 'server'))
);

select base.isolate_table('profiles.profiles');
select base.isolate_table('profiles.traits');
grant select, insert, update, delete on profiles.profiles, profiles.traits to trunkline_runtime;

--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text. A null value removes the trait. Writes nothing when nothing changed.
create or replace function profiles.fold_profile(project_id uuid, profile_id uuid, identity_ids uuid[], at timestamptz)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_traits jsonb;
  v_email  text;
begin
  perform from profiles.profiles as profile
  where profile.project_id = fold_profile.project_id and profile.profile_id = fold_profile.profile_id
  for update;

  select coalesce(jsonb_object_agg(winner.key, winner.value) filter (where winner.value <> 'null'), '{}')
  into v_traits
  from (
    select distinct on (trait.key) trait.key, trait.value
    from profiles.traits as trait
    where trait.project_id = fold_profile.project_id
    and trait.identity_id = any (fold_profile.identity_ids)
    order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text desc
  ) as winner;

  v_email := nullif(btrim(v_traits ->> 'email'), '');

  update profiles.profiles as profile
  set traits = v_traits, email = v_email, updated_at = fold_profile.at
  where profile.project_id = fold_profile.project_id
  and profile.profile_id = fold_profile.profile_id
  and (profile.traits, profile.email) is distinct from (v_traits, v_email);
end;
$$;
--! EndIncluded profiles/fold_profile.sql
--! Included profiles/set_traits.sql
-- Keeps what an identity was told about itself, where it beats what is kept already.
--
-- The same rule as fold_profile, so that arrival order cannot matter.
create or replace function profiles.set_traits(
  project_id  uuid,
  identity_id uuid,
  traits      jsonb,
  set_at      timestamptz,
  authority   text
)
returns void
language sql volatile
as $$
  insert into profiles.traits as kept (project_id, identity_id, key, value, set_at, authority)
  select set_traits.project_id, set_traits.identity_id, told.key, told.value, set_traits.set_at, set_traits.authority
  from jsonb_each(set_traits.traits) as told
  order by told.key
  on conflict (project_id, identity_id, key) do update
  set value = excluded.value, set_at = excluded.set_at, authority = excluded.authority
  where (excluded.authority = 'server', excluded.set_at, excluded.value::text)
    > (kept.authority = 'server', kept.set_at, kept.value::text)
$$;
--! EndIncluded profiles/set_traits.sql

-- suppression ------------------------------------------------------------------------------------
-- One row per address that was ever planned for or suppressed: what suppression and hand-off both lock.

create table if not exists suppression.addresses (
  project_id    uuid not null,
  address_key   bytea not null,
  email         text,
  reason        text,
  source        text,
  suppressed_at timestamptz(3),
  primary key (project_id, address_key),
  constraint addresses_key_is_hmac_sha256 check (length(address_key) = 32),
  constraint addresses_suppressed_have_a_reason check (num_nonnulls(reason, source, suppressed_at) in (0, 3)),
  constraint addresses_reason_is_known check (reason in ('hard_bounce', 'complaint', 'manual'))
);

create index if not exists addresses_suppressed on suppression.addresses (project_id, suppressed_at desc, address_key)
  where suppressed_at is not null;

create table if not exists suppression.history (
  project_id  uuid not null,
  history_id  uuid not null,
  address_key bytea not null,
  change      text not null,
  reason      text not null,
  source      text not null,
  changed_at  timestamptz(3) not null,
  primary key (project_id, history_id),
  constraint history_change_is_known check (change in ('suppressed', 'released')),
  foreign key (project_id, address_key) references suppression.addresses (project_id, address_key)
);

select base.isolate_table('suppression.addresses');
select base.isolate_table('suppression.history');
grant select, insert, update on suppression.addresses to trunkline_runtime;
grant select, insert on suppression.history to trunkline_runtime;

--! Included suppression/know_address.sql
-- Makes sure that an address has a row to lock.
create or replace function suppression.know_address(project_id uuid, address_key bytea, email text)
returns void
language sql volatile
as $$
  insert into suppression.addresses (project_id, address_key, email)
  values (know_address.project_id, know_address.address_key, know_address.email)
  on conflict do nothing
$$;
--! EndIncluded suppression/know_address.sql
--! Included suppression/suppress_address.sql
-- Puts an address on the list. From the commit on, no hand-off to it begins.
--
-- Takes the address row exclusively; a hand-off takes the same row in share mode. That is the
-- one order between "suppress" and "hand off". The strongest reason wins whatever came first,
-- so that feedback leads to the same row in any order; every change is in the history.
create or replace function suppression.suppress_address(
  project_id  uuid,
  address_key bytea,
  email       text,
  history_id  uuid,
  reason      text,
  source      text,
  at          timestamptz
)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  insert into suppression.addresses as address (project_id, address_key, email, reason, source, suppressed_at)
  values (suppress_address.project_id, suppress_address.address_key, suppress_address.email, suppress_address.reason,
    suppress_address.source, suppress_address.at)
  on conflict on constraint addresses_pkey do update
  set reason = excluded.reason,
    source = excluded.source,
    suppressed_at = excluded.suppressed_at,
    email = excluded.email
  where address.suppressed_at is null
  or (array_position(array['manual', 'hard_bounce', 'complaint'], excluded.reason),
      address.suppressed_at, address.source, address.email)
    > (array_position(array['manual', 'hard_bounce', 'complaint'], address.reason),
      excluded.suppressed_at, excluded.source, excluded.email);

  insert into suppression.history (project_id, history_id, address_key, change, reason, source, changed_at)
  values (suppress_address.project_id, suppress_address.history_id, suppress_address.address_key, 'suppressed',
    suppress_address.reason, suppress_address.source, suppress_address.at);
end;
$$;
--! EndIncluded suppression/suppress_address.sql
--! Included suppression/is_suppressed.sql
-- Says whether an address is on the list, and keeps the answer true until the transaction ends.
--
-- The row is locked in share mode: a suppression that comes later waits for us, one that came
-- earlier is seen. The row exists from the moment a send to the address is planned.
create or replace function suppression.is_suppressed(project_id uuid, address_key bytea)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_suppressed_at timestamptz;
begin
  select address.suppressed_at
  into strict v_suppressed_at
  from suppression.addresses as address
  where address.project_id = is_suppressed.project_id and address.address_key = is_suppressed.address_key
  for share;
  return v_suppressed_at is not null;
end;
$$;
--! EndIncluded suppression/is_suppressed.sql

-- providers --------------------------------------------------------------------------------------

create table if not exists providers.data_keys (
  project_id     uuid not null,
  key_version    integer not null,
  master_version integer not null,
  wrapped_key    bytea not null,
  created_at     timestamptz(3) not null,
  primary key (project_id, key_version)
);

create table if not exists providers.providers (
  project_id    uuid not null,
  provider_id   uuid not null,
  provider      text not null,
  display_name  text not null,
  from_email    text not null,
  from_name     text,
  reply_to      text,
  smtp_host     text,
  smtp_port     integer,
  smtp_secure   text,
  username      text,
  key_version   integer not null,
  password      bytea,
  status        text not null default 'active',
  parked_reason text,
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null,
  primary key (project_id, provider_id),
  foreign key (project_id, key_version) references providers.data_keys (project_id, key_version),
  constraint providers_provider_is_known check (provider in ('smtp', 'relay_api', 'cloud_api')),
  constraint providers_status_is_known check (status in ('active', 'parked')),
  constraint providers_parked_have_a_reason check ((status = 'parked') = (parked_reason is not null)),
  constraint providers_smtp_is_complete check (
    provider <> 'smtp' or num_nulls(smtp_host, smtp_port, smtp_secure, username, password) = 0
  ),
  constraint providers_smtp_port_in_range check (smtp_port between 1 and 65535),
  constraint providers_smtp_secure_is_known check (smtp_secure in ('starttls', 'ssl', 'none'))
);

create unique index if not exists providers_by_from_email on providers.providers (project_id, lower(from_email));

select base.isolate_table('providers.data_keys');
select base.isolate_table('providers.providers');
grant select, insert, update, delete on providers.data_keys, providers.providers to trunkline_runtime;

-- rendering --------------------------------------------------------------------------------------

create table if not exists rendering.templates (
  project_id  uuid not null,
  template_id uuid not null,
  version     integer not null,
  name        text not null,
  subject     text not null,
  html        text not null,
  text        text,
  created_at  timestamptz(3) not null,
  primary key (project_id, template_id, version)
);

select base.isolate_table('rendering.templates');
grant select, insert on rendering.templates to trunkline_runtime;

-- delivery ---------------------------------------------------------------------------------------

create table if not exists delivery.sends (
  project_id          uuid not null,
  send_id             uuid not null,
  automation_id       uuid,
  run_id              uuid,
  step_id             text,
  profile_id          uuid not null,
  provider_id         uuid not null,
  template_id         uuid not null,
  template_version    integer not null,
  event_id            uuid,
  event_occurred_at   timestamptz(3),
  address_key         bytea not null,
  recipient           text,
  subject             text,
  status              text not null,
  status_reason       text,
  attempt_count       integer not null default 0,
  lease_owner         text,
  lease_until         timestamptz(3),
  due_at              timestamptz(3) not null,
  queued_at           timestamptz(3) not null,
  expires_at          timestamptz(3) not null,
  handed_off_at       timestamptz(3),
  accepted_at         timestamptz(3),
  provider_message_id text,
  delivered_at        timestamptz(3),
  bounced_at          timestamptz(3),
  complained_at       timestamptz(3),
  primary key (project_id, send_id),
  -- One step of one run makes one intent, however often it is planned.
  constraint sends_one_intent_per_step unique (project_id, run_id, step_id),
  foreign key (project_id, address_key) references suppression.addresses (project_id, address_key),
  constraint sends_status_is_known check (status in ('queued', 'handing_off', 'accepted', 'rejected', 'unknown',
    'not_sent', 'suppressed', 'cancelled', 'expired', 'failed_render'))
);

create index if not exists sends_due on delivery.sends (project_id, provider_id, due_at) where status = 'queued';
create index if not exists sends_in_flight on delivery.sends (project_id, handed_off_at) where status = 'handing_off';
create index if not exists sends_by_profile on delivery.sends (project_id, profile_id, send_id);
create index if not exists sends_by_address on delivery.sends (project_id, address_key, send_id);

create table if not exists delivery.attempts (
  project_id          uuid not null,
  send_id             uuid not null,
  attempt             integer not null,
  message_id          text not null,
  lease_owner         text not null,
  started_at          timestamptz(3) not null,
  ended_at            timestamptz(3),
  outcome             text,
  reason              text,
  provider_message_id text,
  primary key (project_id, send_id, attempt),
  foreign key (project_id, send_id) references delivery.sends (project_id, send_id) on delete cascade,
  constraint attempts_outcome_is_known check (outcome in ('accepted', 'rejected', 'deferred', 'unknown', 'not_started'))
);

create index if not exists attempts_by_message_id on delivery.attempts (project_id, message_id);
create index if not exists attempts_by_provider_message_id on delivery.attempts (project_id, provider_message_id)
  where provider_message_id is not null;

-- What was sent, kept with the send until the person is erased.
create table if not exists delivery.contents (
  project_id uuid not null,
  send_id    uuid not null,
  subject    text not null,
  html       text not null,
  text       text not null,
  primary key (project_id, send_id),
  foreign key (project_id, send_id) references delivery.sends (project_id, send_id) on delete cascade
);

select base.isolate_table('delivery.sends');
select base.isolate_table('delivery.attempts');
select base.isolate_table('delivery.contents');
grant select, insert, update on delivery.sends, delivery.attempts, delivery.contents to trunkline_runtime;

--! Included delivery/plan_send.sql
-- Makes the one send intent of a run's step, or answers with the one that is there.
--
-- The address row is made first: from here on suppression and hand-off have something to lock.
-- An address that is already suppressed is refused here, visibly; the hand-off asks again.
create or replace function delivery.plan_send(
  project_id        uuid,
  send_id           uuid,
  automation_id     uuid,
  run_id            uuid,
  step_id           text,
  profile_id        uuid,
  provider_id       uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  expires_after     interval
)
returns table (planned_id uuid, planned_status text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now        timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_suppressed boolean;
begin
  perform suppression.know_address(plan_send.project_id, plan_send.address_key, plan_send.recipient);
  v_suppressed := suppression.is_suppressed(plan_send.project_id, plan_send.address_key);

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, provider_id,
    template_id, template_version, event_id, event_occurred_at, address_key, recipient, status, status_reason,
    due_at, queued_at, expires_at)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.profile_id, plan_send.provider_id, plan_send.template_id, plan_send.template_version,
    plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key, plan_send.recipient,
    case when v_suppressed then 'suppressed' else 'queued' end,
    case when v_suppressed then 'suppressed' end,
    v_now, v_now, v_now + plan_send.expires_after)
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
--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones.
--
-- Those that waited too long end here as expired. A lease only saves work: what may be handed
-- off is decided by begin_hand_off. It runs out by the database's clock when its owner dies.
create or replace function delivery.claim_sends(
  project_id  uuid,
  provider_id uuid,
  owner       text,
  sends_max   integer,
  lease_for   interval
)
returns table (
  send_id           uuid,
  profile_id        uuid,
  template_id       uuid,
  template_version  integer,
  event_id          uuid,
  event_occurred_at timestamptz,
  address_key       bytea,
  recipient         text,
  attempt           integer
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  update delivery.sends as send
  set status = 'expired', status_reason = 'expired'
  where send.project_id = claim_sends.project_id
  and send.provider_id = claim_sends.provider_id
  and send.status = 'queued'
  and send.expires_at <= v_now;

  select array_agg(due.send_id)
  into v_ids
  from (
    select send.send_id
    from delivery.sends as send
    where send.project_id = claim_sends.project_id
    and send.provider_id = claim_sends.provider_id
    and send.status = 'queued'
    and send.due_at <= v_now
    and (send.lease_until is null or send.lease_until < v_now)
    order by send.due_at
    limit claim_sends.sends_max
    for update skip locked
  ) as due;

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.attempt_count + 1;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
--! Included delivery/begin_hand_off.sql
-- Commits that a message is about to be given to the provider, or says why it must not be.
--
-- Locks the address first, then the send, as every suppression does. Answers 'handing_off' when
-- the caller now owns this attempt; 'suppressed' or 'expired' when the send has ended; 'lost' when
-- the send is no longer the caller's to hand off. One statement of the client, so one transaction.
create or replace function delivery.begin_hand_off(
  project_id  uuid,
  send_id     uuid,
  address_key bytea,
  owner       text,
  attempt     integer,
  message_id  text
)
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_suppressed boolean;
  v_now        timestamptz;
  v_decision   text;
begin
  perform set_config('trunkline.project_id', begin_hand_off.project_id::text, true);
  v_suppressed := suppression.is_suppressed(begin_hand_off.project_id, begin_hand_off.address_key);
  -- After the wait for the address: a lease may have run out meanwhile.
  v_now := date_trunc('milliseconds', clock_timestamp());

  update delivery.sends as send
  set status = case when v_suppressed then 'suppressed' else 'expired' end,
    status_reason = case when v_suppressed then 'suppressed' else 'expired' end,
    lease_owner = null,
    lease_until = null
  where send.project_id = begin_hand_off.project_id
  and send.send_id = begin_hand_off.send_id
  and send.status = 'queued'
  and send.lease_owner = begin_hand_off.owner
  and send.lease_until > v_now
  and (v_suppressed or send.expires_at <= v_now)
  returning send.status into v_decision;

  if v_decision is not null then
    return v_decision;
  end if;

  update delivery.sends as send
  set status = 'handing_off', status_reason = null, attempt_count = begin_hand_off.attempt, handed_off_at = v_now
  where send.project_id = begin_hand_off.project_id
  and send.send_id = begin_hand_off.send_id
  and send.status = 'queued'
  and send.lease_owner = begin_hand_off.owner
  and send.lease_until > v_now
  and send.attempt_count = begin_hand_off.attempt - 1
  returning send.status into v_decision;

  if v_decision is null then
    return 'lost';
  end if;

  insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at)
  values (begin_hand_off.project_id, begin_hand_off.send_id, begin_hand_off.attempt, begin_hand_off.message_id,
    begin_hand_off.owner, v_now);
  return v_decision;
end;
$$;
--! EndIncluded delivery/begin_hand_off.sql
--! Included delivery/record_outcome.sql
-- Writes what became of an attempt and moves the send on.
--
-- accepted, rejected: final. deferred, not_started: definitely not taken, back to the queue for
-- retry_after from now. unknown: held, unless feedback has proved meanwhile that the provider took
-- it. An attempt that was given up as unknown while its owner was silent still learns a definite
-- answer; it never goes back to the queue from there.
create or replace function delivery.record_outcome(
  project_id          uuid,
  send_id             uuid,
  attempt             integer,
  outcome             text,
  reason              text,
  provider_message_id text,
  retry_after         interval
)
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now    timestamptz := clock_timestamp();
  v_status text;
begin
  perform set_config('trunkline.project_id', record_outcome.project_id::text, true);

  update delivery.sends as send
  set status = case
      when record_outcome.outcome = 'accepted' then 'accepted'
      when record_outcome.outcome <> 'rejected'
        and num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at) > 0 then 'accepted'
      when record_outcome.outcome = 'unknown' then 'unknown'
      when send.status = 'unknown' then 'not_sent'
      when record_outcome.outcome in ('deferred', 'not_started') then 'queued'
      else record_outcome.outcome
    end,
    status_reason = record_outcome.reason,
    due_at = case when record_outcome.retry_after is null then send.due_at
      else v_now + record_outcome.retry_after end,
    accepted_at = case record_outcome.outcome
      when 'accepted' then v_now
      when 'rejected' then send.accepted_at
      else least(send.delivered_at, send.bounced_at, send.complained_at)
    end,
    provider_message_id = coalesce(record_outcome.provider_message_id, send.provider_message_id),
    lease_owner = null,
    lease_until = null
  where send.project_id = record_outcome.project_id
  and send.send_id = record_outcome.send_id
  and send.attempt_count = record_outcome.attempt
  and send.status in ('handing_off', 'unknown')
  returning send.status into v_status;

  update delivery.attempts as tried
  set ended_at = v_now, outcome = record_outcome.outcome, reason = record_outcome.reason,
    provider_message_id = record_outcome.provider_message_id
  where tried.project_id = record_outcome.project_id
  and tried.send_id = record_outcome.send_id
  and tried.attempt = record_outcome.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');

  return coalesce(v_status, 'lost');
end;
$$;
--! EndIncluded delivery/record_outcome.sql
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- A fact about a send whose outcome we never learned proves that the provider took it.
create or replace function delivery.record_feedback(project_id uuid, send_id uuid, fact text, occurred_at timestamptz)
returns void
language sql volatile
as $$
  update delivery.sends as send
  set delivered_at = case when record_feedback.fact = 'delivered'
      then least(send.delivered_at, record_feedback.occurred_at) else send.delivered_at end,
    bounced_at = case when record_feedback.fact = 'bounced'
      then least(send.bounced_at, record_feedback.occurred_at) else send.bounced_at end,
    complained_at = case when record_feedback.fact = 'complained'
      then least(send.complained_at, record_feedback.occurred_at) else send.complained_at end,
    -- Accepted on the strength of feedback alone is accepted since the earliest fact.
    accepted_at = case
      when send.status = 'unknown' or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(send.accepted_at, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case send.status when 'unknown' then 'accepted' else send.status end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id
$$;
--! EndIncluded delivery/record_feedback.sql
--! Included delivery/settle_lost.sql
-- Ends hand-offs whose outcome will never be known, and gives back what was only leased.
--
-- A send in handing_off may be with the provider already: it becomes unknown, never queued.
-- Its owner is known to be dead, or has been silent for longer than any hand-off may take.
create or replace function delivery.settle_lost(project_id uuid, dead_owners text[], silent_for interval)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now  timestamptz := clock_timestamp();
  v_lost delivery.sends[];
begin
  select array_agg(lost)
  into v_lost
  from (
    select send.*
    from delivery.sends as send
    where send.project_id = settle_lost.project_id
    and send.status = 'handing_off'
    and (send.lease_owner = any (settle_lost.dead_owners) or send.handed_off_at < v_now - settle_lost.silent_for)
    for update skip locked
  ) as lost;

  update delivery.sends as send
  set status = case when num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at) > 0
      then 'accepted' else 'unknown' end,
    status_reason = 'outcome_unknown',
    accepted_at = least(send.delivered_at, send.bounced_at, send.complained_at),
    lease_owner = null,
    lease_until = null
  where send.project_id = settle_lost.project_id
  and send.send_id in (select lost.send_id from unnest(v_lost) as lost);

  update delivery.attempts as tried
  set ended_at = v_now, outcome = 'unknown', reason = 'outcome_unknown'
  where tried.project_id = settle_lost.project_id
  and (tried.send_id, tried.attempt) in (select lost.send_id, lost.attempt_count from unnest(v_lost) as lost);

  update delivery.sends as send
  set lease_owner = null, lease_until = null
  where send.project_id = settle_lost.project_id
  and send.status = 'queued'
  and send.lease_owner = any (settle_lost.dead_owners);

  return coalesce(cardinality(v_lost), 0);
end;
$$;
--! EndIncluded delivery/settle_lost.sql

-- automations ------------------------------------------------------------------------------------

create table if not exists automations.automations (
  project_id     uuid not null,
  automation_id  uuid not null,
  name           text not null,
  status         text not null,
  active_version integer,
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null,
  primary key (project_id, automation_id),
  constraint automations_status_is_known check (status in ('draft', 'active', 'paused', 'archived')),
  constraint automations_active_have_a_version check (status <> 'active' or active_version is not null)
);

create table if not exists automations.versions (
  project_id    uuid not null,
  automation_id uuid not null,
  version       integer not null,
  definition    jsonb not null,
  created_at    timestamptz(3) not null,
  primary key (project_id, automation_id, version),
  foreign key (project_id, automation_id) references automations.automations (project_id, automation_id)
    on delete cascade
);

-- Which event names start what: the join that most events miss.
create table if not exists automations.triggers (
  project_id    uuid not null,
  event_name    text not null,
  automation_id uuid not null,
  version       integer not null,
  primary key (project_id, event_name, automation_id),
  foreign key (project_id, automation_id, version)
    references automations.versions (project_id, automation_id, version) on delete cascade
);

create table if not exists automations.runs (
  project_id        uuid not null,
  run_id            uuid not null,
  automation_id     uuid not null,
  version           integer not null,
  identity_id       uuid not null,
  trigger_event_id  uuid not null,
  trigger_event_at  timestamptz(3) not null,
  entry_key         text not null,
  status            text not null,
  step_id           text,
  wake_at           timestamptz(3),
  started_at        timestamptz(3) not null,
  ended_at          timestamptz(3),
  primary key (project_id, run_id),
  -- One trigger makes one run, and re-entry rules are spelled as keys.
  constraint runs_one_per_entry unique (project_id, automation_id, entry_key),
  foreign key (project_id, automation_id, version)
    references automations.versions (project_id, automation_id, version),
  constraint runs_status_is_known check (status in ('active', 'ended'))
);

create index if not exists runs_due on automations.runs (project_id, wake_at) where status = 'active';

create table if not exists automations.run_log (
  project_id uuid not null,
  run_id     uuid not null,
  entry      integer not null,
  step_id    text not null,
  decision   text not null,
  detail     jsonb not null default '{}',
  decided_at timestamptz(3) not null,
  primary key (project_id, run_id, entry),
  foreign key (project_id, run_id) references automations.runs (project_id, run_id) on delete cascade
);

select base.isolate_table('automations.automations');
select base.isolate_table('automations.versions');
select base.isolate_table('automations.triggers');
select base.isolate_table('automations.runs');
select base.isolate_table('automations.run_log');
grant select, insert, update on automations.automations, automations.runs to trunkline_runtime;
grant select, insert on automations.versions, automations.run_log to trunkline_runtime;
grant select, insert, update, delete on automations.triggers to trunkline_runtime;

-- feedback ---------------------------------------------------------------------------------------

create table if not exists feedback.notices (
  project_id  uuid not null,
  source      text not null,
  dedupe_key  text not null,
  kind        text not null,
  bounce_type text,
  address_key bytea not null,
  send_id     uuid,
  occurred_at timestamptz(3) not null,
  received_at timestamptz(3) not null,
  reason      text,
  primary key (project_id, source, dedupe_key)
);

select base.isolate_table('feedback.notices');
grant select, insert on feedback.notices to trunkline_runtime;

-- What the sweeper may see across projects: that there is work, whose and since when.
grant select (project_id, received_at) on ingest.pending to trunkline_queue;
grant select (project_id, provider_id, status, due_at, lease_owner, lease_until, handed_off_at) on delivery.sends to trunkline_queue;
grant select (project_id, status, wake_at) on automations.runs to trunkline_queue;
select base.open_to_queue('ingest.pending');
select base.open_to_queue('delivery.sends');
select base.open_to_queue('automations.runs');

-- People who work in the Console and their sessions. Local to the main node, never sharded: nothing here is a tenant's.

create schema if not exists admin;
grant usage on schema admin to trunkline_runtime;

create table if not exists admin.people (
  person_id     uuid primary key,
  email         text not null,
  password_hash text not null,
  is_admin      boolean not null,
  created_at    timestamptz(3) not null,
  constraint people_email_is_short check (length(email) between 3 and 254),
  constraint people_password_is_hashed check (password_hash like 'scrypt$%')
);

create unique index if not exists people_by_email on admin.people (lower(email));

-- A token is random and lives in one browser; here is only its keyed hash.
create table if not exists admin.sessions (
  session_hash bytea primary key,
  person_id    uuid not null references admin.people on delete cascade,
  created_at   timestamptz(3) not null,
  expires_at   timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  constraint sessions_hash_is_hmac_sha256 check (length(session_hash) = 32),
  constraint sessions_end check (expires_at > created_at)
);

create index if not exists sessions_by_person on admin.sessions (person_id);
create index if not exists sessions_by_expiry on admin.sessions (expires_at);

grant select, insert on admin.people to trunkline_runtime;
grant update (password_hash) on admin.people to trunkline_runtime;
grant select, insert, delete on admin.sessions to trunkline_runtime;
grant update (last_seen_at) on admin.sessions to trunkline_runtime;
