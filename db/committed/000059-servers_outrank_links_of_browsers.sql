--! Previous: sha1:5689877d7e954b07d8a4c357fe44aa7e204d2d55
--! Hash: sha1:78da31a81ac9837b17e34086d8f36c588028543e
--! Message: servers_outrank_links_of_browsers

-- Enter migration here

-- A server's word outranks a link that only a browser vouches for, and browsers link a bounded number of anonymous ids.
alter table identity.links add column if not exists confirmed_at timestamptz(3);
alter table identity.links add column if not exists replaces uuid;
alter table identity.links add column if not exists replaced_by uuid;

alter table identity.links drop constraint if exists links_reason_is_known;
alter table identity.links add constraint links_reason_is_known check (
  reason in ('linked_to_another', 'undone_before', 'too_many_links_today', 'too_many_links')
) not valid;
alter table identity.links drop constraint if exists links_replaced_were_undone_by_a_link;
alter table identity.links add constraint links_replaced_were_undone_by_a_link check (
  (replaced_by is not null) = (undone_by is not distinct from 'server_link')
) not valid;
alter table identity.links drop constraint if exists links_confirmed_are_a_browsers;
alter table identity.links add constraint links_confirmed_are_a_browsers check (
  confirmed_at is null or key_type = 'publishable'
) not valid;

select base.declare_columns('identity.links', '{anonymous_id,external_id}', '{}',
  '{project_id,link_id,anonymous_identity_id,external_identity_id,profile_id,anonymous_profile_id,source,key_type,status,reason,created_at,undone_at,undone_by,confirmed_at,replaces,replaced_by}');
select base.open_to_analysts('identity.links',
  '{project_id,link_id,anonymous_id,external_id,profile_id,anonymous_profile_id,source,key_type,status,reason,created_at,undone_at,undone_by,confirmed_at,replaces,replaced_by}');

drop function if exists identity.link_identities(uuid, uuid, text, text, text, text, timestamptz);
drop function if exists identity.undo_link(uuid, uuid, text, timestamptz);
--! Included identity/confirm_link.sql
-- Returns the active link of two identities, if there is one, and keeps that a server said the same as a browser.
--
-- The caller holds the locks of both. A confirmed link is as firm as one that a server made: no other server's word
-- replaces it, and no limit counts it.
create or replace function identity.confirm_link(
  project_id uuid,
  child_id   uuid,
  parent_id  uuid,
  key_type   text,
  at         timestamptz
)
returns identity.links
language plpgsql volatile
set search_path = ''
as $$
declare
  v_link identity.links;
begin
  select * into v_link from identity.links as link
  where link.project_id = confirm_link.project_id and link.anonymous_identity_id = confirm_link.child_id
  and link.external_identity_id = confirm_link.parent_id and link.status = 'active';

  if v_link.key_type = 'publishable' and v_link.confirmed_at is null and confirm_link.key_type <> 'publishable' then
    update identity.links as link set confirmed_at = confirm_link.at
    where link.project_id = confirm_link.project_id and link.link_id = v_link.link_id;
  end if;
  return v_link;
end;
$$;
--! EndIncluded identity/confirm_link.sql
--! Included identity/find_refusal.sql
-- Returns the reason for which two identities may not be linked, or null.
--
-- The caller holds the locks of both, so what is counted here is exact. An anonymous identity has at most one active
-- link. A link that only a browser vouches for yields to a server; any other is not moved (a shared device whose page
-- forgot to reset). A browser does not make again what a person undid, and links a bounded number of anonymous
-- identities to one person. A link that a server replaced counts like an active one: it comes back with the undo of the
-- server's link. A link that a person undid frees its place in the total, and never in the day.
create or replace function identity.find_refusal(
  project_id       uuid,
  child_id         uuid,
  parent_id        uuid,
  key_type         text,
  day_began_at     timestamptz,
  links_a_day_max  integer,
  links_max        integer
)
returns text
language plpgsql stable
set search_path = ''
as $$
declare
  v_is_firm boolean;
  v_links   bigint;
  v_today   bigint;
begin
  select link.key_type <> 'publishable' or link.confirmed_at is not null into v_is_firm
  from identity.links as link
  where link.project_id = find_refusal.project_id and link.anonymous_identity_id = find_refusal.child_id
  and link.status = 'active';

  if find_refusal.key_type <> 'publishable' then
    return case when v_is_firm then 'linked_to_another' end;
  end if;
  if v_is_firm is not null then
    return 'linked_to_another';
  end if;
  if exists (
    select from identity.links as link
    where link.project_id = find_refusal.project_id
    and link.anonymous_identity_id = find_refusal.child_id
    and link.external_identity_id = find_refusal.parent_id
    and link.status = 'undone' and link.replaced_by is null
  ) then
    return 'undone_before';
  end if;

  select count(*) filter (where link.status = 'active' or link.replaced_by is not null),
    count(*) filter (where link.created_at > find_refusal.day_began_at)
  into v_links, v_today
  from identity.links as link
  where link.project_id = find_refusal.project_id and link.external_identity_id = find_refusal.parent_id
  and link.key_type = 'publishable' and link.confirmed_at is null and link.status <> 'refused';

  return case
    when v_links >= find_refusal.links_max then 'too_many_links'
    when v_today >= find_refusal.links_a_day_max then 'too_many_links_today'
  end;
end;
$$;
--! EndIncluded identity/find_refusal.sql
--! Included identity/may_log_refusal.sql
-- Says whether a refusal to link two identities is still to be logged.
--
-- Each refusal is logged once. Those of browsers are logged up to a bound, for each side and day: a browser can name as
-- many identifiers as it likes. The caller holds the locks of both, so no two calls count past the bound.
create or replace function identity.may_log_refusal(
  project_id         uuid,
  child_id           uuid,
  parent_id          uuid,
  key_type           text,
  reason             text,
  day_began_at       timestamptz,
  refusals_a_day_max integer
)
returns boolean
language sql stable
as $$
  select not exists (
    select from identity.links as link
    where link.project_id = may_log_refusal.project_id
    and link.anonymous_identity_id = may_log_refusal.child_id
    and link.external_identity_id = may_log_refusal.parent_id
    and link.status = 'refused' and link.reason = may_log_refusal.reason
  ) and (may_log_refusal.key_type <> 'publishable' or greatest((
    select count(*) from identity.links as link
    where link.project_id = may_log_refusal.project_id
    and link.external_identity_id = may_log_refusal.parent_id
    and link.created_at > may_log_refusal.day_began_at
    and link.key_type = 'publishable' and link.status = 'refused'
  ), (
    select count(*) from identity.links as link
    where link.project_id = may_log_refusal.project_id
    and link.anonymous_identity_id = may_log_refusal.child_id
    and link.created_at > may_log_refusal.day_began_at
    and link.key_type = 'publishable' and link.status = 'refused'
  )) < may_log_refusal.refusals_a_day_max);
$$;
--! EndIncluded identity/may_log_refusal.sql
--! Included identity/insert_link.sql
-- Inserts a link, or its refusal where there is a reason, and returns the id of the link that it replaces.
--
-- The caller holds the locks of both identities and has found no refusal, so an active link of the anonymous identity
-- is a browser's. That one is undone and says by which link: `undo_link` of the new link makes it active again. No link
-- begins before the one that it replaces, whichever transaction began first.
create or replace function identity.insert_link(
  project_id uuid,
  link_id    uuid,
  child      identity.identities,
  parent     identity.identities,
  source     text,
  key_type   text,
  reason     text,
  at         timestamptz
)
returns uuid
language plpgsql volatile
set search_path = ''
as $$
declare
  v_replaced identity.links;
  v_at       timestamptz := insert_link.at;
begin
  if insert_link.reason is null then
    select * into v_replaced from identity.links as link
    where link.project_id = insert_link.project_id
    and link.anonymous_identity_id = (insert_link.child).identity_id and link.status = 'active';
    v_at := greatest(v_at, v_replaced.created_at);

    update identity.links as link
    set status = 'undone', undone_at = v_at, undone_by = 'server_link', replaced_by = insert_link.link_id
    where link.project_id = insert_link.project_id and link.link_id = v_replaced.link_id;

    update identity.identities as known set profile_id = (insert_link.parent).profile_id
    where known.project_id = insert_link.project_id and known.identity_id = (insert_link.child).identity_id;
  end if;

  insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
    external_id, profile_id, anonymous_profile_id, source, key_type, status, reason, created_at, replaces)
  values (insert_link.project_id, insert_link.link_id, (insert_link.child).identity_id,
    (insert_link.parent).identity_id, (insert_link.child).value, (insert_link.parent).value,
    (insert_link.parent).own_profile_id, (insert_link.child).own_profile_id, insert_link.source,
    insert_link.key_type, case when insert_link.reason is null then 'active' else 'refused' end,
    insert_link.reason, v_at, v_replaced.link_id);
  return v_replaced.link_id;
end;
$$;
--! EndIncluded identity/insert_link.sql
--! Included identity/restore_link.sql
-- Makes the link active again that another one replaced; returns its id, or null where it stays undone.
--
-- The caller holds the lock of the anonymous identity and has undone the other link. Locks the external identity: a
-- person who is being erased, or is gone, gets no link back. No limit refuses it, because limits count it meanwhile.
create or replace function identity.restore_link(project_id uuid, link_id uuid, replaced_by uuid)
returns uuid
language plpgsql volatile
set search_path = ''
as $$
begin
  perform from identity.identities as known
  where known.project_id = restore_link.project_id and known.erasure_id is null and known.identity_id = (
    select link.external_identity_id from identity.links as link
    where link.project_id = restore_link.project_id and link.link_id = restore_link.link_id
  )
  for update;
  if not found then
    return null;
  end if;

  update identity.links as link set status = 'active', undone_at = null, undone_by = null, replaced_by = null
  where link.project_id = restore_link.project_id and link.link_id = restore_link.link_id
  and link.replaced_by = restore_link.replaced_by;
  return case when found then restore_link.link_id end;
end;
$$;
--! EndIncluded identity/restore_link.sql
--! Included identity/link_identities.sql
-- Links an anonymous identity to an external one, or logs why not.
--
-- Answers with the link's row, whether this call made it, and the link that it replaced. No row: one of the two is
-- being erased, which logs nothing because a row would store their identifiers anew; or a browser's refusal is one too
-- many for the log. The same refusal is logged once. Locks the anonymous identity first, then the external one, so that
-- two calls cannot deadlock, the counts of limits are exact, and no fold sees a profile that changes hands. An identity
-- that is gone was erased since the caller saw it, so the caller's transaction has to begin again.
create or replace function identity.link_identities(
  project_id          uuid,
  link_id             uuid,
  anonymous_id        text,
  external_id         text,
  source              text,
  key_type            text,
  at                  timestamptz,
  day_began_at        timestamptz,
  links_a_day_max     integer,
  links_max           integer,
  refusals_a_day_max  integer
)
returns table (answered_id uuid, is_new boolean, replaced_id uuid)
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
    return query select null::uuid, false, null::uuid;
    return;
  end if;

  v_link := identity.confirm_link(link_identities.project_id, v_child.identity_id, v_parent.identity_id,
    link_identities.key_type, link_identities.at);
  if v_link.link_id is not null then
    return query select v_link.link_id, false, null::uuid;
    return;
  end if;

  v_reason := identity.find_refusal(link_identities.project_id, v_child.identity_id, v_parent.identity_id,
    link_identities.key_type, link_identities.day_began_at, link_identities.links_a_day_max,
    link_identities.links_max);
  if v_reason is not null and not identity.may_log_refusal(link_identities.project_id, v_child.identity_id,
    v_parent.identity_id, link_identities.key_type, v_reason, link_identities.day_began_at,
    link_identities.refusals_a_day_max) then
    return query select (
      select link.link_id from identity.links as link
      where link.project_id = link_identities.project_id and link.anonymous_identity_id = v_child.identity_id
      and link.external_identity_id = v_parent.identity_id
      and link.status = 'refused' and link.reason = v_reason
    ), false, null::uuid;
    return;
  end if;

  return query
  select link_identities.link_id, true, identity.insert_link(link_identities.project_id, link_identities.link_id,
    v_child, v_parent, link_identities.source, link_identities.key_type, v_reason, link_identities.at);
end;
$$;
--! EndIncluded identity/link_identities.sql
--! Included identity/undo_link.sql
-- Undoes a link: the anonymous identity returns to the link that this one had replaced, or to a profile of its own.
--
-- Answers whether an active link was undone, and which link is active again. A link that a server's link replaced
-- changes nothing now, and does not come back any more. Undoing twice, or undoing a refusal, changes nothing. The
-- replaced link stays undone while one of its sides is being erased, or once it is gone. Locks the anonymous identity
-- first, then the external one of the link that comes back.
create or replace function identity.undo_link(project_id uuid, link_id uuid, undone_by text, at timestamptz)
returns table (is_undone boolean, restored_id uuid)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_child identity.identities;
  v_link  identity.links;
begin
  select known.* into v_child from identity.identities as known
  where known.project_id = undo_link.project_id and known.identity_id = (
    select link.anonymous_identity_id from identity.links as link
    where link.project_id = undo_link.project_id and link.link_id = undo_link.link_id
  )
  for update;

  select link.* into v_link from identity.links as link
  where link.project_id = undo_link.project_id and link.link_id = undo_link.link_id
  and (link.status = 'active' or link.replaced_by is not null);
  is_undone := coalesce(v_link.status = 'active', false);

  update identity.links as link
  set status = 'undone', undone_at = greatest(undo_link.at, link.created_at), undone_by = undo_link.undone_by,
    replaced_by = null
  where link.project_id = undo_link.project_id and link.link_id = v_link.link_id;

  if is_undone then
    restored_id := case when v_child.erasure_id is null
      then identity.restore_link(undo_link.project_id, v_link.replaces, undo_link.link_id) end;
    update identity.identities as known
    set profile_id = coalesce((
      select parent.profile_id from identity.links as link
      join identity.identities as parent
        on parent.project_id = link.project_id and parent.identity_id = link.external_identity_id
      where link.project_id = undo_link.project_id and link.link_id = undo_link.restored_id
    ), known.own_profile_id)
    where known.project_id = undo_link.project_id and known.identity_id = v_child.identity_id;
  end if;
  return next;
end;
$$;
--! EndIncluded identity/undo_link.sql
--! Included analytics/links.sql
-- The log of identity links: what made an anonymous id part of a person, was refused, or was undone.
create or replace view analytics.links with (security_invoker = true) as
select
  link.link_id,
  nullif(link.anonymous_id, '') as anonymous_id,
  nullif(link.external_id, '') as external_id,
  link.profile_id,
  link.anonymous_profile_id,
  link.source,
  link.key_type,
  link.status,
  link.reason,
  link.created_at,
  link.undone_at,
  nullif(link.undone_by, '') as undone_by,
  link.confirmed_at,
  link.replaces,
  link.replaced_by
from identity.links as link;

comment on view analytics.links is 'The log of identity links, those that were refused or undone included';
comment on column analytics.links.link_id is 'Id; sorts by time';
comment on column analytics.links.anonymous_id is 'The id of the browser or device';
comment on column analytics.links.external_id is 'The customer''s own id of the person';
comment on column analytics.links.profile_id is 'The person''s profile';
comment on column analytics.links.anonymous_profile_id is
  'The profile that the anonymous id has without the link; shown nowhere while the link is active';
comment on column analytics.links.source is 'Who asked for it: identify, alias or console';
comment on column analytics.links.key_type is 'What vouched for it: publishable, server or session';
comment on column analytics.links.status is 'How it stands today: active, undone or refused';
comment on column analytics.links.reason is
  'Why it was refused: linked_to_another (a shared device), undone_before, too_many_links or too_many_links_today';
comment on column analytics.links.created_at is 'When it was asked for';
comment on column analytics.links.undone_at is 'When it was undone';
comment on column analytics.links.undone_by is
  'Who undid it: console, server_key, ledger, or server_link (a server linked the anonymous id to another person)';
comment on column analytics.links.confirmed_at is
  'When a server said the same as the browser that made it; null where none did';
comment on column analytics.links.replaces is 'The link of a browser that this one replaced';
comment on column analytics.links.replaced_by is
  'The link of a server that replaced this one; its undo makes this one active again';

grant select on analytics.links to trunkline_analyst;
--! EndIncluded analytics/links.sql
