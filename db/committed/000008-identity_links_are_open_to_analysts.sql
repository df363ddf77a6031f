--! Previous: sha1:fa82ae32a00e4e8ac39bdcedb26e5967c897fa48
--! Hash: sha1:91b8d9e6ba397c8c25de6b59c9b1f7587783c666
--! Message: identity_links_are_open_to_analysts

-- Analysts: the log of identity links.
select base.open_to_analysts('identity.links',
  '{project_id,link_id,anonymous_id,external_id,profile_id,anonymous_profile_id,source,key_type,status,reason,created_at,undone_at,undone_by}');

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
  nullif(link.undone_by, '') as undone_by
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
  'Why it was refused: linked_to_another (a shared device) or undone_before; else null';
comment on column analytics.links.created_at is 'When it was asked for';
comment on column analytics.links.undone_at is 'When it was undone';
comment on column analytics.links.undone_by is 'Who undid it';

grant select on analytics.links to trunkline_analyst;
--! EndIncluded analytics/links.sql
