--! Previous: sha1:6e210ea2df2c214eb1eef1f60d41c5480f67a6a0
--! Hash: sha1:1df4b2da90c88e8601240e2b7020c32677a28daa
--! Message: owners_are_alerted

-- Enter migration here
create schema if not exists alerts;
grant usage on schema alerts to trunkline_runtime, trunkline_queue;

-- Conditions that the owner of a project has to act on: one open row for each kind and subject, and those of the past.
create table if not exists alerts.alerts (
  project_id   uuid not null,
  alert_id     uuid not null,
  kind         text not null,
  subject      text not null,
  subject_name text not null,
  summary      text not null,
  fix          text not null,
  details      jsonb not null,
  opened_at    timestamptz(3) not null,
  resolved_at  timestamptz(3),
  constraint alerts_pkey primary key (project_id, alert_id),
  constraint alerts_details_are_an_object check (jsonb_typeof(details) = 'object'),
  constraint alerts_kinds_are_names check (kind ~ '^[a-z_]+$')
);
create unique index if not exists alerts_open_once on alerts.alerts (project_id, kind, subject)
  where resolved_at is null;
create index if not exists alerts_resolved on alerts.alerts (project_id, resolved_at) where resolved_at is not null;
select base.isolate_table('alerts.alerts');
select base.open_to_queue('alerts.alerts');
grant select, insert, update, delete on alerts.alerts to trunkline_runtime;
grant select (project_id, kind, resolved_at) on alerts.alerts to trunkline_queue;
select base.declare_columns('alerts.alerts', '{}', '{}',
  '{project_id,alert_id,kind,subject,subject_name,summary,fix,details,opened_at,resolved_at}');

-- Alerts that opened or were resolved, until this is queued for the endpoints that subscribe to it.
create table if not exists alerts.announcements (
  project_id   uuid not null,
  alert_id     uuid not null,
  status       text not null,
  announced_at timestamptz(3) not null,
  constraint announcements_pkey primary key (project_id, alert_id, status),
  constraint announcements_project_id_alert_id_fkey foreign key (project_id, alert_id)
    references alerts.alerts (project_id, alert_id) on delete cascade,
  constraint announcements_have_a_known_status check (status in ('open', 'resolved'))
);
select base.isolate_table('alerts.announcements');
select base.open_to_queue('alerts.announcements');
grant select, insert, update, delete on alerts.announcements to trunkline_runtime;
grant select (project_id, announced_at) on alerts.announcements to trunkline_queue;
select base.declare_columns('alerts.announcements', '{}', '{}', '{project_id,alert_id,status,announced_at}');

-- Above which rates of bounces and complaints the owner is alerted. No row: the defaults.
create table if not exists alerts.settings (
  project_id        uuid not null,
  bounce_percent    double precision not null,
  complaint_percent double precision not null,
  constraint settings_pkey primary key (project_id),
  constraint settings_bounce_percent_is_a_percentage check (bounce_percent > 0 and bounce_percent <= 100),
  constraint settings_complaint_percent_is_a_percentage check (complaint_percent > 0 and complaint_percent <= 100)
);
select base.isolate_table('alerts.settings');
grant select, insert, update on alerts.settings to trunkline_runtime;
select base.declare_columns('alerts.settings', '{}', '{}', '{project_id,bounce_percent,complaint_percent}');

--! Included alerts/open_alert.sql
-- Opens an alert of a project, once for each kind and subject, and records that it has to be announced.
--
-- While it is open, the same condition changes what it says and nothing else: it opened when the condition was seen
-- first. Concurrent calls wait for each other. Returns whether the alert is new.
create or replace function alerts.open_alert(
  project_id   uuid,
  alert_id     uuid,
  kind         text,
  subject      text,
  subject_name text,
  summary      text,
  fix          text,
  details      jsonb
)
returns boolean
language plpgsql volatile
set search_path = ''
as $$
#variable_conflict use_column
begin
  insert into alerts.alerts (project_id, alert_id, kind, subject, subject_name, summary, fix, details, opened_at)
  values (open_alert.project_id, open_alert.alert_id, open_alert.kind, open_alert.subject, open_alert.subject_name,
    open_alert.summary, open_alert.fix, open_alert.details, now())
  on conflict (project_id, kind, subject) where resolved_at is null do nothing;
  if found then
    insert into alerts.announcements (project_id, alert_id, status, announced_at)
    values (open_alert.project_id, open_alert.alert_id, 'open', now());
    return true;
  end if;
  update alerts.alerts as alert
  set subject_name = open_alert.subject_name, summary = open_alert.summary, fix = open_alert.fix,
    details = open_alert.details
  where alert.project_id = open_alert.project_id and alert.kind = open_alert.kind
  and alert.subject = open_alert.subject and alert.resolved_at is null
  and (alert.subject_name, alert.summary, alert.fix, alert.details)
    is distinct from (open_alert.subject_name, open_alert.summary, open_alert.fix, open_alert.details);
  return false;
end;
$$;
--! EndIncluded alerts/open_alert.sql
--! Included alerts/resolve_alerts.sql
-- Resolves the open alerts of some kinds about one subject, each once, and records that this has to be announced.
--
-- Null kinds: every kind. Returns how many alerts were open.
create or replace function alerts.resolve_alerts(project_id uuid, kinds text[], subject text)
returns integer
language plpgsql volatile
set search_path = ''
as $$
declare
  v_resolved uuid[];
begin
  select array_agg(opened.alert_id) into v_resolved
  from (
    select alert.alert_id from alerts.alerts as alert
    where alert.project_id = resolve_alerts.project_id and alert.subject = resolve_alerts.subject
    and alert.resolved_at is null
    and (resolve_alerts.kinds is null or alert.kind = any (resolve_alerts.kinds))
    order by alert.alert_id
    for update
  ) as opened;
  if v_resolved is null then
    return 0;
  end if;

  update alerts.alerts as alert set resolved_at = now()
  where alert.project_id = resolve_alerts.project_id and alert.alert_id = any (v_resolved);
  insert into alerts.announcements (project_id, alert_id, status, announced_at)
  select resolve_alerts.project_id, resolved.alert_id, 'resolved', now()
  from unnest(v_resolved) as resolved (alert_id);
  return cardinality(v_resolved);
end;
$$;
--! EndIncluded alerts/resolve_alerts.sql

-- What each provider of a project accepted in an hour (UTC), and the bounces and complaints that were reported in it.
create table if not exists delivery.hourly_counts (
  project_id  uuid not null,
  provider_id uuid not null,
  hour        timestamptz(3) not null,
  sent        integer not null,
  bounced     integer not null,
  complained  integer not null,
  constraint hourly_counts_pkey primary key (project_id, hour, provider_id)
) with (fillfactor = 50);
select base.isolate_table('delivery.hourly_counts');
grant select, insert, update, delete on delivery.hourly_counts to trunkline_runtime;
select base.declare_columns('delivery.hourly_counts', '{}', '{}',
  '{project_id,provider_id,hour,sent,bounced,complained}');

--! Included delivery/count_sent.sql
-- Adds those of some sends that their providers accepted to the hourly counts of these providers.
--
-- Each call adds them once more. So only `delivery.observe_sends` calls it, which sees each send once. Emails of tests
-- do not count.
create or replace function delivery.count_sent(project_id uuid, send_ids uuid[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_hour timestamptz := date_trunc('hour', now(), 'UTC');
begin
  insert into delivery.hourly_counts as kept (project_id, provider_id, hour, sent, bounced, complained)
  select count_sent.project_id, send.provider_id, v_hour, count(*), 0, 0
  from unnest(count_sent.send_ids) as asked (send_id)
  cross join lateral (
    select found.provider_id from delivery.sends as found
    where found.project_id = count_sent.project_id and found.send_id = asked.send_id
    and found.status = 'accepted' and not found.is_test
    limit 1
  ) as send
  group by send.provider_id
  order by send.provider_id
  on conflict on constraint hourly_counts_pkey do update set sent = kept.sent + excluded.sent;
end;
$$;
--! EndIncluded delivery/count_sent.sql
--! Included delivery/count_reports.sql
-- Adds bounces and complaints to the hourly counts of the providers that sent the emails.
--
-- Each call adds them once more: the caller passes each send once for each new fact. `sent` counts emails that no
-- provider accepted because they bounced at once. Emails of tests do not count.
create or replace function delivery.count_reports(project_id uuid, sent uuid[], bounced uuid[], complained uuid[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_hour timestamptz := date_trunc('hour', now(), 'UTC');
begin
  insert into delivery.hourly_counts as kept (project_id, provider_id, hour, sent, bounced, complained)
  select count_reports.project_id, send.provider_id, v_hour, count(*) filter (where asked.fact = 'sent'),
    count(*) filter (where asked.fact = 'bounced'), count(*) filter (where asked.fact = 'complained')
  from (
    select 'sent' as fact, send_id from unnest(count_reports.sent) as send_id
    union all
    select 'bounced', send_id from unnest(count_reports.bounced) as send_id
    union all
    select 'complained', send_id from unnest(count_reports.complained) as send_id
  ) as asked
  cross join lateral (
    select found.provider_id from delivery.sends as found
    where found.project_id = count_reports.project_id and found.send_id = asked.send_id and not found.is_test
    limit 1
  ) as send
  group by send.provider_id
  order by send.provider_id
  on conflict on constraint hourly_counts_pkey do update
  set sent = kept.sent + excluded.sent, bounced = kept.bounced + excluded.bounced,
    complained = kept.complained + excluded.complained;
end;
$$;
--! EndIncluded delivery/count_reports.sql
drop function if exists delivery.record_feedback(uuid, uuid, text, timestamptz);
--! Included delivery/record_feedback.sql
-- Adds a fact that the provider reported to a send. Facts only accumulate, so order cannot matter.
--
-- Any fact about a send whose outcome we never learned proves that the provider took it, also when it waits
-- already to be handed over again, and whatever has stopped it; 'taken' says no more. Returns whether it proved that
-- now, and whether this is the first complaint of the send, or its first bounce that is not soft.
--
-- bounced_at is the bounce that stands: the first that is not soft, else the last soft bounce without a later
-- delivery. A send with a bounced_at from before soft bounces were told apart keeps it.
create or replace function delivery.record_feedback(
  project_id    uuid,
  send_id       uuid,
  fact          text,
  occurred_at   timestamptz,
  out is_proved boolean,
  out is_first  boolean
)
language plpgsql volatile
set search_path = ''
as $$
declare
  v_send      record;
  v_is_proved boolean;
  v_is_first  boolean;
  v_delivered timestamptz;
  v_firm      timestamptz;
  v_soft      timestamptz;
  v_taken     timestamptz;
begin
  select send.status, send.delivered_at, send.bounced_at, send.firm_bounced_at, send.soft_bounced_at, send.taken_at,
    send.complained_at
  into v_send from delivery.sends as send
  where send.project_id = record_feedback.project_id and send.send_id = record_feedback.send_id
  for no key update;

  v_is_proved := v_send.status = 'unknown' or (v_send.status = 'queued' and exists (
    select from delivery.attempts as tried
    where tried.project_id = record_feedback.project_id
    and tried.send_id = record_feedback.send_id
    and tried.outcome = 'unknown'
  ));
  v_delivered := v_send.delivered_at;
  v_soft := v_send.soft_bounced_at;
  v_taken := v_send.taken_at;
  v_firm := coalesce(v_send.firm_bounced_at, case when v_soft is null then v_send.bounced_at end);
  v_is_first := case record_feedback.fact
    when 'bounced' then v_firm is null
    when 'complained' then v_send.complained_at is null
    else false
  end;
  case record_feedback.fact
    when 'delivered' then v_delivered := least(v_delivered, record_feedback.occurred_at);
    when 'bounced' then v_firm := least(v_firm, record_feedback.occurred_at);
    when 'soft_bounced' then
      v_soft := greatest(v_soft, record_feedback.occurred_at);
      v_taken := least(v_taken, record_feedback.occurred_at);
    when 'taken' then v_taken := least(v_taken, record_feedback.occurred_at);
    else null;
  end case;

  update delivery.sends as send
  set delivered_at = v_delivered,
    firm_bounced_at = v_firm,
    soft_bounced_at = v_soft,
    bounced_at = coalesce(v_firm, case when v_delivered is null or v_soft > v_delivered then v_soft end),
    complained_at = case when record_feedback.fact = 'complained'
      then least(send.complained_at, record_feedback.occurred_at) else send.complained_at end,
    taken_at = v_taken,
    -- Accepted on the strength of feedback alone is accepted since the earliest fact.
    accepted_at = case
      when v_is_proved or (send.status = 'accepted' and send.status_reason = 'outcome_unknown')
        then least(v_delivered, v_firm, send.complained_at, v_taken, record_feedback.occurred_at)
      else send.accepted_at
    end,
    status = case when v_is_proved then 'accepted' else send.status end,
    status_reason = case when v_is_proved then 'outcome_unknown' else send.status_reason end
  where send.project_id = record_feedback.project_id
  and send.send_id = record_feedback.send_id;
  is_proved := v_is_proved;
  is_first := v_is_first;
end;
$$;
--! EndIncluded delivery/record_feedback.sql
--! Included delivery/observe_sends.sql
-- Puts on people's timelines what has become of their sends: email_sent or email_skipped.
--
-- Each call adds its events once more. So only the transaction that ends a send, or that deletes its row of
-- delivery.ended, calls it, with the id of the event of each send, and when it ended. Sends of erased people and of
-- tests add no event. Of runs that no server started, a person gets one email_skipped of an automation a day
-- (delivery.skip_key). Accepted sends also count for their providers (delivery.count_sent). Returns the number of
-- events.
create or replace function delivery.observe_sends(
  project_id uuid,
  flush_id   uuid,
  send_ids   uuid[],
  event_ids  uuid[],
  ended_ats  timestamptz[]
)
returns integer
language plpgsql volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now        timestamptz := clock_timestamp();
  v_events     uuid[];
  v_ended_ats  timestamptz[];
  v_names      text[];
  v_externals  text[];
  v_devices    text[];
  v_properties jsonb[];
  v_keys       uuid[];
begin
  perform delivery.count_sent(observe_sends.project_id, observe_sends.send_ids);
  select array_agg(told.event_id), array_agg(told.ended_at), array_agg(told.name),
    array_agg(case when known.kind = 'external' then known.value end),
    array_agg(case when known.kind = 'anonymous' then known.value end),
    array_agg(told.properties), array_agg(told.message_key)
  into v_events, v_ended_ats, v_names, v_externals, v_devices, v_properties, v_keys
  from (
    select ended.*, row_number() over (partition by ended.message_key order by ended.event_id) as nth
    from (
      select observed.event_id, observed.ended_at, send.identity_id, said.name,
        jsonb_strip_nulls(jsonb_build_object('send_id', observed.send_id, 'automation_id', send.automation_id,
          'step_id', send.step_id, 'template_id', send.template_id, 'reason', said.reason)) as properties,
        case when said.name = 'email_skipped' and send.limits ? 'browser_triggered' then
          delivery.skip_key(observe_sends.project_id, send.identity_id, send.automation_id,
            coalesce(observed.ended_at, v_now))
        end as message_key
      from unnest(observe_sends.send_ids, observe_sends.event_ids, observe_sends.ended_ats)
        as observed (send_id, event_id, ended_at)
      cross join lateral (
        select found.* from delivery.sends as found
        where found.project_id = observe_sends.project_id and found.send_id = observed.send_id and not found.is_test
        limit 1
      ) as send
      cross join lateral (
        select case when send.status = 'accepted' then 'email_sent' else 'email_skipped' end as name,
          case
            when send.status in ('rejected', 'failed_render') then send.status
            when send.status <> 'accepted' then coalesce(send.status_reason, send.status)
          end as reason
      ) as said
      where send.status not in ('queued', 'handing_off', 'unknown')
    ) as ended
  ) as told
  cross join lateral profiles.known_as(observe_sends.project_id, array[told.identity_id]) as known
  where told.message_key is null or (told.nth = 1 and not exists (
    select from ingest.message_ids as taken
    where taken.project_id = observe_sends.project_id and taken.message_key = told.message_key
  ));

  if v_events is null then
    return 0;
  end if;
  perform from ingest.accept_events(
    project_id => observe_sends.project_id,
    flush_id => observe_sends.flush_id,
    event_ids => v_events,
    message_keys => v_keys,
    names => v_names,
    external_ids => v_externals,
    anonymous_ids => v_devices,
    properties => v_properties,
    occurred_ats => v_ended_ats,
    key_kinds => array_fill(null::text, array[cardinality(v_events)]),
    sources => array_fill('system'::text, array[cardinality(v_events)])
  );
  return cardinality(v_events);
end;
$$;
--! EndIncluded delivery/observe_sends.sql

-- What an endpoint subscribes to, and how its deliveries fare: while it fails, one delivery at a time is tried.
alter table automations.endpoints add column if not exists event_types text[] not null default '{}';
alter table automations.endpoints add column if not exists failure_count integer not null default 0;
alter table automations.endpoints add column if not exists failing_since timestamptz(3);
alter table automations.endpoints add column if not exists paused_until timestamptz(3);
select base.open_to_queue('automations.endpoints');
grant select (project_id, endpoint_id, status, paused_until) on automations.endpoints to trunkline_queue;
select base.declare_columns('automations.endpoints', '{}', '{}',
  '{event_types,failure_count,failing_since,paused_until}');

-- Messages to endpoints about events that they subscribe to. Ids only: the body is made for each attempt.
create table if not exists automations.webhook_deliveries (
  project_id   uuid not null,
  delivery_id  uuid not null,
  endpoint_id  uuid not null,
  message_id   text not null,
  type         text not null,
  event_id     uuid,
  event_at     timestamptz(3),
  alert_id     uuid,
  alert_status text,
  status       text not null,
  attempts     integer not null default 0,
  due_at       timestamptz(3) not null,
  lease_until  timestamptz(3),
  http_status  integer,
  reason       text,
  queued_at    timestamptz(3) not null,
  expires_at   timestamptz(3) not null,
  ended_at     timestamptz(3),
  constraint webhook_deliveries_pkey primary key (project_id, delivery_id),
  constraint webhook_deliveries_once_per_message unique (project_id, endpoint_id, message_id),
  constraint webhook_deliveries_project_id_endpoint_id_fkey foreign key (project_id, endpoint_id)
    references automations.endpoints (project_id, endpoint_id) on delete cascade,
  constraint webhook_deliveries_have_a_known_status
    check (status in ('waiting', 'calling', 'delivered', 'failed', 'dropped')),
  constraint webhook_deliveries_have_one_subject check (num_nonnulls(event_id, alert_id) <= 1)
) with (fillfactor = 80);
create index if not exists webhook_deliveries_open on automations.webhook_deliveries
  (project_id, endpoint_id, due_at) where status in ('waiting', 'calling');
create index if not exists webhook_deliveries_by_endpoint on automations.webhook_deliveries
  (project_id, endpoint_id, delivery_id);
create index if not exists webhook_deliveries_ended on automations.webhook_deliveries
  (project_id, ended_at) where ended_at is not null;
select base.isolate_table('automations.webhook_deliveries');
select base.open_to_queue('automations.webhook_deliveries');
grant select, insert, update, delete on automations.webhook_deliveries to trunkline_runtime;
grant select (project_id, endpoint_id, status, due_at, lease_until) on automations.webhook_deliveries
  to trunkline_queue;
select base.declare_columns('automations.webhook_deliveries', '{}', '{}',
  '{project_id,delivery_id,endpoint_id,message_id,type,event_id,event_at,alert_id,alert_status,status,attempts,due_at,
    lease_until,http_status,reason,queued_at,expires_at,ended_at}');
