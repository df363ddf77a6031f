--! Previous: sha1:519354cfdbde75d4c3c76b47ea1b51d34a9624af
--! Hash: sha1:9ea7e0494e0ac48b0a476e7845e95bd85690c741
--! Message: feedback_is_verified_and_counted

-- What a notice calls for is kept with it, and whether it was a trial run.
alter table feedback.notices add column if not exists suppresses text;
alter table feedback.notices add column if not exists is_test boolean not null default false;
alter table feedback.notices drop constraint if exists notices_suppress_for_a_known_reason;
alter table feedback.notices add constraint notices_suppress_for_a_known_reason
  check (suppresses in ('hard_bounce', 'complaint', 'provider_suppressed'));
select base.declare_columns('feedback.notices', '{}', '{}', '{suppresses,is_test}');

-- Soft bounces in a row are counted from notices, in the order in which they happened.
create index if not exists notices_soft on feedback.notices (project_id, address_key, occurred_at, source, dedupe_key)
  where kind = 'bounced' and bounce_type = 'soft' and not is_test and address_key is not null;
create index if not exists notices_delivered on feedback.notices (project_id, address_key, occurred_at)
  where kind = 'delivered' and not is_test and address_key is not null;
create index if not exists notices_by_arrival on feedback.notices (project_id, source, received_at);

-- Posts that prove themselves by a signature, by their own ids: the same one again is not taken for a new one.
create table if not exists feedback.posts (
  project_id  uuid not null,
  source      text not null,
  post_key    text not null,
  body_key    text not null,
  received_at timestamptz(3) not null,
  constraint posts_pkey primary key (project_id, source, post_key)
);
create index if not exists posts_by_age on feedback.posts (project_id, received_at);
select base.isolate_table('feedback.posts');
grant select, insert, delete on feedback.posts to trunkline_runtime;
select base.declare_columns('feedback.posts', '{}', '{post_key,body_key}', '{project_id,source,received_at}');

-- The keys that providers sign with, sealed.
create table if not exists feedback.signing_keys (
  project_id  uuid not null,
  source      text not null,
  key_version integer not null,
  sealed      bytea not null,
  set_at      timestamptz(3) not null,
  constraint signing_keys_pkey primary key (project_id, source)
);
select base.isolate_table('feedback.signing_keys');
grant select, insert, update on feedback.signing_keys to trunkline_runtime;
select base.declare_columns('feedback.signing_keys', '{}', '{sealed}', '{project_id,source,key_version,set_at}');

-- The one topic whose notices count for a project: the first whose subscription was confirmed.
create table if not exists feedback.topics (
  project_id       uuid not null,
  topic_arn        text not null,
  subscription_arn text not null,
  confirmed_at     timestamptz(3) not null,
  unsubscribed_at  timestamptz(3),
  constraint topics_pkey primary key (project_id)
);
select base.isolate_table('feedback.topics');
grant select, insert, update, delete on feedback.topics to trunkline_runtime;
select base.declare_columns('feedback.topics', '{}', '{}',
  '{project_id,topic_arn,subscription_arn,confirmed_at,unsubscribed_at}');

-- What became of topics, for people to look at.
create table if not exists feedback.topic_changes (
  project_id uuid not null,
  change_id  uuid not null,
  topic_arn  text not null,
  change     text not null,
  changed_at timestamptz(3) not null,
  constraint topic_changes_pkey primary key (project_id, change_id),
  constraint topic_changes_are_known check (change in ('confirmed', 'refused', 'unsubscribed', 'reset'))
);
select base.isolate_table('feedback.topic_changes');
grant select, insert on feedback.topic_changes to trunkline_runtime;
select base.declare_columns('feedback.topic_changes', '{}', '{}',
  '{project_id,change_id,topic_arn,change,changed_at}');

-- What a project has decided about feedback; without a row it is the default.
create table if not exists feedback.settings (
  project_id       uuid not null,
  soft_bounces_max integer not null,
  constraint settings_pkey primary key (project_id),
  constraint settings_soft_bounces_are_counted check (soft_bounces_max between 1 and 100)
);
select base.isolate_table('feedback.settings');
grant select, insert, update on feedback.settings to trunkline_runtime;
select base.declare_columns('feedback.settings', '{}', '{}', '{project_id,soft_bounces_max}');

-- Whatever a provider tells of a message by its id, it has the message: also what says no more than that.
alter table delivery.sends add column if not exists taken_at timestamptz(3);
select base.declare_columns('delivery.sends', '{}', '{}', '{taken_at}');
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome we never learned proves that the provider took it; 'taken' says no more.
create or replace function delivery.record_feedback(project_id uuid, send_id uuid, fact text, occurred_at timestamptz)
returns void
language sql volatile
as $$
  update delivery.sends as send
  set delivered_at = case when record_feedback.fact = 'delivered'
      then least(send.delivered_at, record_feedback.occurred_at) else send.delivered_at end,
    bounced_at = case when record_feedback.fact = 'bounced'
      then least(send.bounced_at, record_feedback.occurred_at) else send.bounced_at end,
    complained_at = case when record_feedback.fact = 'complained'
      then least(send.complained_at, record_feedback.occurred_at) else send.complained_at end,
    taken_at = case when record_feedback.fact = 'taken'
      then least(send.taken_at, record_feedback.occurred_at) else send.taken_at end,
    -- Accepted on the strength of feedback alone is accepted since the earliest fact.
    accepted_at = case
      when send.status = 'unknown' or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(send.accepted_at, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case send.status when 'unknown' then 'accepted' else send.status end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id
$$;
--! EndIncluded delivery/record_feedback.sql
--! Included delivery/record_outcome.sql
-- Writes what became of an attempt and moves the send on.
--
-- accepted, rejected: final. deferred, not_started: definitely not taken, back to the queue for
-- retry_after from now. unknown: held, unless feedback has proved meanwhile that the provider took
-- it. An attempt that was given up as unknown while its owner was silent still learns a definite
-- answer; it goes back to the queue from there only when its owner knows that it did not begin. Without
-- a recipient, because the person was erased meanwhile, what would go back to the queue is cancelled.
create or replace function delivery.record_outcome(
  project_id          uuid,
  send_id             uuid,
  attempt             integer,
  outcome             text,
  reason              text,
  provider_message_id text,
  retry_after         interval
)
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now    timestamptz := clock_timestamp();
  v_status text;
begin
  perform set_config('trunkline.project_id', record_outcome.project_id::text, true);

  update delivery.sends as send
  set status = case
      when record_outcome.outcome = 'accepted' then 'accepted'
      when record_outcome.outcome <> 'rejected'
        and num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0 then 'accepted'
      when record_outcome.outcome = 'unknown' then 'unknown'
      when record_outcome.outcome = 'not_started' and send.recipient is null then 'cancelled'
      when record_outcome.outcome = 'not_started' then 'queued'
      when send.status = 'unknown' then 'not_sent'
      when record_outcome.outcome = 'deferred' and send.recipient is null then 'cancelled'
      when record_outcome.outcome = 'deferred' then 'queued'
      else record_outcome.outcome
    end,
    status_reason = record_outcome.reason,
    due_at = case when record_outcome.retry_after is null then send.due_at
      else v_now + record_outcome.retry_after end,
    accepted_at = case record_outcome.outcome
      when 'accepted' then v_now
      when 'rejected' then send.accepted_at
      else least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at)
    end,
    provider_message_id = coalesce(record_outcome.provider_message_id, send.provider_message_id),
    lease_owner = null,
    lease_until = null
  where send.project_id = record_outcome.project_id
  and send.send_id = record_outcome.send_id
  and send.attempt_count = record_outcome.attempt
  and send.status in ('handing_off', 'unknown')
  returning send.status into v_status;

  update delivery.attempts as tried
  set ended_at = v_now, outcome = record_outcome.outcome, reason = record_outcome.reason,
    provider_message_id = record_outcome.provider_message_id
  where tried.project_id = record_outcome.project_id
  and tried.send_id = record_outcome.send_id
  and tried.attempt = record_outcome.attempt
  and (tried.outcome is null or tried.outcome = 'unknown');

  return coalesce(v_status, 'lost');
end;
$$;
--! EndIncluded delivery/record_outcome.sql
--! Included delivery/settle_lost.sql
-- Ends hand-offs whose outcome will never be known. What was only leased comes back by itself.
--
-- A send in handing_off may be with the provider already: it becomes unknown, never queued.
-- Its owner is known to be dead, or has been silent for longer than any hand-off may take.
create or replace function delivery.settle_lost(project_id uuid, dead_owners text[], silent_for interval)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_now  timestamptz := clock_timestamp();
  v_lost delivery.sends[];
begin
  select array_agg(lost)
  into v_lost
  from (
    select send.*
    from delivery.sends as send
    where send.project_id = settle_lost.project_id
    and send.status = 'handing_off'
    and (send.lease_owner = any (settle_lost.dead_owners) or send.handed_off_at < v_now - settle_lost.silent_for)
    for update skip locked
  ) as lost;

  update delivery.sends as send
  set status = case when num_nonnulls(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at) > 0
      then 'accepted' else 'unknown' end,
    status_reason = 'outcome_unknown',
    accepted_at = least(send.delivered_at, send.bounced_at, send.complained_at, send.taken_at),
    lease_owner = null,
    lease_until = null
  where send.project_id = settle_lost.project_id
  and send.send_id in (select lost.send_id from unnest(v_lost) as lost);

  update delivery.attempts as tried
  set ended_at = v_now, outcome = 'unknown', reason = 'outcome_unknown'
  where tried.project_id = settle_lost.project_id
  and (tried.send_id, tried.attempt) in (select lost.send_id, lost.attempt_count from unnest(v_lost) as lost);

  return coalesce(cardinality(v_lost), 0);
end;
$$;
--! EndIncluded delivery/settle_lost.sql
