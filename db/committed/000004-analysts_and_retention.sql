--! Previous: sha1:eab0344fb3d9e1bb58791614166b4aff794af0f5
--! Hash: sha1:0269824cba6ddf5b75637baafe088bec0ecb425d
--! Message: analysts_and_retention

-- Analysts: views over what they may see, and the columns below them that the views read with the analyst's own rights.
create schema if not exists analytics;
grant usage on schema analytics to trunkline_analyst;

--! Included base/open_to_analysts.sql
-- Lets analysts read some columns of a tenant table, each login in the rows of its own project.
--
-- The name of the login says which project: trunkline_analyst_<id in hex>, as src/runtime/analyst.ts
-- makes it. No session can change its session_user. The first policy shows those rows; the second is
-- restrictive, so that no other policy shows more: one_project would, to whoever sets
-- trunkline.project_id. No look-up, so no subquery and nothing to trick.
create or replace function base.open_to_analysts(table_name regclass, columns text[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_policy text;
begin
  execute format('revoke all on %s from trunkline_analyst', open_to_analysts.table_name);
  execute format(
    'grant select (%s) on %s to trunkline_analyst',
    (select string_agg(quote_ident(name), ', ') from unnest(open_to_analysts.columns) as name),
    open_to_analysts.table_name
  );
  foreach v_policy in array '{permissive,restrictive}'::text[] loop
    execute format('drop policy if exists analysts_%s on %s', v_policy, open_to_analysts.table_name);
    execute format(
      'create policy analysts_%1$s on %2$s as %1$s for select to trunkline_analyst using (project_id = %3$s)',
      v_policy,
      open_to_analysts.table_name,
      'nullif(split_part(session_user, ''_'', 3), '''')::uuid'
    );
  end loop;
end;
$$;
--! EndIncluded base/open_to_analysts.sql

select base.open_to_analysts('ingest.events',
  '{project_id,event_id,occurred_at,received_at,name,external_id,anonymous_id,properties,source}');
select base.open_to_analysts('identity.identities',
  '{project_id,identity_id,profile_id,kind,value,first_seen_at,last_seen_at}');
select base.open_to_analysts('profiles.profiles',
  '{project_id,profile_id,email,traits,tags,created_at,updated_at}');
select base.open_to_analysts('automations.automations', '{project_id,automation_id,name}');
select base.open_to_analysts('automations.runs',
  '{project_id,run_id,automation_id,version,identity_id,trigger_event_id,trigger_event_at,status,step_id,wake_at,
    started_at,ended_at}');
select base.open_to_analysts('rendering.templates', '{project_id,template_id,version,name}');
select base.open_to_analysts('delivery.sends',
  '{project_id,send_id,automation_id,run_id,step_id,profile_id,template_id,template_version,event_id,
    event_occurred_at,recipient,subject,status,status_reason,queued_at,handed_off_at,accepted_at,delivered_at,
    bounced_at,complained_at}');
select base.open_to_analysts('feedback.notices',
  '{project_id,source,kind,bounce_type,address_key,send_id,occurred_at,received_at,reason}');
select base.open_to_analysts('suppression.addresses',
  '{project_id,address_key,email,reason,source,suppressed_at}');

--! Included analytics/events.sql
-- Every event as it was accepted, with the identifiers it came with.
--
-- Texts pass through nullif, here and in the other views, so that the planner knows no statistics
-- of them: its estimates are made from all projects' rows, and "explain" would tell them.
create or replace view analytics.events with (security_invoker = true) as
select
  event.event_id,
  nullif(event.name, '') as event,
  event.occurred_at,
  event.received_at,
  nullif(event.external_id, '') as external_id,
  nullif(event.anonymous_id, '') as anonymous_id,
  event.properties,
  event.source
from ingest.events as event;

comment on view analytics.events is 'Every event as it was accepted, with the identifiers it came with';
comment on column analytics.events.event_id is 'Id; sorts by arrival';
comment on column analytics.events.event is 'What happened, such as user_signed_up';
comment on column analytics.events.occurred_at is 'When, as the client says. A range of it reads only those months';
comment on column analytics.events.received_at is 'When it was accepted, by the clock of the database';
comment on column analytics.events.external_id is 'The customer''s own id of the person, if the event names one';
comment on column analytics.events.anonymous_id is 'The id of the browser or device, if the event names one';
comment on column analytics.events.properties is 'What else the event says: properties ->> ''plan''';
comment on column analytics.events.source is 'browser, server or system';

grant select on analytics.events to trunkline_analyst;
--! EndIncluded analytics/events.sql
--! Included analytics/timeline.sql
-- Every event with the profile it is on the timeline of today.
--
-- An event belongs to its external_id, and to its anonymous_id where it has none: the rule of
-- profiles/queries.ts. Events never move; which profile that is follows from the identities.
create or replace view analytics.timeline with (security_invoker = true) as
select
  identity.profile_id,
  event.event_id,
  nullif(event.name, '') as event,
  event.occurred_at,
  event.received_at,
  nullif(event.external_id, '') as external_id,
  nullif(event.anonymous_id, '') as anonymous_id,
  event.properties,
  event.source
from ingest.events as event
left join identity.identities as identity
  on identity.project_id = event.project_id
  and identity.kind = case when event.external_id is null then 'anonymous' else 'external' end
  and identity.value = coalesce(event.external_id, event.anonymous_id);

comment on view analytics.timeline is 'Every event with the profile it is on the timeline of today';
comment on column analytics.timeline.profile_id is
  'The profile it belongs to today; null until the event is processed, seconds after it was accepted';
comment on column analytics.timeline.event_id is 'Id; sorts by arrival';
comment on column analytics.timeline.event is 'What happened, such as user_signed_up';
comment on column analytics.timeline.occurred_at is 'When, as the client says. A range of it reads only those months';
comment on column analytics.timeline.received_at is 'When it was accepted, by the clock of the database';
comment on column analytics.timeline.external_id is 'The customer''s own id of the person, if the event names one';
comment on column analytics.timeline.anonymous_id is 'The id of the browser or device, if the event names one';
comment on column analytics.timeline.properties is 'What else the event says: properties ->> ''plan''';
comment on column analytics.timeline.source is 'browser, server or system';

grant select on analytics.timeline to trunkline_analyst;
--! EndIncluded analytics/timeline.sql
--! Included analytics/profiles.sql
-- Everybody, as they are known today: one row per profile that has an identity.
create or replace view analytics.profiles with (security_invoker = true) as
select
  profile.profile_id,
  known.external_id,
  nullif(profile.email, '') as email,
  profile.traits,
  profile.tags || '{}'::text[] as tags,
  known.first_seen_at,
  known.last_seen_at,
  profile.created_at,
  profile.updated_at
from profiles.profiles as profile
join (
  select identity.project_id, identity.profile_id,
    min(identity.value) filter (where identity.kind = 'external') as external_id,
    min(identity.first_seen_at) as first_seen_at,
    max(identity.last_seen_at) as last_seen_at
  from identity.identities as identity
  group by identity.project_id, identity.profile_id
) as known
  on known.project_id = profile.project_id and known.profile_id = profile.profile_id;

comment on view analytics.profiles is 'Everybody, as they are known today';
comment on column analytics.profiles.profile_id is 'Id';
comment on column analytics.profiles.external_id is
  'The customer''s own id of the person, or null for an anonymous visitor';
comment on column analytics.profiles.email is 'Where mail goes to';
comment on column analytics.profiles.traits is 'What is known: traits ->> ''plan''';
comment on column analytics.profiles.tags is 'Tags, such as those that bounces put on';
comment on column analytics.profiles.first_seen_at is 'The earliest occurred_at of their events';
comment on column analytics.profiles.last_seen_at is 'The latest occurred_at of their events';
comment on column analytics.profiles.created_at is 'When the profile was made';
comment on column analytics.profiles.updated_at is 'When its traits or tags changed last';

grant select on analytics.profiles to trunkline_analyst;
--! EndIncluded analytics/profiles.sql
--! Included analytics/identities.sql
-- Every identifier that was seen, and the profile it belongs to today.
create or replace view analytics.identities with (security_invoker = true) as
select
  identity.identity_id,
  identity.profile_id,
  identity.kind,
  nullif(identity.value, '') as value,
  identity.first_seen_at,
  identity.last_seen_at
from identity.identities as identity;

comment on view analytics.identities is 'Every identifier that was seen, and the profile it belongs to today';
comment on column analytics.identities.identity_id is 'Id';
comment on column analytics.identities.profile_id is 'The profile it belongs to today';
comment on column analytics.identities.kind is 'external or anonymous';
comment on column analytics.identities.value is 'The external_id or anonymous_id itself';
comment on column analytics.identities.first_seen_at is 'The earliest occurred_at of its events';
comment on column analytics.identities.last_seen_at is 'The latest occurred_at of its events';

grant select on analytics.identities to trunkline_analyst;
--! EndIncluded analytics/identities.sql
--! Included analytics/runs.sql
-- Every way of a person through an automation.
create or replace view analytics.runs with (security_invoker = true) as
select
  run.run_id,
  run.automation_id,
  nullif(automation.name, '') as automation,
  run.version,
  identity.profile_id,
  run.trigger_event_id,
  run.trigger_event_at,
  run.status,
  nullif(run.step_id, '') as step_id,
  run.wake_at,
  run.started_at,
  run.ended_at
from automations.runs as run
left join automations.automations as automation
  on automation.project_id = run.project_id and automation.automation_id = run.automation_id
left join identity.identities as identity
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id;

comment on view analytics.runs is 'Every way of a person through an automation';
comment on column analytics.runs.run_id is 'Id';
comment on column analytics.runs.automation_id is 'The automation';
comment on column analytics.runs.automation is 'Its name today';
comment on column analytics.runs.version is 'The version of it that the run follows to its end';
comment on column analytics.runs.profile_id is 'Whose run it is: their profile today';
comment on column analytics.runs.trigger_event_id is 'The event that started it';
comment on column analytics.runs.trigger_event_at is 'When that event occurred';
comment on column analytics.runs.status is 'active or ended';
comment on column analytics.runs.step_id is 'The step it is at; null when it has ended';
comment on column analytics.runs.wake_at is 'When it goes on, if it waits';
comment on column analytics.runs.started_at is 'When it was started';
comment on column analytics.runs.ended_at is 'When it ended';

grant select on analytics.runs to trunkline_analyst;
--! EndIncluded analytics/runs.sql
--! Included analytics/sends.sql
-- Every message that was to be sent, and what became of it.
create or replace view analytics.sends with (security_invoker = true) as
select
  send.send_id,
  send.automation_id,
  nullif(automation.name, '') as automation,
  send.run_id,
  nullif(send.step_id, '') as step_id,
  send.template_id,
  send.template_version,
  nullif(template.name, '') as template,
  coalesce(identity.profile_id, send.profile_id) as profile_id,
  nullif(send.recipient, '') as recipient,
  nullif(send.subject, '') as subject,
  case
    when send.complained_at is not null then 'complained'
    when send.bounced_at is not null then 'bounced'
    when send.delivered_at is not null then 'delivered'
    else send.status
  end as status,
  nullif(send.status_reason, '') as status_reason,
  send.event_id,
  send.event_occurred_at,
  send.queued_at,
  send.handed_off_at,
  send.accepted_at,
  send.delivered_at,
  send.bounced_at,
  send.complained_at
from delivery.sends as send
left join automations.automations as automation
  on automation.project_id = send.project_id and automation.automation_id = send.automation_id
left join rendering.templates as template
  on template.project_id = send.project_id and template.template_id = send.template_id
  and template.version = send.template_version
left join automations.runs as run on run.project_id = send.project_id and run.run_id = send.run_id
left join identity.identities as identity
  on identity.project_id = run.project_id and identity.identity_id = run.identity_id;

comment on view analytics.sends is 'Every message that was to be sent, and what became of it';
comment on column analytics.sends.send_id is 'Id; sorts by time';
comment on column analytics.sends.automation_id is 'The automation that sent it';
comment on column analytics.sends.automation is 'Its name today';
comment on column analytics.sends.run_id is 'The run that sent it';
comment on column analytics.sends.step_id is 'The step that sent it';
comment on column analytics.sends.template_id is 'What was sent';
comment on column analytics.sends.template_version is 'In which version';
comment on column analytics.sends.template is 'The template''s name';
comment on column analytics.sends.profile_id is 'Whom it was for: their profile today';
comment on column analytics.sends.recipient is 'The address; null once its person was erased';
comment on column analytics.sends.subject is
  'The subject as it was sent; null until it was rendered, and once its person was erased';
comment on column analytics.sends.status is
  'The strongest fact: complained, bounced, delivered, else the state of the hand-off (accepted, rejected, queued, …)';
comment on column analytics.sends.status_reason is 'Why, where there is a reason';
comment on column analytics.sends.event_id is 'The event that led to it';
comment on column analytics.sends.event_occurred_at is 'When that event occurred';
comment on column analytics.sends.queued_at is 'When it was decided to send it';
comment on column analytics.sends.handed_off_at is 'When it was last handed to the provider';
comment on column analytics.sends.accepted_at is 'When the provider took it';
comment on column analytics.sends.delivered_at is 'When it reached the mailbox, if the provider says so';
comment on column analytics.sends.bounced_at is 'When it bounced';
comment on column analytics.sends.complained_at is 'When the recipient complained';

grant select on analytics.sends to trunkline_analyst;
--! EndIncluded analytics/sends.sql
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
  nullif(notice.reason, '') as reason
from feedback.notices as notice
left join suppression.addresses as address
  on address.project_id = notice.project_id and address.address_key = notice.address_key;

comment on view analytics.feedback is 'Everything that providers told about messages, one row per notice';
comment on column analytics.feedback.occurred_at is 'When, by the clock of the provider';
comment on column analytics.feedback.received_at is 'When we were told';
comment on column analytics.feedback.source is 'The provider''s webhook';
comment on column analytics.feedback.kind is
  'delivered, bounced, deferred, complained, unsubscribed, rejected, opened, clicked or unknown';
comment on column analytics.feedback.bounce_type is 'hard, soft or block; null for what is no bounce';
comment on column analytics.feedback.send_id is 'The send it is about; null when it could not be matched';
comment on column analytics.feedback.email is 'The address it is about, where it is known';
comment on column analytics.feedback.reason is 'What the provider says of the cause';

grant select on analytics.feedback to trunkline_analyst;
--! EndIncluded analytics/feedback.sql
--! Included analytics/suppressions.sql
-- Every address that must be left alone today, and why.
create or replace view analytics.suppressions with (security_invoker = true) as
select
  nullif(address.email, '') as email,
  address.reason,
  nullif(address.source, '') as source,
  address.suppressed_at
from suppression.addresses as address
where address.suppressed_at is not null;

comment on view analytics.suppressions is 'Every address that must be left alone today, and why';
comment on column analytics.suppressions.email is 'The address; null once its person was erased';
comment on column analytics.suppressions.reason is 'hard_bounce, complaint or manual';
comment on column analytics.suppressions.source is 'Who said so, such as a provider''s webhook';
comment on column analytics.suppressions.suppressed_at is 'Since when';

grant select on analytics.suppressions to trunkline_analyst;
--! EndIncluded analytics/suppressions.sql

-- Retention: months of the timeline are dropped, and the message ids of their events forgotten.
--! Included ingest/keep_partitions.sql
-- Makes every monthly partition of the timeline from the oldest accepted month to three months ahead.
--
-- Owned by the schema's owner and callable by the queue, so that the daily job needs no right to make tables.
create or replace function ingest.keep_partitions(months_back integer default 24, months_ahead integer default 3)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Rows come and stay. Vacuumed when a twentieth is new, so that reads of an index alone need not visit the
  -- table, and frozen by that first vacuum, so that no later one has to rewrite old months.
  v_settings constant text := 'autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.05, '
    'autovacuum_freeze_min_age=0';
  v_first date := date_trunc('month', now() at time zone 'UTC' - make_interval(months => keep_partitions.months_back));
  v_month date;
  v_name  text;
  v_made  integer := 0;
begin
  for v_offset in 0 .. keep_partitions.months_back + keep_partitions.months_ahead loop
    v_month := v_first + make_interval(months => v_offset);
    v_name := to_char(v_month, '"events_"YYYYMM');
    continue when to_regclass(format('ingest.%I', v_name)) is not null;
    begin
      -- Attaching does not stop those who read or write the timeline; making it in place would.
      execute format('create table ingest.%I (like ingest.events including all)', v_name);
      execute format(
        'alter table ingest.events attach partition ingest.%I for values from (%L) to (%L)',
        v_name,
        to_char(v_month, 'YYYY-MM-DD"T00:00:00Z"'),
        to_char(v_month + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"')
      );
      v_made := v_made + 1;
    exception when duplicate_table or unique_violation then
      null; -- Somebody else made it meanwhile.
    end;
  end loop;

  for v_name in
    select relation.relname from pg_inherits join pg_class as relation on relation.oid = inhrelid
    where inhparent = 'ingest.events'::regclass
    and relation.reloptions is distinct from string_to_array(v_settings, ', ')
    order by relation.relname
  loop
    execute format('alter table ingest.%I set (%s)', v_name, v_settings);
  end loop;
  return v_made;
end;
$$;

revoke all on function ingest.keep_partitions(integer, integer) from public;
grant execute on function ingest.keep_partitions(integer, integer) to trunkline_queue;
--! EndIncluded ingest/keep_partitions.sql
--! Included ingest/expired_partitions.sql
-- The months of the timeline that end at a moment or before it, oldest first.
create or replace function ingest.expired_partitions(before timestamptz)
returns table (name text, ends_at timestamptz)
language sql stable
as $$
  select relation.relname::text, month.ends_at
  from pg_catalog.pg_inherits
  join pg_catalog.pg_class as relation on relation.oid = inhrelid
  cross join lateral (
    select (to_date(right(relation.relname, 6), 'YYYYMM') + interval '1 month') at time zone 'UTC' as ends_at
  ) as month
  where inhparent = 'ingest.events'::regclass
  and relation.relname ~ '^events_[0-9]{6}$'
  and month.ends_at <= expired_partitions.before
  order by relation.relname
$$;
--! EndIncluded ingest/expired_partitions.sql
--! Included ingest/drop_partition.sql
-- Drops the oldest month of the timeline that ends before a moment; answers its name, or null when there is none.
--
-- One month a call, so that the lock on the timeline is given back in between. It is needed for
-- some milliseconds of work in the catalogue; the files go when it is free again. Everybody queues
-- up behind who waits for it, so nobody waits for it longer than this: the job asks again later.
create or replace function ingest.drop_partition(before timestamptz)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_name text;
begin
  if drop_partition.before > now() - interval '1 month' then
    raise exception 'only months that are over for a month can go';
  end if;
  select expired.name into v_name
  from ingest.expired_partitions(before => drop_partition.before) as expired
  limit 1;
  if v_name is not null then
    execute format('drop table ingest.%I', v_name);
  end if;
  return v_name;
exception when undefined_table then
  return v_name; -- Somebody else dropped it meanwhile.
end;
$$;

revoke all on function ingest.drop_partition(timestamptz) from public;
grant execute on function ingest.drop_partition(timestamptz) to trunkline_queue;
--! EndIncluded ingest/drop_partition.sql
--! Included ingest/forget_message_ids.sql
-- Looks at the next message ids of a project and forgets those of events before a moment.
--
-- Answers the last id that was looked at, where the next call goes on, or null at the end. Bounded by
-- what it looks at, so that one transaction stays short however many ids there are.
create or replace function ingest.forget_message_ids(
  project_id uuid,
  before     timestamptz,
  after      text,
  ids_max    integer
)
returns text
language plpgsql volatile
set search_path = ''
as $$
declare
  v_last text;
begin
  select max(page.message_id) into v_last
  from (
    select known.message_id from ingest.message_ids as known
    where known.project_id = forget_message_ids.project_id
    and known.message_id > forget_message_ids.after
    order by known.message_id
    limit forget_message_ids.ids_max
  ) as page;

  delete from ingest.message_ids as known
  where known.project_id = forget_message_ids.project_id
  and known.message_id > forget_message_ids.after
  and known.message_id <= v_last
  and known.occurred_at < forget_message_ids.before;
  return v_last;
end;
$$;
--! EndIncluded ingest/forget_message_ids.sql
grant delete on ingest.message_ids to trunkline_runtime;

-- Gives the partitions that are there their settings.
select ingest.keep_partitions();
