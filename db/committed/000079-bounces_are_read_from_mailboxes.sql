--! Previous: sha1:1df4b2da90c88e8601240e2b7020c32677a28daa
--! Hash: sha1:0aa77835e6db3ee60058f64cddbca94b6523fbd8
--! Message: bounces_are_read_from_mailboxes

-- Enter migration here
-- The mailbox to which an SMTP provider's bounces come: how to read it, and how far it is read.
create table if not exists providers.bounce_mailboxes (
  project_id     uuid not null,
  provider_id    uuid not null,
  host           text not null,
  port           integer not null,
  secure         text not null,
  username       text not null,
  key_version    integer not null,
  secret         bytea not null,
  folder         text not null,
  bounce_address text,
  verp           boolean not null,
  after_read     text not null,
  move_to        text,
  saved_at       timestamptz(3) not null,
  revision       integer not null default 1,
  status         text not null default 'active',
  next_read_at   timestamptz(3) not null,
  claim_id       uuid,
  read_at        timestamptz(3),
  caught_up_at   timestamptz(3),
  uid_validity   bigint,
  read_uid       bigint not null default 0,
  stuck_uid      bigint,
  stuck_count    integer not null default 0,
  failure        text,
  failed_at      timestamptz(3),
  failure_count  integer not null default 0,
  constraint bounce_mailboxes_pkey primary key (project_id, provider_id),
  constraint bounce_mailboxes_project_id_provider_id_fkey foreign key (project_id, provider_id)
    references providers.providers (project_id, provider_id) on delete cascade,
  constraint bounce_mailboxes_project_id_key_version_fkey foreign key (project_id, key_version)
    references providers.data_keys (project_id, key_version),
  constraint bounce_mailboxes_port_is_a_port check (port between 1 and 65535),
  constraint bounce_mailboxes_secure_is_known check (secure in ('starttls', 'ssl', 'none')),
  constraint bounce_mailboxes_after_read_is_known check (after_read in ('mark_seen', 'move', 'delete')),
  constraint bounce_mailboxes_move_to_a_folder check ((after_read = 'move') = (move_to is not null)),
  constraint bounce_mailboxes_verp_needs_an_address check (not verp or bounce_address is not null),
  constraint bounce_mailboxes_status_is_known check (status in ('active', 'stopped')),
  constraint bounce_mailboxes_failures_are_dated check ((failure is null) = (failed_at is null))
);
create index if not exists bounce_mailboxes_by_due on providers.bounce_mailboxes (next_read_at)
  where status = 'active';
select base.isolate_table('providers.bounce_mailboxes');
grant select, insert, update, delete on providers.bounce_mailboxes to trunkline_runtime;
select base.open_to_queue('providers.bounce_mailboxes');
grant select (project_id, provider_id, status, next_read_at) on providers.bounce_mailboxes to trunkline_queue;
select base.declare_columns('providers.bounce_mailboxes', '{}', '{secret}',
  '{project_id,provider_id,host,port,secure,username,key_version,folder,bounce_address,verp,after_read,move_to,
    saved_at,revision,status,next_read_at,claim_id,read_at,caught_up_at,uid_validity,read_uid,stuck_uid,stuck_count,
    failure,failed_at,failure_count}');

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
  'Who reported it: a webhook, hand_off/ with the kind of a provider, or bounce_mailbox/ with the id of a provider';
comment on column analytics.feedback.kind is
  'delivered, bounced, deferred, complained, unsubscribed, rejected, failed, auto_reply, opened, clicked or unknown';
comment on column analytics.feedback.bounce_type is 'hard, soft or block; null for what is no bounce';
comment on column analytics.feedback.send_id is 'The send it is about; null when it could not be matched';
comment on column analytics.feedback.email is 'The address it is about, where it is known';
comment on column analytics.feedback.reason is 'What the provider says of the cause';
comment on column analytics.feedback.is_foreign is
  'True for a message that this project did not hand to that service: the notice has no effect and no address';

grant select on analytics.feedback to trunkline_analyst;
--! EndIncluded analytics/feedback.sql
