--! Previous: sha1:6abb17627dfed40a5778e5dede518569e7c6f4d6
--! Hash: sha1:55b5e624361713576e8b1f81b4d7d87e02556897
--! Message: who_is_held_is_looked_up_by_key

--! Included profiles/hold_living.sql
-- Says whether each of some people is there and not about to be erased; stays true until the transaction ends.
--
-- Each is an identity and the profile that it had when the caller last looked; no identity where nobody knows
-- which. Their rows are locked as weakly as makes an erase that is asked for later wait for us; one that was asked
-- for before is seen. In the order of all locks: all identities first, by kind and value, then the profiles.
create or replace function profiles.hold_living(project_id uuid, identity_ids uuid[], profile_ids uuid[])
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
--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones.
--
-- A lease only saves work: what may be handed off is decided by begin_hand_offs. It runs out by the
-- database's clock when its owner dies.
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
  automation_id     uuid,
  category          text,
  attempt           integer
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
begin
  select array_agg(due.send_id)
  into v_ids
  from (
    select send.send_id
    from delivery.sends as send
    where send.project_id = claim_sends.project_id
    and send.provider_id = claim_sends.provider_id
    and send.status = 'queued'
    and send.due_at <= v_now
    and send.expires_at > v_now
    and (send.lease_until is null or send.lease_until < v_now)
    order by send.due_at, send.send_id
    limit claim_sends.sends_max
    for update skip locked
  ) as due;

  return query
  update delivery.sends as send
  set lease_owner = claim_sends.owner, lease_until = v_now + claim_sends.lease_for
  where send.project_id = claim_sends.project_id
  and send.send_id = any (v_ids)
  returning send.send_id, send.profile_id, send.template_id, send.template_version, send.event_id,
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
