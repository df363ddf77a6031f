--! Previous: sha1:91b8d9e6ba397c8c25de6b59c9b1f7587783c666
--! Hash: sha1:e02503d7d7954d61cbc3af7920e60af3a1306dce
--! Message: people_can_be_erased

-- The catalogue: every column says in its comment whether it tells of a person -----------------------

--! Included base/declare_columns.sql
-- Says of every column of a table whether it tells of a person: the catalogue that erasure is held to.
--
-- of_person: what people, or others about them, said; an erase removes or overwrites it. keyed: what
-- cannot be read back without a key that is not in the database. others: ids, states, times, and what
-- the customer's own people wrote. Kept as the column's comment, where whoever looks at a table finds it.
create or replace function base.declare_columns(
  table_name regclass,
  of_person  text[],
  keyed      text[],
  others     text[]
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_column text;
  v_says   text;
begin
  for v_column, v_says in
    select name, 'Of a person' from unnest(declare_columns.of_person) as name
    union all
    select name, 'Keyed: cannot be read back' from unnest(declare_columns.keyed) as name
    union all
    select name, 'Of no person' from unnest(declare_columns.others) as name
  loop
    execute format('comment on column %s.%I is %L', declare_columns.table_name, v_column, v_says);
  end loop;
end;
$$;
--! EndIncluded base/declare_columns.sql

-- profiles: who was erased, and by which (hashed) names they would be known again -------------------
-- Rows only come, and change once, when the erase is done. Together they are the ledger that is replayed
-- after a backup was restored.

create table if not exists profiles.erasures (
  project_id   uuid not null,
  erasure_id   uuid not null,
  profile_id   uuid not null,
  status       text not null,
  reason       text,
  requested_by text not null,
  requested_at timestamptz(3) not null,
  done_at      timestamptz(3),
  address_keys bytea[] not null default '{}',
  counts       jsonb not null default '{}',
  receipt      jsonb,
  primary key (project_id, erasure_id),
  constraint erasures_status_is_known check (status in ('pending', 'done')),
  constraint erasures_requested_by_is_known check (requested_by in ('server_key', 'ledger')),
  constraint erasures_done_have_a_receipt check ((status = 'done') = (done_at is not null and receipt is not null)),
  constraint erasures_done_tell_nothing check (status <> 'done' or (reason is null and address_keys = '{}'))
);
create index if not exists erasures_by_profile on profiles.erasures (project_id, profile_id);
create index if not exists erasures_pending on profiles.erasures (requested_at) where status = 'pending';

create table if not exists profiles.tombstones (
  project_id      uuid not null,
  erasure_id      uuid not null,
  identifier_hash bytea not null,
  primary key (project_id, erasure_id, identifier_hash),
  foreign key (project_id, erasure_id) references profiles.erasures (project_id, erasure_id),
  constraint tombstones_are_hmac_sha256 check (length(identifier_hash) = 32)
);

-- How many erases of a project are done: whoever reads it twice knows whether one ended in between.
create table if not exists profiles.erase_counts (
  project_id uuid primary key,
  erased     integer not null
);

select base.isolate_table('profiles.erasures');
select base.isolate_table('profiles.tombstones');
select base.isolate_table('profiles.erase_counts');
grant select, insert on profiles.erasures, profiles.tombstones to trunkline_runtime;
grant update (status, reason, done_at, address_keys, counts, receipt) on profiles.erasures to trunkline_runtime;
grant select, insert, update on profiles.erase_counts to trunkline_runtime;

grant usage on schema profiles to trunkline_queue;
select base.open_to_queue('profiles.erasures');
grant select (project_id, erasure_id, status, requested_at) on profiles.erasures to trunkline_queue;

-- Whom an erase is about, while it is pending.
alter table identity.identities add column if not exists erasure_id uuid;
create index if not exists identities_by_erasure on identity.identities (project_id, erasure_id)
  where erasure_id is not null;
alter table profiles.profiles add column if not exists erasure_id uuid;
grant delete on identity.identities, identity.links to trunkline_runtime;

-- ingest: what belongs to an event is found from it -------------------------------------------------
-- A message id may name a person. Kept with the event too, since an index of message ids by event would
-- cost every event more. What an identify claimed belongs to no event, so it says whose it is.

alter table ingest.events add column if not exists message_id text;
alter table ingest.message_ids add column if not exists identity_id uuid;
create index if not exists message_ids_by_identity on ingest.message_ids (project_id, identity_id)
  where identity_id is not null;
grant update (identity_id) on ingest.message_ids to trunkline_runtime;
-- Events of people who were known already, by the device that they remember.
create index if not exists events_by_device on ingest.events (project_id, anonymous_id, occurred_at)
  where external_id is not null and anonymous_id is not null;

-- automations, delivery, feedback, suppression: what an erase looks for -----------------------------

create index if not exists runs_by_identity on automations.runs (project_id, identity_id, run_id);
grant delete on automations.run_log to trunkline_runtime;

alter table delivery.sends alter column address_key drop not null;
alter table delivery.sends drop constraint if exists sends_queued_have_a_recipient;
alter table delivery.sends add constraint sends_queued_have_a_recipient
  check (status <> 'queued' or num_nonnulls(address_key, recipient) = 2);
grant delete on delivery.contents to trunkline_runtime;

alter table feedback.notices alter column address_key drop not null;
create index if not exists notices_by_address on feedback.notices (project_id, address_key, source, dedupe_key)
  where address_key is not null;
grant update (address_key, reason) on feedback.notices to trunkline_runtime;

alter table suppression.addresses add column if not exists erased_at timestamptz(3);
alter table suppression.addresses drop constraint if exists addresses_erased_cannot_be_read;
alter table suppression.addresses add constraint addresses_erased_cannot_be_read
  check (num_nonnulls(email, erased_at) < 2);

drop function if exists identity.see_identifiers(uuid, uuid[], uuid[], text[], text[], timestamptz[], timestamptz[]);
--! Included identity/see_identifiers.sql
-- Makes the identities that are new, moves last_seen_at of the others, and answers with all of them.
--
-- A new identity gets a profile id of its own; the profile's row is the profiles room's to make.
-- Sorted by (kind, value) so that two claims cannot deadlock. Found again one by one, because a join may read
-- every identity of the project as long as the table has never been analysed.
create or replace function identity.see_identifiers(
  project_id     uuid,
  identity_ids   uuid[],
  profile_ids    uuid[],
  kinds          text[],
  identifiers    text[],
  first_seen_ats timestamptz[],
  last_seen_ats  timestamptz[]
)
returns table (identity_id uuid, profile_id uuid, kind text, value text, is_new boolean, is_erasing boolean)
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
  select known.identity_id, known.profile_id, known.kind, known.value, known.identity_id = seen.identity_id,
    known.erasure_id is not null
  from unnest(see_identifiers.identity_ids, see_identifiers.kinds, see_identifiers.identifiers)
    as seen (identity_id, kind, value)
  cross join lateral (
    select found.identity_id, found.profile_id, found.kind, found.value, found.erasure_id
    from identity.identities as found
    where found.project_id = see_identifiers.project_id and found.kind = seen.kind and found.value = seen.value
    limit 1
  ) as known;
end;
$$;
--! EndIncluded identity/see_identifiers.sql
--! Included identity/link_identities.sql
-- Links an anonymous identity to an external one, or logs why not; answers with the link's row.
--
-- An anonymous identity has at most one active link: one that belongs to somebody else is not moved
-- (a shared device whose page forgot to reset). A link that a person has undone comes back only at
-- the word of a server. The same refusal is logged once. Both identities are locked, the anonymous
-- one first, so that two calls cannot deadlock and nobody folds a profile that is changing hands. One that
-- is gone was erased since the caller saw it, so the caller's transaction has to begin again. Whoever is
-- linked to somebody who is being erased is erased with them.
create or replace function identity.link_identities(
  project_id  uuid,
  link_id     uuid,
  anonymous_id text,
  external_id  text,
  source      text,
  key_type    text,
  at          timestamptz
)
returns table (answered_id uuid, is_new boolean)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_child  identity.identities;
  v_parent identity.identities;
  v_link   identity.links;
  v_reason text;
begin
  select * into v_child from identity.identities as known
  where known.project_id = link_identities.project_id
  and known.kind = 'anonymous' and known.value = link_identities.anonymous_id
  for update;
  select * into v_parent from identity.identities as known
  where known.project_id = link_identities.project_id
  and known.kind = 'external' and known.value = link_identities.external_id
  for update;
  if v_child.identity_id is null or v_parent.identity_id is null then
    raise exception 'an identity was erased meanwhile' using errcode = 'serialization_failure';
  end if;

  select * into v_link from identity.links as link
  where link.project_id = link_identities.project_id
  and link.anonymous_identity_id = v_child.identity_id
  and link.status = 'active';

  if v_link.external_identity_id = v_parent.identity_id then
    return query select v_link.link_id, false;
    return;
  end if;

  v_reason := case
    when v_link.link_id is not null then 'linked_to_another'
    when link_identities.key_type = 'publishable' and exists (
      select from identity.links as link
      where link.project_id = link_identities.project_id
      and link.anonymous_identity_id = v_child.identity_id
      and link.external_identity_id = v_parent.identity_id
      and link.status = 'undone'
    ) then 'undone_before'
  end;

  insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
    external_id, profile_id, anonymous_profile_id, source, key_type, status, reason, created_at)
  values (link_identities.project_id, link_identities.link_id, v_child.identity_id, v_parent.identity_id,
    v_child.value, v_parent.value, v_parent.own_profile_id, v_child.own_profile_id, link_identities.source,
    link_identities.key_type, case when v_reason is null then 'active' else 'refused' end, v_reason,
    link_identities.at)
  on conflict do nothing;

  if not found then
    return query select link.link_id, false from identity.links as link
    where link.project_id = link_identities.project_id
    and link.anonymous_identity_id = v_child.identity_id
    and link.external_identity_id = v_parent.identity_id
    and link.status = 'refused' and link.reason = v_reason;
    return;
  end if;

  update identity.identities as known
  set profile_id = v_parent.profile_id, erasure_id = coalesce(known.erasure_id, v_parent.erasure_id)
  where known.project_id = link_identities.project_id
  and known.identity_id = v_child.identity_id
  and v_reason is null;

  return query select link_identities.link_id, true;
end;
$$;
--! EndIncluded identity/link_identities.sql
--! Included identity/hold_person.sql
-- Locks every identity of a profile until the transaction ends, and answers with all of them.
--
-- In the order of all locks (kind, then value). Asked twice: while we waited for the first look, a link
-- may have brought one more; now that the one it leads to is ours, no other can.
create or replace function identity.hold_person(project_id uuid, profile_id uuid)
returns setof identity.identities
language plpgsql volatile
set search_path = ''
as $$
begin
  perform from identity.identities as known
  where known.project_id = hold_person.project_id and known.profile_id = hold_person.profile_id
  order by known.kind, known.value
  for update;

  return query
  select known.* from identity.identities as known
  where known.project_id = hold_person.project_id and known.profile_id = hold_person.profile_id
  order by known.kind, known.value
  for update;
end;
$$;
--! EndIncluded identity/hold_person.sql
--! Included identity/hold_erased.sql
-- Locks every identity that an erase is about until the transaction ends, and answers with all of them.
--
-- As identity.hold_person does: in the order of all locks, and asked twice, since whoever is linked to
-- somebody who is being erased is erased with them.
create or replace function identity.hold_erased(project_id uuid, erasure_id uuid)
returns setof identity.identities
language plpgsql volatile
set search_path = ''
as $$
begin
  perform from identity.identities as known
  where known.project_id = hold_erased.project_id and known.erasure_id = hold_erased.erasure_id
  order by known.kind, known.value
  for update;

  return query
  select known.* from identity.identities as known
  where known.project_id = hold_erased.project_id and known.erasure_id = hold_erased.erasure_id
  order by known.kind, known.value
  for update;
end;
$$;
--! EndIncluded identity/hold_erased.sql
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
  v_claimed     integer;
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
  get diagnostics v_claimed = row_count;

  -- 2. Which event each item became: its own, unless a message id was taken.
  stored_ids := accept_events.event_ids;
  duplicates := array_fill(false, array[cardinality(accept_events.event_ids)]);
  if v_claimed < cardinality(array_remove(accept_events.message_ids, null)) then
    select ingest.first_events(accept_events.project_id, accept_events.event_ids, accept_events.message_ids)
    into stored_ids;
    select array_agg(item.stored_id <> item.event_id order by item.ordinal) into duplicates
    from unnest(stored_ids, accept_events.event_ids) with ordinality as item (stored_id, event_id, ordinal);
  end if;

  -- 3. Store the events that won.
  insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id,
    properties, source, key_kind, message_id)
  select accept_events.project_id, item.event_id, coalesce(item.occurred_at, v_received_at), v_received_at, item.name,
    item.external_id, item.anonymous_id, item.properties, item.source, item.key_kind, item.message_id
  from unnest(stored_ids, accept_events.event_ids, accept_events.names, accept_events.external_ids,
    accept_events.anonymous_ids, accept_events.properties, accept_events.occurred_ats, accept_events.key_kinds,
    accept_events.sources, accept_events.message_ids)
    as item (stored_id, event_id, name, external_id, anonymous_id, properties, occurred_at, key_kind, source,
      message_id)
  where item.event_id = item.stored_id;

  -- 4. Note the work.
  insert into ingest.pending (project_id, flush_id, event_ids, occurred_from, occurred_to, received_at)
  select accept_events.project_id, accept_events.flush_id, array_agg(item.event_id),
    min(coalesce(item.occurred_at, v_received_at)), max(coalesce(item.occurred_at, v_received_at)), v_received_at
  from unnest(stored_ids, accept_events.event_ids, accept_events.occurred_ats)
    as item (stored_id, event_id, occurred_at)
  where item.event_id = item.stored_id
  having count(*) > 0;

  -- 5. A message id that came again should have brought the same event.
  if array_position(duplicates, true) is not null then
    perform ingest.note_conflicts(accept_events.project_id, v_received_at, accept_events.event_ids,
      accept_events.message_ids, accept_events.names, accept_events.external_ids, accept_events.anonymous_ids,
      accept_events.properties);
  end if;
  return next;
end;
$$;
--! EndIncluded ingest/accept_events.sql
--! Included ingest/erase_events.sql
-- Removes the next events of an identifier and their message ids, from a moment on, oldest first.
--
-- Answers how many of each, the addresses that the events name as `email`, and the moment of the last
-- one, where the next call goes on: whoever began at the start each time would walk past the remains of
-- everything removed before. Owned by the schema's owner, because nobody else may remove events.
create or replace function ingest.erase_events(
  project_id uuid,
  kind       text,
  identifier text,
  since      timestamptz,
  events_max integer
)
returns table (events integer, message_ids integer, emails text[], last_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids      uuid[];
  v_messages text[];
  v_from     timestamptz;
  v_to       timestamptz;
begin
  select array_agg(batch.event_id), array_agg(batch.message_id) filter (where batch.message_id is not null),
    array_agg(distinct batch.properties ->> 'email') filter (where batch.properties ->> 'email' is not null),
    min(batch.occurred_at), max(batch.occurred_at)
  into v_ids, v_messages, emails, v_from, v_to
  from (
    (select event.event_id, event.message_id, event.properties, event.occurred_at from ingest.events as event
    where erase_events.kind = 'external' and event.project_id = erase_events.project_id
    and event.external_id = erase_events.identifier and event.occurred_at >= erase_events.since
    order by event.occurred_at limit erase_events.events_max)
    union all
    (select event.event_id, event.message_id, event.properties, event.occurred_at from ingest.events as event
    where erase_events.kind = 'anonymous' and event.project_id = erase_events.project_id
    and event.external_id is null and event.anonymous_id = erase_events.identifier
    and event.occurred_at >= erase_events.since
    order by event.occurred_at limit erase_events.events_max)
  ) as batch;

  delete from ingest.message_ids as known
  where known.project_id = erase_events.project_id
  and known.message_id = any (v_messages) and known.event_id = any (v_ids);
  get diagnostics message_ids = row_count;

  delete from ingest.events as event
  where event.project_id = erase_events.project_id
  and event.event_id = any (v_ids) and event.occurred_at between v_from and v_to;
  get diagnostics events = row_count;
  last_at := v_to;
  return next;
end;
$$;

revoke all on function ingest.erase_events(uuid, text, text, timestamptz, integer) from public;
grant execute on function ingest.erase_events(uuid, text, text, timestamptz, integer) to trunkline_runtime;
--! EndIncluded ingest/erase_events.sql
--! Included ingest/erase_mentions.sql
-- Takes an anonymous id out of the next events of other people, which only remember it; answers how many.
--
-- The one change that is ever made to an event. Owned by the schema's owner, as ingest.erase_events is.
create or replace function ingest.erase_mentions(project_id uuid, anonymous_id text, events_max integer)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids   uuid[];
  v_from  timestamptz;
  v_to    timestamptz;
  v_count integer;
begin
  select array_agg(batch.event_id), min(batch.occurred_at), max(batch.occurred_at)
  into v_ids, v_from, v_to
  from (
    select event.event_id, event.occurred_at from ingest.events as event
    where event.project_id = erase_mentions.project_id
    and event.external_id is not null and event.anonymous_id = erase_mentions.anonymous_id
    order by event.occurred_at limit erase_mentions.events_max
  ) as batch;

  update ingest.events as event
  set anonymous_id = null
  where event.project_id = erase_mentions.project_id
  and event.event_id = any (v_ids) and event.occurred_at between v_from and v_to;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;

revoke all on function ingest.erase_mentions(uuid, text, integer) from public;
grant execute on function ingest.erase_mentions(uuid, text, integer) to trunkline_runtime;
--! EndIncluded ingest/erase_mentions.sql
--! Included profiles/change_traits.sql
-- Keeps what an identity was told about itself and folds it into the profile it belongs to now.
--
-- The identity is locked in share mode, so that it cannot change hands until we are done. One that is
-- gone was erased since the caller saw it, so the caller's transaction has to begin again.
create or replace function profiles.change_traits(
  project_id  uuid,
  identity_id uuid,
  traits      jsonb,
  set_at      timestamptz,
  authority   text,
  at          timestamptz
)
returns table (changed_id uuid, old_email text, new_email text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_profile_id uuid;
begin
  select known.profile_id into v_profile_id from identity.identities as known
  where known.project_id = change_traits.project_id and known.identity_id = change_traits.identity_id
  for share;
  if v_profile_id is null then
    raise exception 'an identity was erased meanwhile' using errcode = 'serialization_failure';
  end if;

  perform profiles.set_traits(change_traits.project_id, change_traits.identity_id, change_traits.traits,
    change_traits.set_at, change_traits.authority);
  return query select v_profile_id, folded.old_email, folded.new_email
  from profiles.fold_profile(change_traits.project_id, v_profile_id, change_traits.at) as folded;
end;
$$;
--! EndIncluded profiles/change_traits.sql
--! Included profiles/is_erased.sql
-- Says whether a profile is gone or about to be erased, and keeps the answer true until the transaction ends.
--
-- The row is locked in share mode: an erase that is asked for later waits for us, one that was is seen.
create or replace function profiles.is_erased(project_id uuid, profile_id uuid)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_living boolean;
begin
  select profile.erasure_id is null into v_is_living from profiles.profiles as profile
  where profile.project_id = is_erased.project_id and profile.profile_id = is_erased.profile_id
  for share;
  return v_is_living is not true;
end;
$$;
--! EndIncluded profiles/is_erased.sql
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
end;
$$;
--! EndIncluded profiles/make_profiles.sql
--! Included suppression/erase_addresses.sql
-- Forgets how addresses read; answers how many could be read until now.
--
-- Suppressions stay in force, by the keyed hash. A row is made where there is none, so that whoever is told
-- of the address later, or is about to write it down now, finds it erased. Locked in order, as everywhere.
create or replace function suppression.erase_addresses(project_id uuid, address_keys bytea[], at timestamptz)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_count integer;
begin
  insert into suppression.addresses (project_id, address_key)
  select erase_addresses.project_id, erased.address_key
  from unnest(erase_addresses.address_keys) as erased (address_key)
  order by erased.address_key
  on conflict do nothing;

  perform from suppression.addresses as address
  where address.project_id = erase_addresses.project_id and address.address_key = any (erase_addresses.address_keys)
  order by address.address_key
  for update;

  select count(*) into v_count from suppression.addresses as address
  where address.project_id = erase_addresses.project_id and address.address_key = any (erase_addresses.address_keys)
  and address.email is not null;

  update suppression.addresses as address
  set email = null, erased_at = erase_addresses.at
  where address.project_id = erase_addresses.project_id and address.address_key = any (erase_addresses.address_keys)
  and address.erased_at is null;
  return v_count;
end;
$$;
--! EndIncluded suppression/erase_addresses.sql
--! Included suppression/hold_address.sql
-- Says whether an address was erased, and keeps the answer true until the transaction ends.
--
-- Makes its row where there is none, so that there is something to lock. Two that are told of the same
-- address wait for each other here, before either changes the row.
create or replace function suppression.hold_address(project_id uuid, address_key bytea)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_erased boolean;
begin
  insert into suppression.addresses (project_id, address_key)
  values (hold_address.project_id, hold_address.address_key)
  on conflict do nothing;

  select address.erased_at is not null into strict v_is_erased from suppression.addresses as address
  where address.project_id = hold_address.project_id and address.address_key = hold_address.address_key
  for no key update;
  return v_is_erased;
end;
$$;
--! EndIncluded suppression/hold_address.sql
--! Included suppression/know_address.sql
-- Makes sure that an address has a row to lock, and that it can be read: somebody living has it.
--
-- An address that was erased is somebody's again when a new person brings it. Nothing else of it comes back.
create or replace function suppression.know_address(project_id uuid, address_key bytea, email text)
returns void
language sql volatile
as $$
  insert into suppression.addresses (project_id, address_key, email)
  values (know_address.project_id, know_address.address_key, know_address.email)
  on conflict do nothing;

  update suppression.addresses as address
  set email = know_address.email, erased_at = null
  where address.project_id = know_address.project_id
  and address.address_key = know_address.address_key
  and address.email is null
$$;
--! EndIncluded suppression/know_address.sql
--! Included suppression/suppress_address.sql
-- Puts an address on the list. From the commit on, no hand-off to it begins.
--
-- Takes the address row exclusively; a hand-off takes the same row in share mode. That is the
-- one order between "suppress" and "hand off". The strongest reason wins whatever came first,
-- so that feedback leads to the same row in any order; every change is in the history. An address
-- that was erased is suppressed by its keyed hash alone.
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
    email = case when address.erased_at is null then excluded.email end
  where address.suppressed_at is null
  or (array_position(array['manual', 'hard_bounce', 'complaint'], excluded.reason),
      address.suppressed_at, address.source, coalesce(address.email, ''))
    > (array_position(array['manual', 'hard_bounce', 'complaint'], address.reason),
      excluded.suppressed_at, excluded.source, coalesce(excluded.email, ''));

  insert into suppression.history (project_id, history_id, address_key, change, reason, source, changed_at)
  values (suppress_address.project_id, suppress_address.history_id, suppress_address.address_key, 'suppressed',
    suppress_address.reason, suppress_address.source, suppress_address.at);
end;
$$;
--! EndIncluded suppression/suppress_address.sql
--! Included delivery/begin_hand_off.sql
-- Commits that a message is about to be given to the provider, or says why it must not be.
--
-- Locks the profile, the address, then the send, as every erase and every suppression does. Answers
-- 'handing_off' when the caller now owns this attempt; 'cancelled' (the person is erased), 'suppressed'
-- or 'expired' when the send has ended; 'lost' when the send is no longer the caller's to hand off.
-- One statement of the client, so one transaction.
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
  v_profile_id uuid;
  v_erased     boolean;
  v_suppressed boolean;
  v_now        timestamptz;
  v_decision   text;
begin
  perform set_config('trunkline.project_id', begin_hand_off.project_id::text, true);
  select send.profile_id into v_profile_id from delivery.sends as send
  where send.project_id = begin_hand_off.project_id and send.send_id = begin_hand_off.send_id;
  v_erased := profiles.is_erased(begin_hand_off.project_id, v_profile_id);
  v_suppressed := suppression.is_suppressed(begin_hand_off.project_id, begin_hand_off.address_key);
  -- After the wait for the address: a lease may have run out meanwhile.
  v_now := date_trunc('milliseconds', clock_timestamp());

  update delivery.sends as send
  set status = case when v_erased then 'cancelled' when v_suppressed then 'suppressed' else 'expired' end,
    status_reason = case when v_erased then 'erased' when v_suppressed then 'suppressed' else 'expired' end,
    lease_owner = null,
    lease_until = null
  where send.project_id = begin_hand_off.project_id
  and send.send_id = begin_hand_off.send_id
  and send.status = 'queued'
  and send.lease_owner = begin_hand_off.owner
  and send.lease_until > v_now
  and (v_erased or v_suppressed or send.expires_at <= v_now)
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
-- answer; it goes back to the queue from there only when its owner knows that it did not begin. Without
-- a recipient, because the person was erased meanwhile, what would go back to the queue is cancelled.
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
      when record_outcome.outcome = 'not_started' and send.recipient is null then 'cancelled'
      when record_outcome.outcome = 'not_started' then 'queued'
      when send.status = 'unknown' then 'not_sent'
      when record_outcome.outcome = 'deferred' and send.recipient is null then 'cancelled'
      when record_outcome.outcome = 'deferred' then 'queued'
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

-- The catalogue itself -----------------------------------------------------------------------------

select base.declare_columns('admin.people', '{}', '{password_hash}',
  '{person_id,email,is_admin,created_at}');
select base.declare_columns('admin.sessions', '{}', '{session_hash}',
  '{person_id,created_at,expires_at,last_seen_at}');
select base.declare_columns('automations.automations', '{}', '{}',
  '{project_id,automation_id,name,status,active_version,created_at,updated_at}');
select base.declare_columns('automations.run_log', '{detail}', '{}',
  '{project_id,run_id,entry,step_id,decision,decided_at}');
select base.declare_columns('automations.runs', '{}', '{}',
  '{project_id,run_id,automation_id,version,identity_id,trigger_event_id,trigger_event_at,entry_key,status,step_id,
    wake_at,started_at,ended_at,failure_count}');
select base.declare_columns('automations.triggers', '{}', '{}', '{project_id,event_name,automation_id,version}');
select base.declare_columns('automations.versions', '{}', '{}',
  '{project_id,automation_id,version,definition,created_at}');
select base.declare_columns('base.api_processes', '{}', '{}', '{process_id,heartbeat_at}');
select base.declare_columns('delivery.attempts', '{}', '{}',
  '{project_id,send_id,attempt,message_id,lease_owner,started_at,ended_at,outcome,reason,provider_message_id}');
select base.declare_columns('delivery.contents', '{subject,html,text}', '{}', '{project_id,send_id}');
select base.declare_columns('delivery.sends', '{recipient,subject,status_reason}', '{address_key}',
  '{project_id,send_id,automation_id,run_id,step_id,profile_id,provider_id,template_id,template_version,event_id,
    event_occurred_at,status,attempt_count,lease_owner,lease_until,due_at,queued_at,expires_at,handed_off_at,
    accepted_at,provider_message_id,delivered_at,bounced_at,complained_at}');
select base.declare_columns('feedback.notices', '{reason}', '{address_key,dedupe_key}',
  '{project_id,source,kind,bounce_type,send_id,occurred_at,received_at}');
select base.declare_columns('http.idempotency_keys', '{}', '{key_hash,fingerprint,answer}',
  '{project_id,repetition_id,claim_id,claimed_until,created_at}');
select base.declare_columns('identity.identities', '{value}', '{}',
  '{project_id,identity_id,kind,profile_id,own_profile_id,first_seen_at,last_seen_at,erasure_id}');
select base.declare_columns('identity.links', '{anonymous_id,external_id}', '{}',
  '{project_id,link_id,anonymous_identity_id,external_identity_id,profile_id,anonymous_profile_id,source,key_type,
    status,reason,created_at,undone_at,undone_by}');
select base.declare_columns('ingest.events', '{external_id,anonymous_id,properties,message_id}', '{}',
  '{project_id,event_id,occurred_at,received_at,name,source,key_kind}');
select base.declare_columns('ingest.message_ids', '{message_id}', '{}',
  '{project_id,event_id,occurred_at,conflicts,conflicted_at,identity_id}');
select base.declare_columns('ingest.pending', '{}', '{}',
  '{project_id,flush_id,event_ids,occurred_from,occurred_to,received_at}');
select base.declare_columns('profiles.erasures', '{reason}', '{address_keys}',
  '{project_id,erasure_id,profile_id,status,requested_by,requested_at,done_at,counts,receipt}');
select base.declare_columns('profiles.erase_counts', '{}', '{}', '{project_id,erased}');
select base.declare_columns('profiles.profiles', '{email,traits,tags}', '{}',
  '{project_id,profile_id,created_at,updated_at,merged_into,erasure_id}');
select base.declare_columns('profiles.tombstones', '{}', '{identifier_hash}', '{project_id,erasure_id}');
select base.declare_columns('profiles.traits', '{key,value}', '{}', '{project_id,identity_id,set_at,authority}');
select base.declare_columns('projects.api_keys', '{}', '{key_hash}',
  '{project_id,key_id,kind,last_four,created_at,revoked_at}');
select base.declare_columns('projects.projects', '{}', '{}', '{project_id,name,timezone,created_at}');
select base.declare_columns('providers.data_keys', '{}', '{wrapped_key}',
  '{project_id,key_version,master_version,created_at}');
select base.declare_columns('providers.providers', '{}', '{password}',
  '{project_id,provider_id,provider,display_name,from_email,from_name,reply_to,smtp_host,smtp_port,smtp_secure,
    username,key_version,status,parked_reason,created_at,updated_at}');
select base.declare_columns('queue.workers', '{}', '{}', '{worker_id,started_at,heartbeat_at}');
select base.declare_columns('rendering.templates', '{}', '{}',
  '{project_id,template_id,version,name,subject,html,text,created_at}');
select base.declare_columns('suppression.addresses', '{email}', '{address_key}',
  '{project_id,reason,source,suppressed_at,erased_at}');
select base.declare_columns('suppression.history', '{}', '{address_key}',
  '{project_id,history_id,change,reason,source,changed_at}');
