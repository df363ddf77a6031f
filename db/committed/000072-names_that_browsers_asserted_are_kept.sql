--! Previous: sha1:acc607c8d5193f667c265deba7d07b3e19b1e67f
--! Hash: sha1:99c5606234266b013d1038d65e442910a25b85f0
--! Message: names_that_browsers_asserted_are_kept

-- Enter migration here
-- A profile keeps the names of the traits that only browsers asserted. Null: nothing was folded since.
alter table profiles.profiles add column if not exists browser_names text[];
alter table profiles.profiles alter column browser_names set default '{}';
select base.declare_columns('profiles.profiles', '{browser_names}', '{}', '{}');
--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
-- Those that are being erased say nothing any more, to whomever they were linked meanwhile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text, byte by byte. A null value removes the trait. Writes nothing when nothing changed.
-- Keeps the names of the traits that only browsers asserted, of which a server that says the same value takes one.
-- The identities are read under the profile's lock: whoever links or undoes folds again after us.
-- Returns the address before and after. source: who caused it, `server` or `browser`; null where that is not known.
create or replace function profiles.fold_profile(
  project_id uuid,
  profile_id uuid,
  at         timestamptz,
  source     text default null
)
returns table (old_email text, new_email text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_traits        jsonb;
  v_browser_names text[];
  v_email         text;
  v_old_traits    jsonb;
  v_old_email     text;
begin
  select profile.traits, profile.email into v_old_traits, v_old_email from profiles.profiles as profile
  where profile.project_id = fold_profile.project_id and profile.profile_id = fold_profile.profile_id
  for update;

  select coalesce(jsonb_object_agg(winner.key, winner.value) filter (where winner.value <> 'null'), '{}'),
    coalesce(array_agg(winner.key order by winner.key collate "C")
      filter (where winner.value <> 'null' and winner.authority = 'publishable'), '{}')
  into v_traits, v_browser_names
  from (
    select distinct on (trait.key) trait.key, trait.value, trait.authority
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
  set traits = v_traits, email = v_email, browser_names = v_browser_names,
    updated_at = case when (v_old_traits, v_old_email) is distinct from (v_traits, v_email) then fold_profile.at
      else profile.updated_at end
  where profile.project_id = fold_profile.project_id
  and profile.profile_id = fold_profile.profile_id
  and (profile.traits, profile.email, profile.browser_names) is distinct from (v_traits, v_email, v_browser_names);
  if found and (v_old_traits, v_old_email) is distinct from (v_traits, v_email) then
    perform profiles.note_changes(fold_profile.project_id, array[fold_profile.profile_id], fold_profile.source);
  end if;

  return query select v_old_email, v_email;
end;
$$;
--! EndIncluded profiles/fold_profile.sql
--! Included profiles/list_confirmed_places.sql
-- Returns the places of those people, each with an address, of whom a server said that the address is theirs.
--
-- What a server said stays with its identity until a server says otherwise, and wins over every browser
-- (profiles.set_traits, profiles.fold_profile). So an address that is not confirmed is one that a visitor typed into a
-- page, who may be a stranger. A person may have several places, each with another address.
create or replace function profiles.list_confirmed_places(project_id uuid, profile_ids uuid[], emails text[])
returns setof bigint
language sql stable
as $$
  select asked.place
  from unnest(list_confirmed_places.profile_ids, list_confirmed_places.emails)
    with ordinality as asked (profile_id, email, place)
  cross join lateral (
    select from identity.identities as known
    cross join lateral (
      select found.value from profiles.traits as found
      where found.project_id = list_confirmed_places.project_id
      and found.identity_id = known.identity_id
      and found.key = 'email'
      and found.authority = 'server'
      limit 1
    ) as told
    where known.project_id = list_confirmed_places.project_id
    and known.profile_id = asked.profile_id
    and known.erasure_id is null
    and lower(btrim(told.value #>> '{}')) = lower(asked.email)
    limit 1
  ) as confirmed;
$$;
--! EndIncluded profiles/list_confirmed_places.sql
--! Included profiles/list_confirmed.sql
-- Returns those people, each with an address, of whom a server said that the address is theirs, by the rule of
-- list_confirmed_places.
create or replace function profiles.list_confirmed(project_id uuid, profile_ids uuid[], emails text[])
returns setof uuid
language sql stable
as $$
  select list_confirmed.profile_ids[confirmed.place]
  from profiles.list_confirmed_places(list_confirmed.project_id, list_confirmed.profile_ids, list_confirmed.emails)
    as confirmed (place);
$$;
--! EndIncluded profiles/list_confirmed.sql
--! Included profiles/list_provenance.sql
-- Returns for some emails whom each is for now, whether a server confirmed the address, and which traits of the person
-- only browsers asserted.
--
-- Each is the identity that a run was started for, the profile that it had then, and the address; a null address stands
-- for the person's own, and a person without one needs no confirmation. A profile of which nothing was folded since its
-- names are kept has no names: they are computed then, by the rule of fold_profile. Row security keeps a condition with
-- coalesce from using an index, so the profile is found before it is compared with.
create or replace function profiles.list_provenance(
  project_id   uuid,
  identity_ids uuid[],
  profile_ids  uuid[],
  emails       text[]
)
returns table (place bigint, person_id uuid, is_confirmed boolean, browser_names text[])
language sql stable
as $$
  with people as materialized (
    select asked.place, person.profile_id, coalesce(asked.email, person.email) as email, person.browser_names
    from unnest(list_provenance.identity_ids, list_provenance.profile_ids, list_provenance.emails)
      with ordinality as asked (identity_id, profile_id, email, place)
    cross join lateral (
      select coalesce(
        (
          select known.profile_id from identity.identities as known
          where known.project_id = list_provenance.project_id and known.identity_id = asked.identity_id
        ),
        asked.profile_id
      ) as profile_id
      offset 0
    ) as current
    cross join lateral (
      select found.profile_id, found.email, found.browser_names from profiles.profiles as found
      where found.project_id = list_provenance.project_id and found.profile_id = current.profile_id
      limit 1
    ) as person
  ), confirmed as materialized (
    select those.places[confirmed.place] as place
    from (
      select array_agg(people.place) as places, array_agg(people.profile_id) as profile_ids,
        array_agg(people.email) as emails
      from people
    ) as those
    cross join lateral profiles.list_confirmed_places(list_provenance.project_id, those.profile_ids, those.emails)
      as confirmed (place)
  )
  select people.place, people.profile_id, people.email is null or confirmed.place is not null,
    coalesce(people.browser_names, array(
      select winner.key
      from (
        select distinct on (trait.key) trait.key, trait.authority
        from identity.identities as known
        join profiles.traits as trait
          on trait.project_id = known.project_id and trait.identity_id = known.identity_id
        where known.project_id = list_provenance.project_id
        and known.profile_id = people.profile_id
        and known.erasure_id is null
        and trait.project_id = list_provenance.project_id
        order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text collate "C" desc
      ) as winner
      where winner.authority = 'publishable'
    ))
  from people
  left join confirmed on confirmed.place = people.place
$$;
--! EndIncluded profiles/list_provenance.sql

-- All hand-offs lock addresses through delivery.hold_mailboxes.
drop function if exists suppression.stop_mails(uuid, bytea[], text[], boolean);
--! Included suppression/stop_mails.sql
-- Returns why each of some addresses gets no email of a category, or null; stays true until the transaction ends.
--
-- The rows are locked in share mode, in the order of all locks: a later suppression or unsubscribe waits for this
-- transaction, an earlier one is seen. The row exists from the moment a send to the address is planned: a missing one
-- is a bug. Only suppressions stop transactional email.
create or replace function suppression.stop_mails(
  project_id   uuid,
  address_keys bytea[],
  categories   text[]
)
returns text[]
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_keys         bytea[];
  v_suppressed   bytea[];
  v_unsubscribed bytea[];
  v_key          bytea;
  v_answers      text[] := '{}';
begin
  select array_agg(held.address_key),
    array_agg(held.address_key) filter (where held.suppressed_at is not null),
    array_agg(held.address_key)
      filter (where held.unsubscribed_at >= coalesce(held.resubscribed_at, '-infinity'))
  into v_keys, v_suppressed, v_unsubscribed
  from (
    select address.address_key, address.suppressed_at, address.unsubscribed_at, address.resubscribed_at
    from suppression.addresses as address
    where address.project_id = stop_mails.project_id and address.address_key = any (stop_mails.address_keys)
    order by address.address_key
    for share
  ) as held;
  for v_place in 1 .. coalesce(cardinality(stop_mails.address_keys), 0) loop
    v_key := stop_mails.address_keys[v_place];
    if (v_key = any (v_keys)) is not true then
      raise exception 'an address is not known';
    end if;
    v_answers[v_place] := case
      when v_key = any (v_suppressed) then 'suppressed'
      when stop_mails.categories[v_place] <> 'transactional' and v_key = any (v_unsubscribed) then 'unsubscribed'
    end;
  end loop;
  return v_answers;
end;
$$;
--! EndIncluded suppression/stop_mails.sql

-- Emails that are planned together lock their addresses first, in order.
--! Included suppression/lock_addresses.sql
-- Locks the addresses of emails that are about to be planned together, and inserts those that have no row, in the order
-- of all locks. Without it two transactions that plan email to the same new mailboxes in opposite order deadlock.
--
-- An inserted row has a key and nothing that can be read: plan_send adds the address of an email that it plans. Unlike
-- hold_addresses it lets other transactions refer to the rows.
create or replace function suppression.lock_addresses(project_id uuid, address_keys bytea[])
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  insert into suppression.addresses (project_id, address_key)
  select lock_addresses.project_id, planned.address_key
  from unnest(lock_addresses.address_keys) as planned (address_key)
  order by planned.address_key
  on conflict do nothing;

  perform from suppression.addresses as address
  where address.project_id = lock_addresses.project_id and address.address_key = any (lock_addresses.address_keys)
  order by address.address_key
  for no key update;
end;
$$;
--! EndIncluded suppression/lock_addresses.sql
--! Included delivery/plan_send.sql
-- Inserts the one send intent of a run's step, or returns the one that is there.
--
-- The rows of the address and of its mailbox come first: suppressions and hand-offs lock them. A caller that plans
-- several sends locks all rows with suppression.lock_addresses before. A suppressed address is refused here, visibly;
-- the hand-off checks again. The identity is the one that the run was started for: it may leave the profile when a link
-- is undone, and is erased on its own then.
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
  expires_after     interval,
  category          text,
  on_unknown        text default 'hold',
  limits            jsonb default null,
  is_test           boolean default false,
  traceparent       text default null,
  mailbox_key       bytea default null
)
returns table (planned_id uuid, planned_status text)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now     timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_stopped text;
begin
  perform suppression.know_address(plan_send.project_id, plan_send.address_key, plan_send.recipient);
  if plan_send.mailbox_key <> plan_send.address_key then
    insert into suppression.addresses (project_id, address_key)
    values (plan_send.project_id, plan_send.mailbox_key)
    on conflict do nothing;
  end if;
  v_stopped := suppression.stops_mail(plan_send.project_id, plan_send.address_key, plan_send.category);

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, category,
    status, status_reason, due_at, queued_at, expires_at, on_unknown, limits, is_test, traceparent,
    mailbox_key)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
    v_now, v_now, v_now + plan_send.expires_after, plan_send.on_unknown,
    plan_send.limits, plan_send.is_test, plan_send.traceparent, plan_send.mailbox_key)
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
--! Included delivery/reached_recipient_cap.sql
-- Returns whether a mailbox has had as many emails in 24 hours as it may of runs that no server started, besides this
-- send and so many that begin together with it; and whether only email that is under way decides that.
--
-- Email that went out counts, or that may have; email of a test does not. The caller holds the mailbox. An index of
-- the times of hand-offs finds the last day, so a mailbox with a long history costs no more than a new one.
create or replace function delivery.reached_recipient_cap(
  project_id       uuid,
  send_id          uuid,
  mailbox_key      bytea,
  sends_max        integer,
  begun            integer,
  at               timestamptz,
  out is_so        boolean,
  out is_under_way boolean
)
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  select counted.settled >= reached_recipient_cap.sends_max,
    counted.settled < reached_recipient_cap.sends_max
      and counted.sends + reached_recipient_cap.begun >= reached_recipient_cap.sends_max
  into is_so, is_under_way
  from (
    select count(*) as sends, count(*) filter (where found.status <> 'handing_off') as settled
    from delivery.sends as found
    where found.project_id = reached_recipient_cap.project_id
    and found.mailbox_key = reached_recipient_cap.mailbox_key
    and found.limits ? 'browser_triggered'
    and found.send_id <> reached_recipient_cap.send_id
    and found.handed_off_at > reached_recipient_cap.at - interval '24 hours'
    and not found.is_test
    and delivery.may_be_out(found.project_id, found.send_id, found.status)
  ) as counted;
end;
$$;
--! EndIncluded delivery/reached_recipient_cap.sql
