--! Previous: sha1:15310767fff7658674ddea27f192c8676ab7d585
--! Hash: sha1:aee6a351414f2366e5ccb7fbab52e4c96d632635
--! Message: whoever_is_erased_says_nothing

--! Included ingest/first_events.sql
-- Which event each item of a flush became, in their order: the first one with its message id, or its own
-- when it has none. Null where a message id is nobody's, because it was erased since it was found taken.
--
-- One look-up per item, whatever the planner takes the table for: a join may read every message id
-- of the project, as long as it has never been analysed.
create or replace function ingest.first_events(project_id uuid, event_ids uuid[], message_ids text[])
returns uuid[]
language sql stable
as $$
  select array_agg(case when item.message_id is null then item.event_id else taken.event_id end order by item.ordinal)
  from unnest(first_events.event_ids, first_events.message_ids) with ordinality
    as item (event_id, message_id, ordinal)
  left join lateral (
    select known.event_id from ingest.message_ids as known
    where known.project_id = first_events.project_id and known.message_id = item.message_id
    limit 1
  ) as taken on true
$$;
--! EndIncluded ingest/first_events.sql
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
    if array_position(stored_ids, null) is not null then
      raise exception 'a message id was erased meanwhile' using errcode = 'serialization_failure';
    end if;
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
-- everything removed before. Owned by the schema's owner, because nobody else
-- may remove events; row-level security may not bind the owner, so the project is looked at here.
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
  if erase_events.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
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
-- The one change that is ever made to an event. Owned by the schema's owner, as ingest.erase_events is,
-- and so held to its project here.
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
  if erase_mentions.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
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

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql
