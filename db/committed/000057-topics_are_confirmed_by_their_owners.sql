--! Previous: sha1:32669b5f66769f8993f450c6eb85af87aa8d6f69
--! Hash: sha1:353862ed949046f5b1f197ac2a2a23b6b609cbf1
--! Message: topics_are_confirmed_by_their_owners

-- Enter migration here
-- The Amazon SNS topics of a project, several at a time. A topic without the webhook token in its subscription URL
-- waits here until an owner approves or rejects it. Topics from before this migration were confirmed for the first
-- topic that asked, which proves nothing: their owners confirm them again.
drop table if exists feedback.topics;
drop table if exists feedback.topic_changes;
create table feedback.topics (
  project_id       uuid not null,
  topic_arn        text not null,
  topic_id         uuid not null,
  status           text not null,
  first_asked_at   timestamptz(3) not null,
  last_asked_at    timestamptz(3) not null,
  confirm_token    text,
  confirming_until timestamptz(3),
  subscription_arn text,
  confirmed_by     text,
  confirmed_at     timestamptz(3),
  unsubscribed_at  timestamptz(3),
  rejected_at      timestamptz(3),
  constraint topics_pkey primary key (project_id, topic_arn),
  constraint topics_have_one_id unique (project_id, topic_id),
  constraint topics_status_is_known check (status in ('pending', 'rejected', 'confirmed')),
  constraint topics_confirmed_by_is_known check (confirmed_by in ('token', 'approval')),
  constraint topics_pending_have_a_token check ((status = 'pending') = (confirm_token is not null)),
  constraint topics_rejected_have_a_time check ((status = 'rejected') = (rejected_at is not null)),
  constraint topics_confirmed_are_complete check (
    num_nonnulls(subscription_arn, confirmed_by, confirmed_at) = case when status = 'confirmed' then 3 else 0 end
  )
);
select base.isolate_table('feedback.topics');
grant select, insert, update, delete on feedback.topics to trunkline_runtime;
select base.declare_columns('feedback.topics', '{}', '{}',
  '{project_id,topic_arn,topic_id,status,first_asked_at,last_asked_at,confirm_token,confirming_until,
    subscription_arn,confirmed_by,confirmed_at,unsubscribed_at,rejected_at}');

-- What owners, the webhook token and Amazon did to topics.
create table feedback.topic_changes (
  project_id uuid not null,
  change_id  uuid not null,
  topic_arn  text not null,
  change     text not null,
  changed_at timestamptz(3) not null,
  constraint topic_changes_pkey primary key (project_id, change_id),
  constraint topic_changes_are_known check (
    change in ('confirmed', 'approved', 'rejected', 'removed', 'unsubscribed')
  )
);
select base.isolate_table('feedback.topic_changes');
grant select, insert on feedback.topic_changes to trunkline_runtime;
select base.declare_columns('feedback.topic_changes', '{}', '{}',
  '{project_id,change_id,topic_arn,change,changed_at}');

-- Topics whose signed posts were refused, how often and why: so many rows for each project, and for each AWS account.
create table if not exists feedback.refused_topics (
  project_id      uuid not null,
  topic_arn       text not null,
  refused_count   bigint not null,
  last_reason     text not null,
  last_refused_at timestamptz(3) not null,
  constraint refused_topics_pkey primary key (project_id, topic_arn),
  constraint refused_topics_are_counted check (refused_count > 0),
  constraint refused_topics_have_the_name_of_an_error check (last_reason ~ '^[a-z_]{1,50}$')
);
select base.isolate_table('feedback.refused_topics');
grant select, insert, update, delete on feedback.refused_topics to trunkline_runtime;
select base.declare_columns('feedback.refused_topics', '{}', '{}',
  '{project_id,topic_arn,refused_count,last_reason,last_refused_at}');

-- A notice about a message that this project did not hand to that service. It has no effect, and keeps no address.
alter table feedback.notices add column if not exists is_foreign boolean not null default false;
alter table feedback.notices drop constraint if exists notices_foreign_are_of_no_person;
alter table feedback.notices add constraint notices_foreign_are_of_no_person
  check (not is_foreign or num_nonnulls(address_key, send_id, reason) = 0) not valid;
select base.declare_columns('feedback.notices', '{}', '{}', '{is_foreign}');
