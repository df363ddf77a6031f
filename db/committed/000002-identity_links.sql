--! Previous: sha1:ec54d67b6690ced8ca3aa0c0a40a1f63c86abb9e
--! Hash: sha1:2cdaca2a4715f58251e0e7bca4441198f8ff45f8
--! Message: identity_links

-- Links between identities: a log, of which at most one per anonymous identity is active.
create table if not exists identity.links (
  project_id            uuid not null,
  link_id               uuid not null,
  anonymous_identity_id uuid not null,
  external_identity_id  uuid not null,
  anonymous_id          text not null,
  external_id           text not null,
  profile_id            uuid not null,
  anonymous_profile_id  uuid not null,
  source                text not null,
  key_type              text not null,
  status                text not null,
  reason                text,
  created_at            timestamptz(3) not null,
  undone_at             timestamptz(3),
  undone_by             text,
  primary key (project_id, link_id),
  foreign key (project_id, anonymous_identity_id) references identity.identities (project_id, identity_id),
  foreign key (project_id, external_identity_id) references identity.identities (project_id, identity_id),
  constraint links_source_is_known check (source in ('identify', 'alias', 'console')),
  constraint links_key_type_is_known check (key_type in ('publishable', 'server', 'session')),
  constraint links_status_is_known check (status in ('active', 'undone', 'refused')),
  constraint links_refused_have_a_reason check ((status = 'refused') = (reason is not null)),
  constraint links_reason_is_known check (reason in ('linked_to_another', 'undone_before')),
  constraint links_undone_say_when_and_by_whom check (
    num_nonnulls(undone_at, undone_by) = case status when 'undone' then 2 else 0 end
  )
);

create unique index if not exists links_one_active on identity.links (project_id, anonymous_identity_id)
  where status = 'active';
create unique index if not exists links_refused_once
  on identity.links (project_id, anonymous_identity_id, external_identity_id, reason) where status = 'refused';
create index if not exists links_by_pair on identity.links (project_id, anonymous_identity_id, external_identity_id);
create index if not exists links_by_profile on identity.links (project_id, profile_id, link_id);
create index if not exists links_by_anonymous_profile on identity.links (project_id, anonymous_profile_id, link_id);

select base.isolate_table('identity.links');
grant select, insert, update on identity.links to trunkline_runtime;

-- What an address was suppressed for becomes the tags of whoever has it.
create index if not exists history_by_address on suppression.history (project_id, address_key);

-- A profile whose only identity belongs to another profile now says where it went.
alter table profiles.profiles add column if not exists merged_into uuid;

--! Included identity/link_identities.sql
-- Links an anonymous identity to an external one, or logs why not; answers with the link's row.
--
-- An anonymous identity has at most one active link: one that belongs to somebody else is not moved
-- (a shared device whose page forgot to reset). A link that a person has undone comes back only at
-- the word of a server. The same refusal is logged once. Both identities are locked, the anonymous
-- one first, so that two calls cannot deadlock and nobody folds a profile that is changing hands.
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
  select * into strict v_child from identity.identities as known
  where known.project_id = link_identities.project_id
  and known.kind = 'anonymous' and known.value = link_identities.anonymous_id
  for update;
  select * into strict v_parent from identity.identities as known
  where known.project_id = link_identities.project_id
  and known.kind = 'external' and known.value = link_identities.external_id
  for update;

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
  set profile_id = v_parent.profile_id
  where known.project_id = link_identities.project_id
  and known.identity_id = v_child.identity_id
  and v_reason is null;

  return query select link_identities.link_id, true;
end;
$$;
--! EndIncluded identity/link_identities.sql
--! Included identity/undo_link.sql
-- Cuts an active link: the anonymous identity goes back to a profile of its own.
--
-- Answers whether it cut: undoing twice, or undoing what was refused, changes nothing.
create or replace function identity.undo_link(project_id uuid, link_id uuid, undone_by text, at timestamptz)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
declare
  v_child uuid;
begin
  select link.anonymous_identity_id into v_child from identity.links as link
  where link.project_id = undo_link.project_id and link.link_id = undo_link.link_id;

  perform from identity.identities as known
  where known.project_id = undo_link.project_id and known.identity_id = v_child
  for update;

  update identity.links as link
  set status = 'undone', undone_at = undo_link.at, undone_by = undo_link.undone_by
  where link.project_id = undo_link.project_id
  and link.link_id = undo_link.link_id
  and link.status = 'active';
  if not found then
    return false;
  end if;

  update identity.identities as known
  set profile_id = known.own_profile_id
  where known.project_id = undo_link.project_id and known.identity_id = v_child;
  return true;
end;
$$;
--! EndIncluded identity/undo_link.sql
drop function if exists profiles.fold_profile(uuid, uuid, uuid[], timestamptz);
--! Included profiles/fold_profile.sql
-- Rewrites a profile from what its identities were told: same inputs in any order, same profile.
--
-- Per trait the winner is the server over a publishable key, then the later set_at, then the
-- greater value as text. A null value removes the trait. Writes nothing when nothing changed.
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
    and trait.project_id = fold_profile.project_id
    order by trait.key, trait.authority = 'server' desc, trait.set_at desc, trait.value::text desc
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
--! Included profiles/change_traits.sql
-- Keeps what an identity was told about itself and folds it into the profile it belongs to now.
--
-- The identity is locked in share mode, so that it cannot change hands until we are done.
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
  select known.profile_id into strict v_profile_id from identity.identities as known
  where known.project_id = change_traits.project_id and known.identity_id = change_traits.identity_id
  for share;

  perform profiles.set_traits(change_traits.project_id, change_traits.identity_id, change_traits.traits,
    change_traits.set_at, change_traits.authority);
  return query select v_profile_id, folded.old_email, folded.new_email
  from profiles.fold_profile(change_traits.project_id, v_profile_id, change_traits.at) as folded;
end;
$$;
--! EndIncluded profiles/change_traits.sql
