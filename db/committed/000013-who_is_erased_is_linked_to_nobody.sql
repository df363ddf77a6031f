--! Previous: sha1:aee6a351414f2366e5ccb7fbab52e4c96d632635
--! Hash: sha1:85423c306562431ca0bc4575b658159f2031d028
--! Message: who_is_erased_is_linked_to_nobody

-- Who is being erased is linked to nobody any more, so whom an erase is about is fixed when it is asked for.
drop function if exists identity.hold_erased(uuid, uuid);
--! Included identity/link_identities.sql
-- Links an anonymous identity to an external one, or logs why not; answers with the link's row.
--
-- An anonymous identity has at most one active link: one that belongs to somebody else is not moved
-- (a shared device whose page forgot to reset). A link that a person has undone comes back only at
-- the word of a server. The same refusal is logged once. Both identities are locked, the anonymous
-- one first, so that two calls cannot deadlock and nobody folds a profile that is changing hands. One that
-- is gone was erased since the caller saw it, so the caller's transaction has to begin again. Who is being
-- erased is not linked, nor is that logged, which would write their identifiers anew: answers with null.
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

  if num_nonnulls(v_child.erasure_id, v_parent.erasure_id) > 0 then
    return query select null::uuid, false;
    return;
  end if;

  select * into v_link from identity.links as link
  where link.project_id = link_identities.project_id and link.anonymous_identity_id = v_child.identity_id
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

  update identity.identities as known set profile_id = v_parent.profile_id
  where known.project_id = link_identities.project_id and known.identity_id = v_child.identity_id
  and v_reason is null;

  return query select link_identities.link_id, true;
end;
$$;
--! EndIncluded identity/link_identities.sql
--! Included profiles/change_traits.sql
-- Keeps what an identity was told about itself and folds it into the profile it belongs to now.
--
-- The identity is locked in share mode, so that it cannot change hands until we are done. One that is
-- gone was erased since the caller saw it, so the caller's transaction has to begin again. One that is being
-- erased is told nothing: no row is answered.
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
  v_erasure_id uuid;
begin
  select known.profile_id, known.erasure_id into v_profile_id, v_erasure_id from identity.identities as known
  where known.project_id = change_traits.project_id and known.identity_id = change_traits.identity_id
  for share;
  if v_profile_id is null then
    raise exception 'an identity was erased meanwhile' using errcode = 'serialization_failure';
  end if;

  if v_erasure_id is not null then
    return;
  end if;

  perform profiles.set_traits(change_traits.project_id, change_traits.identity_id, change_traits.traits,
    change_traits.set_at, change_traits.authority);
  return query select v_profile_id, folded.old_email, folded.new_email
  from profiles.fold_profile(change_traits.project_id, v_profile_id, change_traits.at) as folded;
end;
$$;
--! EndIncluded profiles/change_traits.sql

-- Many identifiers at once.
drop function if exists ingest.erase_events(uuid, text, text, timestamptz, integer);
drop function if exists ingest.erase_mentions(uuid, text, integer);
--! Included ingest/erase_events.sql
-- Removes the next events of some identifiers and their message ids, `events_max` at most, in the order of the
-- identifiers and of time.
--
-- Answers how many of each, the addresses that the events name as `email`, and where the next call goes on:
-- at which identifier, and from which moment of it. Whoever began at the start each time would walk past
-- the remains of everything removed before. `since` is about the first identifier. Each is looked up by its
-- own index and no further than to the limit, whatever the planner takes the table for. Owned by the schema's
-- owner, because nobody else may remove events; row-level security may not bind the owner, so the project is
-- looked at here.
create or replace function ingest.erase_events(
  project_id  uuid,
  kinds       text[],
  identifiers text[],
  since       timestamptz,
  events_max  integer
)
returns table (events integer, message_ids integer, emails text[], last_ordinal integer, last_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_ids      uuid[];
  v_messages text[];
  v_ordinals integer[];
  v_times    timestamptz[];
  v_from     timestamptz;
  v_to       timestamptz;
begin
  if erase_events.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
  select array_agg(batch.event_id), array_agg(batch.message_id) filter (where batch.message_id is not null),
    array_agg(distinct batch.properties ->> 'email') filter (where batch.properties ->> 'email' is not null),
    array_agg(batch.ordinal), array_agg(batch.occurred_at), min(batch.occurred_at), max(batch.occurred_at)
  into v_ids, v_messages, emails, v_ordinals, v_times, v_from, v_to
  from (
    select known.ordinal, done.event_id, done.message_id, done.properties, done.occurred_at
    from unnest(erase_events.kinds, erase_events.identifiers) with ordinality as known (kind, value, ordinal)
    cross join lateral (
      select case when known.ordinal = 1 then erase_events.since else '-infinity' end as at
    ) as start
    cross join lateral (
      (select event.event_id, event.message_id, event.properties, event.occurred_at from ingest.events as event
      where known.kind = 'external' and event.project_id = erase_events.project_id
      and event.external_id = known.value and event.occurred_at >= start.at
      order by event.occurred_at limit erase_events.events_max)
      union all
      (select event.event_id, event.message_id, event.properties, event.occurred_at from ingest.events as event
      where known.kind = 'anonymous' and event.project_id = erase_events.project_id
      and event.external_id is null and event.anonymous_id = known.value and event.occurred_at >= start.at
      order by event.occurred_at limit erase_events.events_max)
    ) as done
    limit erase_events.events_max
  ) as batch;

  delete from ingest.message_ids as known
  where known.project_id = erase_events.project_id
  and known.message_id = any (v_messages) and known.event_id = any (v_ids);
  get diagnostics message_ids = row_count;

  delete from ingest.events as event
  where event.project_id = erase_events.project_id and event.event_id = any (v_ids)
  and event.occurred_at between v_from and v_to;
  get diagnostics events = row_count;

  select batch.ordinal, max(batch.at) into last_ordinal, last_at
  from unnest(v_ordinals, v_times) as batch (ordinal, at)
  group by batch.ordinal order by batch.ordinal desc limit 1;
  return next;
end;
$$;

revoke all on function ingest.erase_events(uuid, text[], text[], timestamptz, integer) from public;
grant execute on function ingest.erase_events(uuid, text[], text[], timestamptz, integer) to trunkline_runtime;
--! EndIncluded ingest/erase_events.sql
--! Included ingest/erase_mentions.sql
-- Takes anonymous ids out of the next events of other people, which only remember them; answers how many, and
-- where the next call goes on, as ingest.erase_events does.
--
-- The one change that is ever made to an event. Owned by the schema's owner, as ingest.erase_events is,
-- and so held to its project here.
create or replace function ingest.erase_mentions(
  project_id    uuid,
  anonymous_ids text[],
  since         timestamptz,
  events_max    integer
)
returns table (events integer, last_ordinal integer, last_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_ids      uuid[];
  v_ordinals integer[];
  v_times    timestamptz[];
  v_from     timestamptz;
  v_to       timestamptz;
begin
  if erase_mentions.project_id is distinct from nullif(current_setting('trunkline.project_id', true), '')::uuid then
    raise exception 'only the project of the transaction' using errcode = 'insufficient_privilege';
  end if;
  select array_agg(batch.event_id), array_agg(batch.ordinal), array_agg(batch.occurred_at),
    min(batch.occurred_at), max(batch.occurred_at)
  into v_ids, v_ordinals, v_times, v_from, v_to
  from (
    select known.ordinal, mention.event_id, mention.occurred_at
    from unnest(erase_mentions.anonymous_ids) with ordinality as known (value, ordinal)
    cross join lateral (
      select event.event_id, event.occurred_at from ingest.events as event
      where event.project_id = erase_mentions.project_id
      and event.external_id is not null and event.anonymous_id = known.value
      and event.occurred_at >= case when known.ordinal = 1 then erase_mentions.since else '-infinity' end
      order by event.occurred_at limit erase_mentions.events_max
    ) as mention
    limit erase_mentions.events_max
  ) as batch;

  update ingest.events as event
  set anonymous_id = null
  where event.project_id = erase_mentions.project_id and event.event_id = any (v_ids)
  and event.occurred_at between v_from and v_to;
  get diagnostics events = row_count;

  select batch.ordinal, max(batch.at) into last_ordinal, last_at
  from unnest(v_ordinals, v_times) as batch (ordinal, at)
  group by batch.ordinal order by batch.ordinal desc limit 1;
  return next;
end;
$$;

revoke all on function ingest.erase_mentions(uuid, text[], timestamptz, integer) from public;
grant execute on function ingest.erase_mentions(uuid, text[], timestamptz, integer) to trunkline_runtime;
--! EndIncluded ingest/erase_mentions.sql

-- The addresses that an erase has found and not looked at yet: a row each, however many there are.
create table if not exists profiles.erasing_addresses (
  project_id uuid not null,
  erasure_id uuid not null,
  address    text not null,
  primary key (project_id, erasure_id, address),
  foreign key (project_id, erasure_id) references profiles.erasures (project_id, erasure_id)
);
select base.isolate_table('profiles.erasing_addresses');
select base.declare_columns('profiles.erasing_addresses', '{address}', '{}', '{project_id, erasure_id}');
grant select, insert, delete on profiles.erasing_addresses to trunkline_runtime;

-- An erase under way notes its addresses again.
alter table profiles.erasures drop constraint if exists erasures_done_tell_nothing;
alter table profiles.erasures drop column if exists address_keys;
alter table profiles.erasures add constraint erasures_done_tell_nothing check (status <> 'done' or reason is null);
--! Included suppression/hold_addresses.sql
-- Locks addresses until the transaction ends, in the order of all locks.
--
-- Makes rows where there are none, so that there is something to lock: from now on nobody plans a send to
-- any of them, begins to hand one over, or writes down what is told of it.
create or replace function suppression.hold_addresses(project_id uuid, address_keys bytea[])
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  insert into suppression.addresses (project_id, address_key)
  select hold_addresses.project_id, held.address_key
  from unnest(hold_addresses.address_keys) as held (address_key)
  order by held.address_key
  on conflict do nothing;

  perform from suppression.addresses as address
  where address.project_id = hold_addresses.project_id and address.address_key = any (hold_addresses.address_keys)
  order by address.address_key
  for update;
end;
$$;
--! EndIncluded suppression/hold_addresses.sql
--! Included suppression/erase_addresses.sql
-- Forgets how addresses read; answers how many could be read until now.
--
-- Suppressions stay in force, by the keyed hash. A row is made where there is none, so that whoever is told
-- of the address later, or is about to write it down now, finds it erased.
create or replace function suppression.erase_addresses(project_id uuid, address_keys bytea[], at timestamptz)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_count integer;
begin
  perform suppression.hold_addresses(project_id => erase_addresses.project_id,
    address_keys => erase_addresses.address_keys);

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

-- Whom the run of a send was started for: after an undo it is not the profile's any more.
alter table delivery.sends add column if not exists identity_id uuid;
select base.declare_columns('delivery.sends', '{}', '{}', '{identity_id}');
create index if not exists sends_by_identity on delivery.sends (project_id, identity_id, send_id)
  where identity_id is not null;
drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, integer, uuid, timestamptz,
  bytea, text, interval);
drop function if exists profiles.is_erased(uuid, uuid);
--! Included profiles/is_erased.sql
-- Says whether somebody is gone or about to be erased, and keeps the answer true until the transaction ends.
--
-- An identity and the profile that it had when the caller last looked; no identity where nobody knows which.
-- Their rows are locked, in the order of all locks, as weakly as makes an erase that is asked for later wait
-- for us; one that was asked for before is seen.
create or replace function profiles.is_erased(project_id uuid, identity_id uuid, profile_id uuid)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_living boolean;
begin
  if is_erased.identity_id is not null then
    select known.erasure_id is null into v_is_living from identity.identities as known
    where known.project_id = is_erased.project_id and known.identity_id = is_erased.identity_id
    for key share;
    if v_is_living is not true then
      return true;
    end if;
  end if;

  select profile.erasure_id is null into v_is_living from profiles.profiles as profile
  where profile.project_id = is_erased.project_id and profile.profile_id = is_erased.profile_id
  for share;
  return v_is_living is not true;
end;
$$;
--! EndIncluded profiles/is_erased.sql
--! Included delivery/plan_send.sql
-- Makes the one send intent of a run's step, or answers with the one that is there.
--
-- The address row is made first: from here on suppression and hand-off have something to lock.
-- An address that is already suppressed is refused here, visibly; the hand-off asks again. The identity is
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

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, status,
    status_reason, due_at, queued_at, expires_at)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, case when v_suppressed then 'suppressed' else 'queued' end,
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
--! Included delivery/begin_hand_off.sql
-- Commits that a message is about to be given to the provider, or says why it must not be.
--
-- Locks the person, the address, then the send, as every erase and every suppression does. Answers
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
  v_identity_id uuid;
  v_profile_id  uuid;
  v_erased      boolean;
  v_suppressed  boolean;
  v_now         timestamptz;
  v_decision    text;
begin
  perform set_config('trunkline.project_id', begin_hand_off.project_id::text, true);
  select send.identity_id, send.profile_id into v_identity_id, v_profile_id from delivery.sends as send
  where send.project_id = begin_hand_off.project_id and send.send_id = begin_hand_off.send_id;
  v_erased := profiles.is_erased(begin_hand_off.project_id, v_identity_id, v_profile_id);
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

-- The rows of all projects, which row-level security keeps from the owner too while it is forced.
alter table delivery.sends no force row level security;
alter table automations.runs no force row level security;
alter table ingest.message_ids no force row level security;
alter table ingest.events no force row level security;

update delivery.sends as send set identity_id = run.identity_id
from automations.runs as run
where run.project_id = send.project_id and run.run_id = send.run_id and send.identity_id is null;

-- Message ids that identify claimed before it said for whom: no erase finds them. Once only, however many
-- they are, since none is made any more. To repeat an identify is harmless: the same traits fold to the same profile.
delete from ingest.message_ids as claimed
where claimed.identity_id is null and not exists (
  select from ingest.events as event
  where event.project_id = claimed.project_id and event.event_id = claimed.event_id
  and event.occurred_at = claimed.occurred_at
);

alter table delivery.sends force row level security;
alter table automations.runs force row level security;
alter table ingest.message_ids force row level security;
alter table ingest.events force row level security;
