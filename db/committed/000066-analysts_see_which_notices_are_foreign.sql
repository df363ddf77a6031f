--! Previous: sha1:33dfeff146aa077063ab805d4dd076737caab78e
--! Hash: sha1:23a75689b128141dfe0997c65a6274cb968c752b
--! Message: analysts_see_which_notices_are_foreign

-- Enter migration here
-- Analysts can leave out notices about messages of others.
grant select (is_foreign) on feedback.notices to trunkline_analyst;
--! Included analytics/feedback.sql
-- Everything that providers told about messages, one row per notice.
create or replace view analytics.feedback with (security_invoker = true) as
select
  notice.occurred_at,
  notice.received_at,
  nullif(notice.source, '') as source,
  notice.kind,
  notice.bounce_type,
  notice.send_id,
  nullif(address.email, '') as email,
  nullif(notice.reason, '') as reason,
  notice.is_foreign
from feedback.notices as notice
left join suppression.addresses as address
  on address.project_id = notice.project_id and address.address_key = notice.address_key;

comment on view analytics.feedback is 'Everything that providers told about messages, one row per notice';
comment on column analytics.feedback.occurred_at is 'When, by the clock of the provider';
comment on column analytics.feedback.received_at is 'When we were told';
comment on column analytics.feedback.source is 
  'The provider''s webhook; hand_off/ and the provider''s kind of what was said while it was given the message';
comment on column analytics.feedback.kind is
  'delivered, bounced, deferred, complained, unsubscribed, rejected, opened, clicked or unknown';
comment on column analytics.feedback.bounce_type is 'hard, soft or block; null for what is no bounce';
comment on column analytics.feedback.send_id is 'The send it is about; null when it could not be matched';
comment on column analytics.feedback.email is 'The address it is about, where it is known';
comment on column analytics.feedback.reason is 'What the provider says of the cause';
comment on column analytics.feedback.is_foreign is
  'True for a message that this project did not hand to that service: the notice has no effect and no address';

grant select on analytics.feedback to trunkline_analyst;
--! EndIncluded analytics/feedback.sql
