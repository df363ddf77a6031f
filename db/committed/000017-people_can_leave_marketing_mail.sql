--! Previous: sha1:88a257100de6ffd2c1cfef645c451dc3e654ace8
--! Hash: sha1:efa1205ce71faa989c7e70eced5a295103b403a2
--! Message: people_can_leave_marketing_mail

alter table suppression.addresses
  add column if not exists unsubscribed_at timestamptz(3),
  add column if not exists resubscribed_at timestamptz(3),
  add column if not exists soft_bounced_at timestamptz(3),
  add column if not exists soft_bounced_source text;
alter table suppression.addresses drop constraint if exists addresses_reason_is_known;
alter table suppression.addresses add constraint addresses_reason_is_known check (
  reason in ('hard_bounce', 'complaint', 'manual', 'provider_suppressed', 'soft_bounces')
);
create index if not exists addresses_unsubscribed on suppression.addresses (project_id, unsubscribed_at desc, address_key)
  where unsubscribed_at is not null;

alter table suppression.history
  alter column reason drop not null,
  add column if not exists note text,
  add column if not exists import_id uuid,
  add column if not exists lifts_complaints boolean not null default false;
alter table suppression.history drop constraint if exists history_change_is_known;
alter table suppression.history add constraint history_change_is_known check (
  change in ('suppressed', 'released', 'unsubscribed', 'resubscribed', 'soft_bounced', 'soft_recovered')
);
alter table suppression.history drop constraint if exists history_suppressions_have_a_reason;
alter table suppression.history add constraint history_suppressions_have_a_reason check (
  change <> 'suppressed' or reason is not null
);
create index if not exists history_by_import on suppression.history (project_id, import_id, address_key)
  where import_id is not null;
grant update (note) on suppression.history to trunkline_runtime;

alter table delivery.sends add column if not exists category text not null default 'marketing';
alter table delivery.sends drop constraint if exists sends_category_is_known;
alter table delivery.sends add constraint sends_category_is_known check (category in ('marketing', 'transactional'));

alter table rendering.templates
  add column if not exists mjml text,
  add column if not exists preheader text;

select base.declare_columns('suppression.addresses', '{email}', '{address_key}',
  '{project_id,reason,source,suppressed_at,erased_at,unsubscribed_at,resubscribed_at,soft_bounced_at,
  soft_bounced_source}');
select base.declare_columns('suppression.history', '{note}', '{address_key}',
  '{project_id,history_id,change,reason,source,changed_at,import_id,lifts_complaints}');
select base.declare_columns('delivery.sends', '{}', '{}', '{category}');
select base.declare_columns('rendering.templates', '{}', '{}', '{mjml,preheader}');

drop function if exists suppression.is_suppressed(uuid, bytea);
drop function if exists suppression.suppress_address(uuid, bytea, text, uuid, text, text, timestamptz);
drop function if exists delivery.plan_send(uuid, uuid, uuid, uuid, text, uuid, uuid, uuid, uuid, integer, uuid,
  timestamptz, bytea, text, interval);
drop function if exists delivery.claim_sends(uuid, uuid, text, integer, interval);
--! Included suppression/stops_mail.sql
-- Says why an address gets no mail of a category, or null; the answer stays true until the transaction ends.
--
-- The row is locked in share mode: a suppression or an unsubscribe that comes later waits for us, one that
-- came earlier is seen. The row exists from the moment a send to the address is planned. Transactional mail
-- is stopped by suppressions only.
create or replace function suppression.stops_mail(project_id uuid, address_key bytea, category text)
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_address suppression.addresses;
begin
  select address.*
  into strict v_address
  from suppression.addresses as address
  where address.project_id = stops_mail.project_id and address.address_key = stops_mail.address_key
  for share;
  return case
    when v_address.suppressed_at is not null then 'suppressed'
    when stops_mail.category <> 'transactional'
      and v_address.unsubscribed_at >= coalesce(v_address.resubscribed_at, '-infinity') then 'unsubscribed'
  end;
end;
$$;
--! EndIncluded suppression/stops_mail.sql
--! Included suppression/standing_reasons.sql
-- Lists what an address is suppressed for now: whatever was said of it and not taken back.
--
-- A lift takes back what was true before it, also what we are told of later; of complaints it takes back
-- those only whose lifting was confirmed. What is newer than the lift stands. An import that is undone takes
-- back its own words and nobody else's. Soft bounces in a row are counted elsewhere and stand as they were
-- counted last. So the answer does not depend on the order in which we were told.
create or replace function suppression.standing_reasons(project_id uuid, address_key bytea)
returns table (reason text, source text, since timestamptz)
language sql stable
as $$
  select said.reason, said.source, said.since
  from (
    select known.reason, known.source, known.changed_at as since, known.import_id
    from suppression.history as known
    where known.project_id = standing_reasons.project_id
    and known.address_key = standing_reasons.address_key
    and known.change = 'suppressed'
    union all
    select 'soft_bounces', address.soft_bounced_source, address.soft_bounced_at, null
    from suppression.addresses as address
    where address.project_id = standing_reasons.project_id
    and address.address_key = standing_reasons.address_key
    and address.soft_bounced_at is not null
  ) as said
  where not exists (
    select from suppression.history as lift
    where lift.project_id = standing_reasons.project_id
    and lift.address_key = standing_reasons.address_key
    and lift.change = 'released'
    and case
      when lift.import_id is null
        then lift.changed_at >= said.since and (said.reason <> 'complaint' or lift.lifts_complaints)
      else lift.import_id = said.import_id
    end
  )
$$;
--! EndIncluded suppression/standing_reasons.sql
--! Included suppression/show_strongest.sql
-- Makes an address's row say what it is suppressed for now: the strongest reason, of equals the oldest.
--
-- The caller holds the row.
create or replace function suppression.show_strongest(project_id uuid, address_key bytea)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_shown record;
begin
  select standing.reason, standing.source, standing.since into v_shown
  from suppression.standing_reasons(show_strongest.project_id, show_strongest.address_key) as standing
  order by array_position(
      array['complaint', 'hard_bounce', 'provider_suppressed', 'soft_bounces', 'manual'], standing.reason),
    standing.since, standing.source collate "C"
  limit 1;

  update suppression.addresses as address
  set reason = v_shown.reason, source = v_shown.source, suppressed_at = v_shown.since
  where address.project_id = show_strongest.project_id and address.address_key = show_strongest.address_key
  and (address.reason, address.source, address.suppressed_at)
    is distinct from (v_shown.reason, v_shown.source, v_shown.since);
end;
$$;
--! EndIncluded suppression/show_strongest.sql
--! Included suppression/set_soft_bounced.sql
-- Says since when mail to an address has bounced softly too often in a row, or with null that it has not.
--
-- What we are told late may show that mail arrived in between, so this reason is taken back where what is
-- known does not bear it out any more, and only this one. A lift stands against what was counted before it.
create or replace function suppression.set_soft_bounced(
  project_id  uuid,
  address_key bytea,
  email       text,
  history_id  uuid,
  source      text,
  since       timestamptz,
  at          timestamptz
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_erased boolean := suppression.hold_address(set_soft_bounced.project_id, set_soft_bounced.address_key);
  v_was       timestamptz;
begin
  select address.soft_bounced_at into strict v_was from suppression.addresses as address
  where address.project_id = set_soft_bounced.project_id and address.address_key = set_soft_bounced.address_key;

  update suppression.addresses as address
  set soft_bounced_at = set_soft_bounced.since,
    soft_bounced_source = case when set_soft_bounced.since is not null then set_soft_bounced.source end,
    email = case when not v_is_erased
      then least(address.email collate "C", set_soft_bounced.email collate "C") end
  where address.project_id = set_soft_bounced.project_id and address.address_key = set_soft_bounced.address_key;

  if (v_was is null) <> (set_soft_bounced.since is null) then
    insert into suppression.history (project_id, history_id, address_key, change, source, changed_at)
    values (set_soft_bounced.project_id, set_soft_bounced.history_id, set_soft_bounced.address_key,
      case when set_soft_bounced.since is null then 'soft_recovered' else 'soft_bounced' end,
      set_soft_bounced.source, least(set_soft_bounced.since, set_soft_bounced.at));
  end if;
  perform suppression.show_strongest(set_soft_bounced.project_id, set_soft_bounced.address_key);
end;
$$;
--! EndIncluded suppression/set_soft_bounced.sql
--! Included suppression/note_change.sql
-- Writes into an address's history that it was suppressed or released, and makes the row what history says.
--
-- Takes the address row exclusively; a hand-off takes the same row in share mode. That is the one order
-- between "suppress" and "hand off". Without `at` it happens now, after everything that is known: what people
-- do counts in the order they did it. With `at` it counts from then, whenever we are told, but not from the
-- future. The same change twice is one.
create or replace function suppression.note_change(
  project_id       uuid,
  address_key      bytea,
  history_id       uuid,
  change           text,
  reason           text,
  source           text,
  at               timestamptz,
  note             text,
  import_id        uuid,
  lifts_complaints boolean
)
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_erased boolean := suppression.hold_address(note_change.project_id, note_change.address_key);
  v_now       timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_latest    timestamptz;
begin
  select max(known.changed_at) into v_latest from suppression.history as known
  where known.project_id = note_change.project_id and known.address_key = note_change.address_key;

  insert into suppression.history (project_id, history_id, address_key, change, reason, source, changed_at, note,
    import_id, lifts_complaints)
  values (note_change.project_id, note_change.history_id, note_change.address_key, note_change.change,
    note_change.reason, note_change.source,
    case when note_change.at is null then greatest(v_now, v_latest + interval '1 ms')
      else least(v_now, note_change.at) end,
    case when not v_is_erased then note_change.note end, note_change.import_id, note_change.lifts_complaints)
  on conflict do nothing;

  perform suppression.show_strongest(note_change.project_id, note_change.address_key);
end;
$$;
--! EndIncluded suppression/note_change.sql
--! Included suppression/suppress_address.sql
-- Puts an address on the list. From the commit on, no hand-off to it begins.
--
-- Feedback says when it happened and leads to the same row in any order; without `at` it happens now. Every
-- change is in the history. An address that was erased is suppressed by its keyed hash alone; of the
-- spellings of one that was not, the first in the order of their bytes is kept.
create or replace function suppression.suppress_address(
  project_id  uuid,
  address_key bytea,
  email       text,
  history_id  uuid,
  reason      text,
  source      text,
  at          timestamptz,
  note        text default null,
  import_id   uuid default null
)
returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  perform suppression.note_change(
    project_id => suppress_address.project_id,
    address_key => suppress_address.address_key,
    history_id => suppress_address.history_id,
    change => 'suppressed',
    reason => suppress_address.reason,
    source => suppress_address.source,
    at => suppress_address.at,
    note => suppress_address.note,
    import_id => suppress_address.import_id,
    lifts_complaints => false
  );

  update suppression.addresses as address
  set email = least(address.email collate "C", suppress_address.email collate "C")
  where address.project_id = suppress_address.project_id and address.address_key = suppress_address.address_key
  and address.erased_at is null
  and (address.email is null or suppress_address.email collate "C" < address.email collate "C");
end;
$$;
--! EndIncluded suppression/suppress_address.sql
--! Included suppression/lift_address.sql
-- Takes an address off the list by somebody's decision; answers whether it was on it.
--
-- Whoever complained is left alone until it is said a second time that a complaint is to be lifted: without
-- that the lift is refused as complaint_not_confirmed. What providers tell later of times before the lift
-- changes nothing; a newer bounce or complaint suppresses again.
create or replace function suppression.lift_address(
  project_id       uuid,
  address_key      bytea,
  history_id       uuid,
  source           text,
  note             text,
  lifts_complaints boolean
)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_reasons text[];
begin
  perform suppression.hold_address(lift_address.project_id, lift_address.address_key);
  select array_agg(standing.reason) into v_reasons
  from suppression.standing_reasons(lift_address.project_id, lift_address.address_key) as standing;
  if v_reasons is null then
    return false;
  end if;
  if 'complaint' = any (v_reasons) and not lift_address.lifts_complaints then
    raise exception using errcode = 'ZREFU', message = 'complaint_not_confirmed';
  end if;

  perform suppression.note_change(
    project_id => lift_address.project_id,
    address_key => lift_address.address_key,
    history_id => lift_address.history_id,
    change => 'released',
    reason => null,
    source => lift_address.source,
    at => null,
    note => lift_address.note,
    import_id => null,
    lifts_complaints => lift_address.lifts_complaints
  );
  return true;
end;
$$;
--! EndIncluded suppression/lift_address.sql
--! Included suppression/change_subscription.sql
-- Unsubscribes an address from marketing mail, or subscribes it again; answers whether that changed anything.
--
-- Takes the address row as every suppression does, so that "unsubscribe accepted" and hand-off have one order.
-- The latest word counts, and of two of one moment the unsubscribe. Without `at` it is said now, after all that
-- is known. Suppressions are not touched, whoever resubscribes. The same change twice is one.
create or replace function suppression.change_subscription(
  project_id  uuid,
  address_key bytea,
  email       text,
  history_id  uuid,
  change      text,
  source      text,
  at          timestamptz,
  note        text default null,
  import_id   uuid default null
)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_is_erased boolean := suppression.hold_address(change_subscription.project_id, change_subscription.address_key);
  v_now       timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_before    suppression.addresses;
  v_at        timestamptz;
  v_was       boolean;
  v_is        boolean;
begin
  if exists (
    select from suppression.history as known
    where known.project_id = change_subscription.project_id and known.history_id = change_subscription.history_id
  ) then
    return false;
  end if;
  select address.* into strict v_before from suppression.addresses as address
  where address.project_id = change_subscription.project_id
  and address.address_key = change_subscription.address_key;
  v_was := coalesce(v_before.unsubscribed_at >= coalesce(v_before.resubscribed_at, '-infinity'), false);
  v_at := case when change_subscription.at is null
    then greatest(v_now, greatest(v_before.unsubscribed_at, v_before.resubscribed_at) + interval '1 ms')
    else least(v_now, change_subscription.at) end;

  update suppression.addresses as address
  set unsubscribed_at = case when change_subscription.change = 'unsubscribed'
      then greatest(address.unsubscribed_at, v_at) else address.unsubscribed_at end,
    resubscribed_at = case when change_subscription.change = 'resubscribed'
      then greatest(address.resubscribed_at, v_at) else address.resubscribed_at end,
    email = case when not v_is_erased
      then least(address.email collate "C", change_subscription.email collate "C") end
  where address.project_id = change_subscription.project_id
  and address.address_key = change_subscription.address_key
  returning coalesce(address.unsubscribed_at >= coalesce(address.resubscribed_at, '-infinity'), false) into v_is;

  -- Links are open to everybody: pressed for what is so already they leave one line, however often.
  if v_is <> v_was or change_subscription.source <> 'link'
    or not exists (
      select from suppression.history as said
      where said.project_id = change_subscription.project_id and said.address_key = change_subscription.address_key
      and said.change = change_subscription.change and said.source = change_subscription.source
      and said.changed_at > case change_subscription.change when 'unsubscribed'
        then coalesce(v_before.resubscribed_at, '-infinity') else coalesce(v_before.unsubscribed_at, '-infinity') end
    )
  then
    insert into suppression.history (project_id, history_id, address_key, change, source, changed_at, note, import_id)
    values (change_subscription.project_id, change_subscription.history_id, change_subscription.address_key,
      change_subscription.change, change_subscription.source, v_at,
      case when not v_is_erased then change_subscription.note end, change_subscription.import_id)
    on conflict do nothing;
  end if;
  return v_is <> v_was;
end;
$$;
--! EndIncluded suppression/change_subscription.sql
--! Included suppression/import_addresses.sql
-- Suppresses or unsubscribes the addresses of a list; answers how many it said something new of.
--
-- An import only adds: it says its word of each address, and nothing of it lifts or weakens what is there. Run
-- again it adds nothing. Locked in the order of their keys, as everywhere.
create or replace function suppression.import_addresses(
  project_id   uuid,
  import_id    uuid,
  source       text,
  note         text,
  address_keys bytea[],
  emails       text[],
  reasons      text[],
  history_ids  uuid[]
)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_item  record;
  v_count integer := 0;
begin
  for v_item in
    select item.address_key, item.email, item.reason, item.history_id
    from unnest(import_addresses.address_keys, import_addresses.emails, import_addresses.reasons,
      import_addresses.history_ids) as item (address_key, email, reason, history_id)
    order by item.address_key, item.reason
  loop
    perform suppression.hold_address(import_addresses.project_id, v_item.address_key);
    continue when exists (
      select from suppression.history as known
      where known.project_id = import_addresses.project_id
      and known.address_key = v_item.address_key
      and known.import_id = import_addresses.import_id
      and known.reason is not distinct from nullif(v_item.reason, 'unsubscribed')
    );
    v_count := v_count + 1;
    if v_item.reason = 'unsubscribed' then
      perform suppression.change_subscription(import_addresses.project_id, v_item.address_key, v_item.email,
        v_item.history_id, 'unsubscribed', import_addresses.source, null, import_addresses.note,
        import_addresses.import_id);
    else
      perform suppression.suppress_address(import_addresses.project_id, v_item.address_key, v_item.email,
        v_item.history_id, v_item.reason, import_addresses.source, null, import_addresses.note,
        import_addresses.import_id);
    end if;
  end loop;
  return v_count;
end;
$$;
--! EndIncluded suppression/import_addresses.sql
--! Included suppression/undo_import.sql
-- Takes back what an import said of addresses; answers how many are left alone no longer.
--
-- Only the import's own words go: whoever was suppressed or unsubscribed by anybody else, before or since,
-- stays so. Done twice it changes nothing more.
create or replace function suppression.undo_import(
  project_id   uuid,
  import_id    uuid,
  source       text,
  address_keys bytea[],
  history_ids  uuid[]
)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_item   record;
  v_before suppression.addresses;
  v_count  integer := 0;
  v_is     boolean;
begin
  for v_item in
    select item.address_key, item.history_id, (array_agg(said.change))[1] as change
    from unnest(undo_import.address_keys, undo_import.history_ids) as item (address_key, history_id)
    join suppression.history as said on said.address_key = item.address_key
    where said.project_id = undo_import.project_id and said.import_id = undo_import.import_id
    group by item.address_key, item.history_id
    having count(*) filter (where said.change in ('released', 'resubscribed')) = 0
    order by item.address_key
  loop
    perform suppression.hold_address(undo_import.project_id, v_item.address_key);
    select address.* into strict v_before from suppression.addresses as address
    where address.project_id = undo_import.project_id and address.address_key = v_item.address_key;

    if v_item.change = 'unsubscribed' then
      -- Somebody else's unsubscribe that no resubscribe has answered stands.
      v_is := not exists (
        select from suppression.history as said
        where said.project_id = undo_import.project_id and said.address_key = v_item.address_key
        and said.change = 'unsubscribed' and said.import_id is distinct from undo_import.import_id
        and said.changed_at > coalesce(v_before.resubscribed_at, '-infinity')
      ) and suppression.change_subscription(undo_import.project_id, v_item.address_key, v_before.email,
        v_item.history_id, 'resubscribed', undo_import.source, null, null, undo_import.import_id);
    else
      perform suppression.note_change(undo_import.project_id, v_item.address_key, v_item.history_id, 'released', null,
        undo_import.source, null, null, undo_import.import_id, false);
      select v_before.suppressed_at is not null and address.suppressed_at is null into strict v_is
      from suppression.addresses as address
      where address.project_id = undo_import.project_id and address.address_key = v_item.address_key;
    end if;
    v_count := v_count + v_is::integer;
  end loop;
  return v_count;
end;
$$;
--! EndIncluded suppression/undo_import.sql
--! Included delivery/plan_send.sql
-- Makes the one send intent of a run's step, or answers with the one that is there.
--
-- The address row is made first: from here on suppression and hand-off have something to lock.
-- An address that must be left alone already is refused here, visibly; the hand-off asks again. The identity is
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
  expires_after     interval,
  category          text
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
  v_stopped := suppression.stops_mail(plan_send.project_id, plan_send.address_key, plan_send.category);

  insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
    provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, category,
    status, status_reason, due_at, queued_at, expires_at)
  values (plan_send.project_id, plan_send.send_id, plan_send.automation_id, plan_send.run_id, plan_send.step_id,
    plan_send.identity_id, plan_send.profile_id, plan_send.provider_id, plan_send.template_id,
    plan_send.template_version, plan_send.event_id, plan_send.event_occurred_at, plan_send.address_key,
    plan_send.recipient, plan_send.category, case when v_stopped is null then 'queued' else 'suppressed' end, v_stopped,
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
-- (or unsubscribed from mail of this category) or 'expired' when the send has ended; 'lost' when the send is
-- no longer the caller's to hand off. One statement of the client, so one transaction.
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
  v_category    text;
  v_erased      boolean;
  v_stopped     text;
  v_now         timestamptz;
  v_decision    text;
begin
  perform set_config('trunkline.project_id', begin_hand_off.project_id::text, true);
  select send.identity_id, send.profile_id, send.category into v_identity_id, v_profile_id, v_category
  from delivery.sends as send
  where send.project_id = begin_hand_off.project_id and send.send_id = begin_hand_off.send_id;
  v_erased := profiles.is_erased(begin_hand_off.project_id, v_identity_id, v_profile_id);
  v_stopped := suppression.stops_mail(begin_hand_off.project_id, begin_hand_off.address_key, v_category);
  -- After the wait for the address: a lease may have run out meanwhile.
  v_now := date_trunc('milliseconds', clock_timestamp());

  update delivery.sends as send
  set status = case when v_erased then 'cancelled' when v_stopped is not null then 'suppressed' else 'expired' end,
    status_reason = case when v_erased then 'erased' else coalesce(v_stopped, 'expired') end,
    lease_owner = null,
    lease_until = null
  where send.project_id = begin_hand_off.project_id
  and send.send_id = begin_hand_off.send_id
  and send.status = 'queued'
  and send.lease_owner = begin_hand_off.owner
  and send.lease_until > v_now
  and (v_erased or v_stopped is not null or send.expires_at <= v_now)
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
--! Included delivery/claim_sends.sql
-- Leases the sends of one provider that are due, so that workers do not prepare the same ones.
--
-- A lease only saves work: what may be handed off is decided by begin_hand_off. It runs out by the
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
    send.event_occurred_at, send.address_key, send.recipient, send.automation_id, send.category,
    send.attempt_count + 1;
end;
$$;
--! EndIncluded delivery/claim_sends.sql
